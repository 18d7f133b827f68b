-- What each partition has, counted up to a cap, and who reads it; guard: none needed, it only reads.
WITH leased AS (
    SELECT partition, count(*) AS n
    FROM (SELECT partition FROM jobs WHERE state = 'leased' LIMIT :most) l
    GROUP BY partition
),
readers AS (
    SELECT n AS partition, count(*) AS workers
    FROM (SELECT kind, partitions FROM processes
          WHERE ended_at IS NULL AND lost_at IS NULL
            AND heartbeat_at > clock_timestamp() - make_interval(secs => :silent_seconds)
          LIMIT :most) p
    CROSS JOIN unnest(p.partitions) AS n
    WHERE p.kind = 'worker'
    GROUP BY n
)
SELECT p.partition,
       (SELECT count(*) FROM (
            SELECT FROM outbox o WHERE o.partition = p.partition AND NOT o.exhausted AND o.priority BETWEEN 0 AND 2
            LIMIT :cap + 1) w) AS queued,
       (SELECT count(*) FROM (
            SELECT FROM jobs j WHERE j.partition = p.partition AND j.sent_at IS NOT NULL LIMIT :cap + 1) s) AS sent,
       coalesce(l.n, 0) AS leased, coalesce(r.workers, 0) AS workers
FROM generate_series(0, :partitions - 1) AS p (partition)
LEFT JOIN leased l ON l.partition = p.partition
LEFT JOIN readers r ON r.partition = p.partition
ORDER BY p.partition
