-- Opens a breaker, or counts one more failure of an open one; guard: only when its next probe is due, so that all who
-- fail during one pause count once. Returns a row when something changed.
INSERT INTO breakers AS b (name, reason, failures, probe_at)
VALUES (:name, :reason, 1, clock_timestamp() + make_interval(secs => :first * (1 - :jitter * random())))
ON CONFLICT (name) DO UPDATE
SET reason = EXCLUDED.reason, failures = b.failures + 1,
    probe_at = clock_timestamp() + make_interval(
        secs => least(:first * power(2, least(b.failures, 20)), :most) * (1 - :jitter * random()))
WHERE b.probe_at <= clock_timestamp()
RETURNING old.name IS NULL AS opened
