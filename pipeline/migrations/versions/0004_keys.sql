-- Who may ask: keys, and the sessions of people who have shown one to a page. No secret is stored, only hashes.

-- Collections are kept by id: a name that is given to another collection one day takes no rights along.
CREATE TABLE api_keys (
    key_id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    prefix       text NOT NULL UNIQUE CHECK (prefix ~ '^[0-9a-f]{8}$'),  -- public: by it people know the key again
    hash         bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    scope        text NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    collections  integer[] CHECK (cardinality(collections) BETWEEN 1 AND 100),  -- null: all, also those to come
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz
);

CREATE TABLE sessions (
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    key_id     integer NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_old ON sessions (expires_at);
