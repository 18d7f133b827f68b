-- Leases that ran out or whose process is gone, with the cause; guard: state and expiry, read under the documents'
-- locks. A row that is locked is being renewed at this moment: skipped.
SELECT j.job_id, j.document_id, j.input_version, j.generation, j.worker_id,
       j.attempt >= :attempts
       OR j.elapsed_spent + (clock_timestamp() - a.started_at) >= make_interval(secs => :elapsed_seconds) AS is_spent,
       CASE
           WHEN p.lost_at IS NOT NULL THEN 'worker_lost'
           WHEN a.started_at < clock_timestamp() - make_interval(secs => :attempt_seconds) THEN 'deadline'
           ELSE 'lease_expired'
       END AS cause
FROM jobs j
JOIN attempts a ON a.job_id = j.job_id AND a.generation = j.generation
LEFT JOIN processes p ON p.process_id = j.worker_id
WHERE j.document_id = ANY(CAST(:documents AS uuid[]))
  AND j.state = 'leased'
  AND (j.lease_until < clock_timestamp() OR p.lost_at IS NOT NULL OR p.ended_at IS NOT NULL)
FOR NO KEY UPDATE OF j SKIP LOCKED
