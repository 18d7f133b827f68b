-- Documents whose delete has been published for long enough; guard: locked here, no job in flight, no build that may write
-- the tombstone again, and no worker left that was registered before the delete and could still hold an older version.
SELECT d.document_id, d.input_version
FROM documents d
WHERE (CAST(:among AS uuid[]) IS NULL OR d.document_id = ANY(CAST(:among AS uuid[])))
  AND d.deleted AND d.published_version = d.input_version
  AND d.published_at < statement_timestamp() - make_interval(secs => :days * 86400)
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.document_id = d.document_id AND j.finished_at IS NULL)
  AND NOT EXISTS (SELECT FROM builds WHERE finished_at IS NULL)
  AND NOT EXISTS (
      SELECT FROM processes p
      WHERE p.kind = 'worker' AND p.started_at < d.published_at AND p.ended_at IS NULL AND p.lost_at IS NULL
  )
ORDER BY d.document_id
LIMIT :most
FOR UPDATE SKIP LOCKED
