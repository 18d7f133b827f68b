-- Writes entries unless the index has a newer version of the document; returns those that were written.
-- Guard: version <= excluded.version, so that an older version can never come back, nor can it after a tombstone.
INSERT INTO entries AS mine
    (document_id, version, tombstone, collection_id, key, title, media_type, metadata, accepted_at, tsv)
SELECT document_id, version, tombstone, collection_id, key, title, media_type, metadata, accepted_at,
       CASE WHEN NOT tombstone THEN to_tsvector('fencepost', words) END
FROM unnest(CAST(:document_ids AS uuid[]), CAST(:versions AS bigint[]), CAST(:tombstones AS boolean[]),
            CAST(:collection_ids AS integer[]), CAST(:keys AS text[]), CAST(:titles AS text[]),
            CAST(:media_types AS text[]), CAST(:metadata AS jsonb[]), CAST(:accepted_at AS timestamptz[]),
            CAST(:words AS text[]))
     AS new (document_id, version, tombstone, collection_id, key, title, media_type, metadata, accepted_at, words)
ORDER BY document_id
ON CONFLICT (document_id) DO UPDATE
SET version = excluded.version, tombstone = excluded.tombstone, collection_id = excluded.collection_id,
    key = excluded.key, title = excluded.title, media_type = excluded.media_type, metadata = excluded.metadata,
    accepted_at = excluded.accepted_at, tsv = excluded.tsv
WHERE mine.version <= excluded.version
RETURNING document_id, old.version IS NOT NULL AS replaced
