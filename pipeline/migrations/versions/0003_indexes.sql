-- Physical search indexes: which there are, and to which of them everything is published.

CREATE TABLE search_indexes (
    index_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    backend     text NOT NULL CHECK (backend IN ('postgres', 'opensearch')),
    name        text NOT NULL UNIQUE,  -- the schema, or the index in the engine
    fingerprint text NOT NULL,         -- of the mapping and the analyzers it was made with
    identity    uuid NOT NULL DEFAULT gen_random_uuid(),  -- kept in the index too: a namesake of another installation differs
    state       text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    live_at     timestamptz,
    retired_at  timestamptz,
    CONSTRAINT index_state_is_known CHECK (state IN ('creating', 'filling', 'live', 'retired', 'dropped'))
);
CREATE UNIQUE INDEX search_indexes_one_live ON search_indexes ((true)) WHERE state = 'live';
CREATE UNIQUE INDEX search_indexes_one_new ON search_indexes ((true)) WHERE state IN ('creating', 'filling');

-- Raised whenever the list of live and filling indexes changes; an attempt remembers under which list it was leased.
CREATE TABLE publish_epoch (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch    bigint NOT NULL DEFAULT 1
);
INSERT INTO publish_epoch DEFAULT VALUES;
ALTER TABLE attempts ADD COLUMN epoch bigint NOT NULL DEFAULT 0;

-- In PostgreSQL a physical index is a schema. Statements name its tables alone; the transaction chooses the schema.
CREATE SCHEMA fencepost_1_1;
ALTER TABLE entries SET SCHEMA fencepost_1_1;
ALTER TABLE passages SET SCHEMA fencepost_1_1;
ALTER TABLE search_lexemes SET SCHEMA fencepost_1_1;
ALTER TABLE search_statistics SET SCHEMA fencepost_1_1;
INSERT INTO search_indexes (backend, name, fingerprint, state, live_at)
VALUES ('postgres', 'fencepost_1_1', '1', 'live', now());
