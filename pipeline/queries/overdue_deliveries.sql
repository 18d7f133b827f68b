-- Per partition: how many deliveries are under way, and the jobs whose delivery may be lost: sent long ago, or sent
-- before a worker of their partition died, which may have taken the delivery along; guard: none needed, it only reads.
WITH loss AS (
    SELECT partition, max(p.lost_at) AS at
    FROM processes p CROSS JOIN unnest(p.partitions) AS partition
    WHERE p.kind = 'worker' AND p.lost_at > clock_timestamp() - interval '2 min'
    GROUP BY partition
)
SELECT j.partition, count(DISTINCT j.delivery_id) AS deliveries,
       array_agg(j.job_id) FILTER (
           WHERE j.sent_at < loss.at
              OR j.sent_at < clock_timestamp()
                             - make_interval(secs => least(:first * power(2, least(j.sends, 20) - 1), :most))
       ) AS overdue
FROM jobs j
LEFT JOIN loss ON loss.partition = j.partition
WHERE j.sent_at IS NOT NULL
GROUP BY j.partition
