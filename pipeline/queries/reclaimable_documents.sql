-- Documents with a lease that ran out or whose process is gone, those with a budget left first, and whether the index must
-- be asked before such a job ends; guard: none needed, it only reads.
SELECT j.document_id,
       j.attempt >= :attempts
       OR j.elapsed_spent + (clock_timestamp() - a.started_at) >= make_interval(secs => :elapsed_seconds) AS is_spent
FROM jobs j
JOIN attempts a ON a.job_id = j.job_id AND a.generation = j.generation
LEFT JOIN processes p ON p.process_id = j.worker_id
WHERE j.state = 'leased'
  AND (j.lease_until < clock_timestamp() OR p.lost_at IS NOT NULL OR p.ended_at IS NOT NULL)
ORDER BY is_spent
LIMIT :most
