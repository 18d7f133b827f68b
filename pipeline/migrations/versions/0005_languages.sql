-- Every document is stemmed in its language, by us (indexer.search.stems): PostgreSQL takes the stems as they are.

ALTER TEXT SEARCH CONFIGURATION fencepost ALTER MAPPING FOR asciiword, word WITH pg_catalog.simple;
DROP TEXT SEARCH DICTIONARY fencepost_english;

-- The languages that documents were published in, besides English: the words of a query are stemmed in each of them.
CREATE TABLE search_languages (
    language text PRIMARY KEY CHECK (language ~ '^[a-z]{2,3}$'),
    first_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What filters and facets ask for: a language too, empty where none is known.
ALTER TABLE shelves ADD COLUMN language text NOT NULL DEFAULT '' CHECK (octet_length(language) <= 8);
ALTER TABLE shelves DROP CONSTRAINT shelves_collection_id_media_type_key;
ALTER TABLE shelves ADD UNIQUE (collection_id, media_type, language);

-- The headings that a passage stands under. An older index is published to until a new one has taken its place.
DO $$
DECLARE
    index_name text;
BEGIN
    FOR index_name IN SELECT name FROM search_indexes WHERE backend = 'postgres' AND state <> 'dropped' LOOP
        EXECUTE 'ALTER TABLE IF EXISTS ' || quote_ident(index_name) || '.passages ADD COLUMN headings text';
    END LOOP;
END $$;

-- An index in which nothing was published yet is as good as a new one; any other is rebuilt by `fencepost migrate`.
UPDATE search_indexes SET fingerprint = '2'
WHERE backend = 'postgres' AND fingerprint = '1' AND state = 'live' AND NOT EXISTS (SELECT FROM documents);
