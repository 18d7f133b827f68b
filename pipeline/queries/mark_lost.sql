-- Marks processes whose session lock is gone; guard: their lock is missing now, and not because PostgreSQL restarted:
-- they took it since then, or had a lease of time to take it again. It is only looked at, never tried: session locks
-- are re-entrant.
UPDATE processes p
SET lost_at = clock_timestamp()
WHERE p.ended_at IS NULL AND p.lost_at IS NULL AND p.locked_at IS NOT NULL
  AND (p.locked_at > pg_postmaster_start_time()
       OR pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => :lease_seconds))
  AND NOT EXISTS (
      SELECT FROM pg_locks l
      WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
        AND l.classid = CAST(:lock_class AS oid) AND l.objid = CAST(p.process_id AS oid)
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  )
RETURNING p.process_id, p.kind, p.host, p.pid
