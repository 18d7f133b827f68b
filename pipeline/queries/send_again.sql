-- Puts jobs whose delivery is lost back into the outbox and out of the window; guard: still waiting, and sent no later
-- than when the loss was seen.
WITH lost AS (
    UPDATE jobs
    SET sent_at = NULL, delivery_id = NULL
    WHERE job_id = ANY(CAST(:jobs AS uuid[])) AND state IN ('queued', 'retry_wait') AND sent_at <= :seen_at
    RETURNING job_id, document_id, input_version, partition, priority, collection_id
)
INSERT INTO outbox (job_id, partition, priority, collection_id, bytes)
SELECT l.job_id, l.partition, l.priority, l.collection_id, coalesce(c.size, 0)
FROM lost l
JOIN versions v ON v.document_id = l.document_id AND v.input_version = l.input_version
LEFT JOIN contents c ON c.sha256 = v.sha256
ON CONFLICT (job_id) DO NOTHING
