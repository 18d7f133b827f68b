-- Ends refills, each in its own way: done ones go, others are due again or have failed; guard: generation.
WITH ending AS (
    SELECT * FROM jsonb_to_recordset(CAST(:endings AS jsonb)) AS e
        (document_id uuid, generation bigint, state text, counts boolean, error text)
),
gone AS (
    DELETE FROM refills r USING ending e
    WHERE r.build_id = :build_id AND r.document_id = e.document_id AND r.generation = e.generation AND e.state = 'done'
    RETURNING r.document_id
),
kept AS (
    UPDATE refills r
    SET worker_id = NULL, lease_until = NULL, last_error = e.error,
        attempts = r.attempts + CASE WHEN e.counts THEN 1 ELSE 0 END,
        failed = e.state = 'failed' OR (e.counts AND r.attempts + 1 >= :attempts),
        due_at = clock_timestamp() + make_interval(secs => least(:backoff_first * power(2, r.attempts), :backoff_most))
    FROM ending e
    WHERE r.build_id = :build_id AND r.document_id = e.document_id AND r.generation = e.generation AND e.state <> 'done'
    RETURNING r.failed
)
UPDATE builds
SET done = done + (SELECT count(*) FROM gone), failed = failed + (SELECT count(*) FROM kept WHERE kept.failed)
WHERE build_id = :build_id
