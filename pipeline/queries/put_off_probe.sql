-- Counts a failed probe and puts the next one off; guard: the failures are those of the claim, else somebody else has
-- closed the breaker or counted meanwhile.
UPDATE breakers
SET reason = :reason, failures = failures + 1,
    probe_at = clock_timestamp() + make_interval(
        secs => least(:first * power(2, least(failures, 20)), :most) * (1 - :jitter * random()))
WHERE name = :name AND failures = :failures
