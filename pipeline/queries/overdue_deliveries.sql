-- Per partition: how many deliveries are under way, and the jobs sent so long ago that theirs may be lost.
SELECT partition, count(DISTINCT delivery_id) AS deliveries,
       array_agg(job_id) FILTER (
           WHERE sent_at < clock_timestamp() - make_interval(secs => least(:first * power(2, least(sends, 20) - 1), :most))
       ) AS overdue
FROM jobs
WHERE sent_at IS NOT NULL
GROUP BY partition
