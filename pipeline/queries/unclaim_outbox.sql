-- Gives claimed rows back unsent; guard: the claim. A refusal costs the row a try and a delay, an outage costs nothing.
-- Locked rows are skipped as in confirm_outbox.
WITH mine AS (
    SELECT id FROM outbox
    WHERE id = ANY(CAST(:ids AS bigint[])) AND claim = ANY(CAST(:deliveries AS uuid[]))
    FOR NO KEY UPDATE SKIP LOCKED
),
freed AS (
    UPDATE outbox o
    SET claim = NULL, claimed_until = NULL, last_error = :error,
        tries = o.tries - CASE WHEN :refused THEN 0 ELSE 1 END,
        exhausted = :refused AND o.tries >= :publications,
        due_at = CASE
            WHEN :refused THEN clock_timestamp() + make_interval(secs =>
                least(:backoff_first * power(2, least(o.tries, 30) - 1), :backoff_most) * (1 + :backoff_jitter * random()))
            ELSE o.due_at
        END
    FROM mine
    WHERE o.id = mine.id
    RETURNING o.job_id
),
unsent AS (
    SELECT j.job_id FROM jobs j
    WHERE j.job_id IN (SELECT job_id FROM freed) AND j.delivery_id = ANY(CAST(:deliveries AS uuid[]))
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE jobs j
SET sent_at = NULL, delivery_id = NULL, sends = greatest(j.sends - 1, 0)
FROM unsent
WHERE j.job_id = unsent.job_id
