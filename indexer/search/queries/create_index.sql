-- The tables of one index; guard: the schema was made in this transaction and comes first in its search path.
CREATE TABLE entries (
    document_id   uuid PRIMARY KEY,
    version       bigint NOT NULL CHECK (version > 0),
    tombstone     boolean NOT NULL,
    shelf_id      integer NOT NULL,
    key           text,
    title         text NOT NULL,
    metadata      jsonb NOT NULL,
    accepted_at   timestamptz NOT NULL,
    tsv           tsvector,                                                            -- of title and key
    title_order   text COLLATE "C" GENERATED ALWAYS AS (lower(left(title, 200))) STORED,  -- fits into a btree page
    CONSTRAINT a_tombstone_has_no_words CHECK (tombstone = (tsv IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX entries_words ON entries USING gin (tsv);
CREATE INDEX entries_metadata ON entries USING gin (metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX entries_newest ON entries (accepted_at DESC, document_id) WHERE NOT tombstone;
CREATE INDEX entries_by_title ON entries (title_order, document_id) WHERE NOT tombstone;

-- Text and words lie out of line, so that counting the matches of a common word reads 85 of them from one page.
CREATE TABLE passages (
    document_id   uuid NOT NULL,
    n             integer NOT NULL CHECK (n > 0),
    shelf_id      integer NOT NULL,
    page          integer,
    breaks        integer[],         -- offset in the body and page, of each next page
    length        integer NOT NULL,  -- in words
    member        text,
    headings      text,              -- JSON: offset in the body and heading, of each that begins
    body          text NOT NULL,
    tsv           tsvector NOT NULL,
    PRIMARY KEY (document_id, n)
) WITH (toast_tuple_target = 128, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE passages ALTER COLUMN tsv SET STORAGE EXTERNAL;  -- words with positions do not get smaller
-- fastupdate doubles the rate of publishing (measured); `maintain` empties the pending list every minute.
CREATE INDEX passages_words ON passages USING gin (tsv) WITH (fastupdate = on);

-- How common the common words are, from a sample: in how large a share of the passages each occurs.
CREATE TABLE search_lexemes (
    lexeme text COLLATE "C" PRIMARY KEY,
    share  real NOT NULL CHECK (share > 0 AND share <= 1)
);
CREATE TABLE search_statistics (
    only_row       boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    passages       bigint NOT NULL DEFAULT 0,
    average_length real NOT NULL DEFAULT 200,
    refreshed_at   timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO search_statistics DEFAULT VALUES;
