-- Leases that ran out and were not taken back yet, longest first; guard: none needed, it only reads.
SELECT l.job_id, l.document_id, l.worker_id, extract(epoch FROM clock_timestamp() - l.lease_until)::float8
       AS expired_seconds
FROM (SELECT job_id, document_id, worker_id, lease_until FROM jobs WHERE state = 'leased' LIMIT :most) l
WHERE l.lease_until < clock_timestamp()
ORDER BY l.lease_until
LIMIT :shown
