-- Claims the next probe of an open breaker; guard: it is due, and whoever claims it puts it off, so that one tries at
-- a time. The claim lapses, so that a prober that dies is replaced.
UPDATE breakers
SET probe_at = clock_timestamp() + make_interval(secs => :lapse_seconds)
WHERE name = :name AND probe_at <= clock_timestamp()
RETURNING failures
