-- Arrivals, service time and successes of the last minutes, from the newest rows only; guard: none needed, it only reads.
-- When there are more than the cap, the rate is that of the time which the newest rows span. A delivery's jobs share
-- one start and a worker's thread: their time is counted once.
WITH arrived AS (
    SELECT accepted_at FROM jobs
    WHERE job_id > uuidv7(-make_interval(mins => :minutes)) AND accepted_at > now() - make_interval(mins => :minutes)
    ORDER BY job_id DESC LIMIT :cap
),
ended AS (
    SELECT worker_id, started_at, ended_at FROM attempts
    WHERE ended_at > now() - make_interval(mins => :minutes)
      AND outcome IN ('published', 'superseded', 'retry_later', 'rejected')
    ORDER BY ended_at DESC LIMIT :cap
),
served AS (
    SELECT count(*) AS jobs, max(ended_at) - started_at AS busy FROM ended GROUP BY worker_id, started_at
),
done AS (
    SELECT finished_at FROM jobs
    WHERE state = 'succeeded' AND finished_at > now() - make_interval(mins => :minutes)
    ORDER BY finished_at DESC LIMIT :cap
)
SELECT (SELECT count(*) / CASE WHEN count(*) < :cap THEN 60.0 * :minutes
                               ELSE greatest(extract(epoch FROM now() - min(accepted_at)), 1) END
        FROM arrived)::float8 AS arrivals_per_second,
       (SELECT extract(epoch FROM sum(busy)) / sum(jobs) FROM served)::float8 AS seconds_per_job,
       (SELECT count(*) / CASE WHEN count(*) < :cap THEN 60.0 * :minutes
                               ELSE greatest(extract(epoch FROM now() - min(finished_at)), 1) END
        FROM done)::float8 AS done_per_second,
       (SELECT count(*) / CASE WHEN count(*) < :cap THEN 60.0
                               ELSE least(greatest(extract(epoch FROM now() - min(finished_at)), 1), 60) END
        FROM done WHERE finished_at > now() - interval '1 minute')::float8 AS done_per_second_now
