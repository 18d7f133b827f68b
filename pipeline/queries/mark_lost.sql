-- Marks processes whose session lock is gone; guard: their lock is missing now, and PostgreSQL has been up for a lease
-- (after a restart everybody's lock is missing). The lock is only looked at, never tried: session locks are re-entrant.
UPDATE processes p
SET lost_at = clock_timestamp()
WHERE p.ended_at IS NULL AND p.lost_at IS NULL AND p.locked
  AND pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => :lease_seconds)
  AND NOT EXISTS (
      SELECT FROM pg_locks l
      WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
        AND l.classid = CAST(:lock_class AS oid) AND l.objid = CAST(p.process_id AS oid)
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  )
RETURNING p.process_id, p.kind, p.host, p.pid
