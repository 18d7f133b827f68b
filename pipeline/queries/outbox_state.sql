-- How much waits to be sent and since when, counted up to a cap; guard: none needed, it only reads.
SELECT (SELECT count(*) FROM (SELECT FROM outbox WHERE NOT exhausted LIMIT :cap + 1) w) AS waiting,
       (SELECT extract(epoch FROM clock_timestamp() - created_at)::float8
        FROM outbox ORDER BY created_at LIMIT 1) AS oldest_age_seconds,
       (SELECT count(*) FROM (SELECT FROM outbox WHERE exhausted LIMIT :cap + 1) e) AS exhausted,
       (SELECT count(*) FROM (SELECT FROM quarantine WHERE resolved_at IS NULL LIMIT :cap + 1) q) AS quarantined
