-- The queued job that was accepted first; guard: none needed, it only reads. Looks at what was sent, which the window
-- bounds, and at the oldest publications.
WITH sent AS (
    SELECT job_id, document_id, accepted_at FROM jobs WHERE sent_at IS NOT NULL AND state = 'queued' LIMIT :most
),
unsent AS (
    SELECT j.job_id, j.document_id, j.accepted_at
    FROM (SELECT job_id, created_at FROM outbox ORDER BY created_at LIMIT :most) o
    JOIN jobs j ON j.job_id = o.job_id
    WHERE j.state = 'queued'
    ORDER BY o.created_at
    LIMIT 1
)
SELECT job_id, document_id, extract(epoch FROM clock_timestamp() - accepted_at)::float8 AS age_seconds
FROM (SELECT * FROM sent UNION ALL SELECT * FROM unsent) either
ORDER BY accepted_at
LIMIT 1
