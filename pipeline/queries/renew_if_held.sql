-- Extends leases of one process in one statement; guard: generation and state. Locked rows are being ended: skipped.
WITH free AS (
    SELECT j.job_id
    FROM unnest(CAST(:jobs AS uuid[]), CAST(:generations AS bigint[])) AS lease (job_id, generation)
    JOIN jobs j ON j.job_id = lease.job_id AND j.generation = lease.generation AND j.state = 'leased'
    FOR NO KEY UPDATE OF j SKIP LOCKED
)
UPDATE jobs j
SET lease_until = clock_timestamp() + make_interval(secs => :lease_seconds)
FROM free
WHERE j.job_id = free.job_id
RETURNING j.job_id
