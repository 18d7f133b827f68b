-- Ends waiting jobs, and the leased ones that a delete overtakes; guard: not final, under the document's lock.
WITH superseded AS (
    UPDATE jobs
    SET state = 'superseded', finished_at = clock_timestamp(), worker_id = NULL, lease_until = NULL,
        sent_at = NULL, delivery_id = NULL
    WHERE job_id = ANY(CAST(:jobs AS uuid[])) AND state IN ('queued', 'retry_wait', 'leased')
    RETURNING job_id, generation
),
history AS (
    UPDATE attempts a
    SET ended_at = clock_timestamp(), outcome = 'superseded'
    FROM superseded s
    WHERE a.job_id = s.job_id AND a.generation = s.generation AND a.ended_at IS NULL
)
DELETE FROM outbox WHERE job_id IN (SELECT job_id FROM superseded)
