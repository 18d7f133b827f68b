-- Puts sent jobs back into the outbox and out of the window; guard: still waiting, and sent no later than told. A locked
-- job is being moved: skipped. A row that a relay still has to confirm loses its claim, so that it stays.
WITH sent AS (
    SELECT job_id FROM jobs
    WHERE job_id = ANY(CAST(:jobs AS uuid[])) AND state IN ('queued', 'retry_wait') AND sent_at <= coalesce(:seen_at, clock_timestamp())
    ORDER BY job_id
    FOR NO KEY UPDATE SKIP LOCKED
),
unsent AS (
    UPDATE jobs j
    SET sent_at = NULL, delivery_id = NULL, sends = CASE WHEN :is_lost THEN j.sends ELSE greatest(j.sends - 1, 0) END
    FROM sent
    WHERE j.job_id = sent.job_id
    RETURNING j.job_id, j.document_id, j.input_version, j.partition, j.priority, j.collection_id
)
INSERT INTO outbox (job_id, partition, priority, collection_id, bytes)
SELECT u.job_id, u.partition, u.priority, u.collection_id, coalesce(c.size, 0)
FROM unsent u
JOIN versions v ON v.document_id = u.document_id AND v.input_version = u.input_version
LEFT JOIN contents c ON c.sha256 = v.sha256
ORDER BY u.job_id
ON CONFLICT (job_id) DO UPDATE SET claim = NULL, claimed_until = NULL, tries = 0
