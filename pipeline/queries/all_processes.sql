-- Every process that lives or was there lately, and what it holds; guard: none needed, it only reads.
SELECT p.process_id AS id, p.kind, p.host, p.pid, p.started_at, p.heartbeat_at, p.ended_at, p.lost_at, p.slots,
       p.partitions,
       p.ended_at IS NULL AND p.lost_at IS NULL
       AND p.heartbeat_at > clock_timestamp() - make_interval(secs => :silent_seconds) AS alive,
       extract(epoch FROM clock_timestamp() - p.heartbeat_at)::float8 AS silent_seconds,
       coalesce(h.jobs, '{}') AS holding
FROM (SELECT * FROM processes ORDER BY process_id DESC LIMIT :most) p
LEFT JOIN (
    SELECT worker_id, array_agg(job_id ORDER BY job_id) AS jobs
    FROM (SELECT worker_id, job_id FROM jobs WHERE state = 'leased' LIMIT :most) l
    GROUP BY worker_id
) h ON h.worker_id = p.process_id
WHERE (p.ended_at IS NULL AND p.lost_at IS NULL) OR p.heartbeat_at > now() - interval '1 hour' OR h.jobs IS NOT NULL
ORDER BY alive DESC, p.kind, p.process_id
LIMIT :shown
