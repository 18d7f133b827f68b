-- The ground floor: documents, versions, contents, jobs, outbox and what surrounds them.

CREATE TABLE collections (
    collection_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$'),
    owner         text,
    created_at    timestamptz NOT NULL DEFAULT now()
);
INSERT INTO collections (name) VALUES ('default');

-- The document's row is the lock under which all of its jobs move.
CREATE TABLE documents (
    document_id       uuid PRIMARY KEY,
    collection_id     integer NOT NULL REFERENCES collections,
    key               text CHECK (octet_length(key) BETWEEN 1 AND 1024),
    input_version     bigint NOT NULL DEFAULT 0 CHECK (input_version >= 0),
    published_version bigint NOT NULL DEFAULT 0,
    published_at      timestamptz,
    deleted           boolean NOT NULL DEFAULT false,  -- the newest version is a delete
    suspect           boolean NOT NULL DEFAULT false,  -- its last attempt took its worker along, or failed
    created_at        timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT published_is_accepted CHECK (published_version BETWEEN 0 AND input_version),
    CONSTRAINT key_is_unique_in_collection UNIQUE (collection_id, key)
) WITH (fillfactor = 80);
CREATE INDEX documents_by_collection ON documents (collection_id, document_id);
CREATE INDEX documents_newest_first ON documents (created_at DESC, document_id DESC);
CREATE INDEX documents_newest_of_collection ON documents (collection_id, created_at DESC, document_id DESC);
CREATE INDEX documents_tombstones ON documents (published_at) WHERE deleted;

CREATE TABLE contents (
    sha256     bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
    size       bigint NOT NULL CHECK (size >= 0),
    created_at timestamptz NOT NULL DEFAULT now()
);
-- Pieces of at most 1 MiB, so that neither side ever holds a whole file in memory.
CREATE TABLE content_pieces (
    sha256 bytea NOT NULL REFERENCES contents ON DELETE CASCADE,
    n      integer NOT NULL,
    bytes  bytea NOT NULL,
    PRIMARY KEY (sha256, n)
);
ALTER TABLE content_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- One row per (content, extractor, fingerprint): an extraction is paid for once (P6).
CREATE TABLE results (
    result_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256       bytea NOT NULL,
    extractor    text NOT NULL,
    fingerprint  text NOT NULL,
    media_type   text NOT NULL,
    text_quality text NOT NULL CHECK (text_quality IN ('ok', 'no_text', 'truncated', 'partial', 'text_unreliable')),
    facts        jsonb NOT NULL,
    passages     bytea NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT extracted_once UNIQUE (sha256, extractor, fingerprint)
);
ALTER TABLE results ALTER COLUMN passages SET STORAGE EXTERNAL;  -- compressed before it comes here

CREATE TABLE versions (
    document_id   uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    input_version bigint NOT NULL,
    operation     text NOT NULL CHECK (operation IN ('index', 'delete')),
    sha256        bytea REFERENCES contents,
    title         text NOT NULL DEFAULT '',
    filename      text NOT NULL DEFAULT '',
    media_type    text NOT NULL DEFAULT '',  -- as declared; the content decides
    metadata      jsonb NOT NULL DEFAULT '{}',
    result_id     bigint REFERENCES results,
    accepted_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (document_id, input_version),
    CONSTRAINT an_index_has_content CHECK ((operation = 'index') = (sha256 IS NOT NULL))
);
CREATE INDEX versions_by_content ON versions (sha256);
CREATE INDEX versions_by_result ON versions (result_id) WHERE result_id IS NOT NULL;

