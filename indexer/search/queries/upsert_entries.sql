-- Writes entries unless the index has a newer version of the document; returns those that were written.
-- Guard: version <= excluded.version, so that an older version can never come back, nor can it after a tombstone.
INSERT INTO entries AS mine
    (document_id, version, tombstone, shelf_id, key, title, metadata, accepted_at, tsv)
SELECT document_id, version, tombstone, shelf_id, key, title, metadata, accepted_at,
       CASE WHEN NOT tombstone THEN to_tsvector('fencepost', words) END
FROM unnest(CAST(:document_ids AS uuid[]), CAST(:versions AS bigint[]), CAST(:tombstones AS boolean[]),
            CAST(:shelf_ids AS integer[]), CAST(:keys AS text[]), CAST(:titles AS text[]),
            CAST(:metadata AS jsonb[]), CAST(:accepted_at AS timestamptz[]),
            CAST(:words AS text[]))
     AS new (document_id, version, tombstone, shelf_id, key, title, metadata, accepted_at, words)
ORDER BY document_id
ON CONFLICT (document_id) DO UPDATE
SET version = excluded.version, tombstone = excluded.tombstone, shelf_id = excluded.shelf_id,
    key = excluded.key, title = excluded.title, metadata = excluded.metadata,
    accepted_at = excluded.accepted_at, tsv = excluded.tsv
WHERE mine.version <= excluded.version
RETURNING document_id, old.version IS NOT NULL AS replaced
