-- Lets quarantined jobs run again with fresh budgets; guard: state, newest version, under the documents' locks.
-- The generation stays, so that a worker of an earlier attempt stays fenced off.
WITH replayed AS (
    UPDATE jobs j
    SET state = 'queued', attempt = 0, elapsed_spent = '0', due_at = clock_timestamp(),
        sent_at = NULL, delivery_id = NULL, sends = 0
    FROM documents d
    WHERE j.job_id = ANY(CAST(:jobs AS uuid[])) AND j.state = 'quarantined'
      AND d.document_id = j.document_id AND d.input_version = j.input_version
    RETURNING j.job_id, j.document_id, j.input_version, j.partition, j.priority, j.collection_id, j.due_at
),
closed AS (
    UPDATE quarantine q
    SET resolved_at = clock_timestamp(), note = 'Replayed.'
    FROM replayed r
    WHERE q.job_id = r.job_id
),
announced AS (
    INSERT INTO outbox (job_id, partition, priority, collection_id, bytes, due_at)
    SELECT r.job_id, r.partition, r.priority, r.collection_id, coalesce(c.size, 0), r.due_at
    FROM replayed r
    JOIN versions v ON v.document_id = r.document_id AND v.input_version = r.input_version
    LEFT JOIN contents c ON c.sha256 = v.sha256
    ON CONFLICT (job_id) DO UPDATE
    SET due_at = EXCLUDED.due_at, claim = NULL, claimed_until = NULL, tries = 0, exhausted = false
)
SELECT job_id, document_id, input_version FROM replayed
