-- Every document is stemmed in its language, by us (indexer.search.stems): PostgreSQL takes the stems as they are.

ALTER TEXT SEARCH CONFIGURATION fencepost ALTER MAPPING FOR asciiword, word WITH pg_catalog.simple;
DROP TEXT SEARCH DICTIONARY fencepost_english;

-- The languages that documents were published in, besides English: the words of a query are stemmed in each of them.
CREATE TABLE search_languages (
    language text PRIMARY KEY CHECK (language ~ '^[a-z]{2,3}$'),
    first_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- An index in which nothing was published yet is as good as a new one; any other is rebuilt by `fencepost migrate`.
UPDATE search_indexes SET fingerprint = '2'
WHERE backend = 'postgres' AND fingerprint = '1' AND state = 'live' AND NOT EXISTS (SELECT FROM documents);