-- The hot row: narrow, and updated in place where no index column changes.
CREATE TABLE jobs (
    job_id        uuid PRIMARY KEY DEFAULT uuidv7(),
    document_id   uuid NOT NULL,
    collection_id integer NOT NULL,
    input_version bigint NOT NULL,
    operation     text NOT NULL CHECK (operation IN ('index', 'delete')),
    partition     smallint NOT NULL,
    priority      smallint NOT NULL,
    state         text NOT NULL DEFAULT 'queued',
    attempt       smallint NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    elapsed_spent interval NOT NULL DEFAULT '0',
    generation    bigint NOT NULL DEFAULT 0,
    worker_id     integer,
    lease_until   timestamptz,
    due_at        timestamptz NOT NULL DEFAULT now(),
    accepted_at   timestamptz NOT NULL DEFAULT now(),
    sent_at       timestamptz,
    delivery_id   uuid,
    sends         smallint NOT NULL DEFAULT 0,
    alone         boolean NOT NULL DEFAULT false,
    finished_at   timestamptz,
    CONSTRAINT state_is_known CHECK
        (state IN ('queued', 'leased', 'retry_wait', 'quarantined', 'succeeded', 'superseded', 'resolved')),
    CONSTRAINT final_has_an_end CHECK ((state IN ('succeeded', 'superseded', 'resolved')) = (finished_at IS NOT NULL)),
    CONSTRAINT leased_has_a_holder CHECK
        ((state = 'leased') = (lease_until IS NOT NULL) AND (state = 'leased') = (worker_id IS NOT NULL)),
    CONSTRAINT one_job_per_version UNIQUE (document_id, input_version)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX jobs_one_leased_per_document ON jobs (document_id) WHERE state = 'leased';
CREATE UNIQUE INDEX jobs_one_waiting_per_document ON jobs (document_id) WHERE state IN ('queued', 'retry_wait');
CREATE INDEX jobs_sent ON jobs (partition, priority) WHERE sent_at IS NOT NULL;
CREATE INDEX jobs_finished ON jobs (state, finished_at) WHERE finished_at IS NOT NULL;

-- What waits to be sent. A row goes when the broker has its message.
CREATE TABLE outbox (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id        uuid NOT NULL UNIQUE REFERENCES jobs ON DELETE CASCADE,
    partition     smallint NOT NULL,
    priority      smallint NOT NULL,
    collection_id integer NOT NULL,
    bytes         bigint NOT NULL DEFAULT 0,
    due_at        timestamptz NOT NULL DEFAULT now(),
    created_at    timestamptz NOT NULL DEFAULT now(),
    claim         uuid,
    claimed_until timestamptz,
    tries         smallint NOT NULL DEFAULT 0,
    exhausted     boolean NOT NULL DEFAULT false,
    last_error    text
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX outbox_due ON outbox (partition, priority, collection_id, due_at, id) WHERE NOT exhausted;
CREATE INDEX outbox_exhausted ON outbox (id) WHERE exhausted;
CREATE INDEX outbox_oldest ON outbox (created_at);

-- One row per lease.
CREATE TABLE attempts (
    job_id     uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    generation bigint NOT NULL,
    worker_id  integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    outcome    text CHECK (outcome IN ('published', 'superseded', 'retry_later', 'rejected', 'lease_lost', 'handed_back')),
    code       text,
    message    text,
    load_ms    integer,
    extract_ms integer,
    store_ms   integer,
    publish_ms integer,
    PRIMARY KEY (job_id, generation)
) WITH (fillfactor = 80);
CREATE INDEX attempts_ended ON attempts (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX attempts_lost ON attempts (worker_id) WHERE code = 'worker_lost';

-- One row per job that needs, or needed, a person.
CREATE TABLE quarantine (
    job_id         uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    code           text NOT NULL,
    message        text NOT NULL,
    owner          text NOT NULL,
    last_attempt   timestamptz,
    quarantined_at timestamptz NOT NULL DEFAULT now(),
    resolved_at    timestamptz,
    note           text
);
CREATE INDEX quarantine_open ON quarantine (quarantined_at, job_id) WHERE resolved_at IS NULL;

-- Every process of the system. A live one holds the session lock (lock_class, process_id).
CREATE TABLE processes (
    process_id   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text NOT NULL CHECK (kind IN ('api', 'relay', 'worker', 'sweeper')),
    host         text NOT NULL,
    pid          integer NOT NULL,
    partitions   smallint[] NOT NULL DEFAULT '{}',
    slots        smallint NOT NULL DEFAULT 0,
    started_at   timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    lost_at      timestamptz,
    locked_at    timestamptz  -- when it took its session lock; null where there is none
) WITH (fillfactor = 50);

CREATE TABLE breakers (
    name      text PRIMARY KEY,
    reason    text NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT now(),
    probe_at  timestamptz NOT NULL DEFAULT now()
);

-- What was removed is still counted: input versions of purged documents, and purged jobs by state.
CREATE TABLE tallies (
    name  text PRIMARY KEY,
    count bigint NOT NULL DEFAULT 0
);
INSERT INTO tallies (name)
VALUES ('removed_versions'), ('purged_succeeded'), ('purged_superseded'), ('purged_resolved');

CREATE TABLE idempotency_keys (
    key         text PRIMARY KEY CHECK (octet_length(key) <= 255),
    fingerprint bytea NOT NULL,
    answer      jsonb NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_keys_old ON idempotency_keys (created_at);
