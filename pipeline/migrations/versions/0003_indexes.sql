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

-- A breaker counts its failures in its row, because any number of processes share it.
ALTER TABLE breakers ADD COLUMN failures integer NOT NULL DEFAULT 1 CHECK (failures >= 1);

-- In PostgreSQL a physical index is a schema. Statements name its tables alone; the transaction chooses the schema.
CREATE SCHEMA fencepost_1_1;
ALTER TABLE entries SET SCHEMA fencepost_1_1;
ALTER TABLE passages SET SCHEMA fencepost_1_1;
ALTER TABLE search_lexemes SET SCHEMA fencepost_1_1;
ALTER TABLE search_statistics SET SCHEMA fencepost_1_1;
INSERT INTO search_indexes (backend, name, fingerprint, state, live_at)
VALUES ('postgres', 'fencepost_1_1', '1', 'live', now());

-- Filling an index: a new one with everything (rebuild), or the live one with what it lacks (repair). A row is moved by
-- the builder of whichever sweeper has it locked, one short step at a time.
CREATE TABLE builds (
    build_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        text NOT NULL CHECK (kind IN ('rebuild', 'repair')),
    index_id    integer NOT NULL REFERENCES search_indexes,  -- the one that is filled
    phase       text NOT NULL,
    walks       boolean NOT NULL,                 -- over all documents; else it refills what a verification found
    cursor      uuid,                             -- the last document that the walk has taken
    walked      boolean NOT NULL DEFAULT false,
    epoch       bigint NOT NULL DEFAULT 0,        -- of the list of targets that attempts must have heard of
    rounds      smallint NOT NULL DEFAULT 0,      -- how often it was filled and verified
    total       bigint NOT NULL DEFAULT 0,
    done        bigint NOT NULL DEFAULT 0,
    failed      bigint NOT NULL DEFAULT 0,
    error       text,
    started_at  timestamptz NOT NULL DEFAULT now(),
    phase_at    timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    CONSTRAINT phase_is_known CHECK (phase IN ('creating', 'draining', 'filling', 'verifying', 'swapping', 'stuck',
                                               'cancelling', 'dropping', 'done', 'failed', 'cancelled')),
    CONSTRAINT a_finished_build_has_an_end CHECK ((phase IN ('done', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX builds_one_at_a_time ON builds ((true)) WHERE finished_at IS NULL;

-- Documents to be written into the index of a build: leased and fenced like jobs, but without a version of their own.
CREATE TABLE refills (
    build_id    integer NOT NULL REFERENCES builds ON DELETE CASCADE,
    document_id uuid NOT NULL,
    generation  bigint NOT NULL DEFAULT 0,
    worker_id   integer,
    lease_until timestamptz,
    attempts    smallint NOT NULL DEFAULT 0,
    due_at      timestamptz NOT NULL DEFAULT now(),
    failed      boolean NOT NULL DEFAULT false,   -- for good, or its budget is spent
    last_error  text,
    PRIMARY KEY (build_id, document_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX refills_to_do ON refills (build_id, document_id) WHERE NOT failed;

-- Comparing an index with the database, in the order of document_id. `repair` hands what differs to the build.
CREATE TABLE verifications (
    verification_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    index_id        integer NOT NULL REFERENCES search_indexes,
    build_id        integer REFERENCES builds,
    repair          boolean NOT NULL,
    cursor          uuid,
    total           bigint NOT NULL DEFAULT 0,    -- documents when it began
    checked         bigint NOT NULL DEFAULT 0,
    in_flight       bigint NOT NULL DEFAULT 0,
    missing         bigint NOT NULL DEFAULT 0,
    stale           bigint NOT NULL DEFAULT 0,
    ahead           bigint NOT NULL DEFAULT 0,
    orphaned        bigint NOT NULL DEFAULT 0,
    wrong_tombstone bigint NOT NULL DEFAULT 0,
    error           text,
    started_at      timestamptz NOT NULL DEFAULT now(),
    finished_at     timestamptz,
    CONSTRAINT a_repair_has_a_build CHECK (build_id IS NOT NULL OR NOT repair)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX verifications_one_of_an_index ON verifications (index_id) WHERE finished_at IS NULL;
CREATE INDEX verifications_by_build ON verifications (build_id);

-- What differed; only the first of very many are kept, the counts tell of all.
CREATE TABLE drifts (
    verification_id   integer NOT NULL REFERENCES verifications ON DELETE CASCADE,
    document_id       uuid NOT NULL,
    kind              text NOT NULL CHECK (kind IN ('missing', 'stale', 'ahead', 'orphaned', 'wrong_tombstone')),
    index_version     bigint,
    published_version bigint,
    PRIMARY KEY (verification_id, document_id)
);
