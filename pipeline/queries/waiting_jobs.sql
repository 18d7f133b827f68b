-- What each unfinished job's own rows say; guard: none needed, it only reads. Bounded by the number of ids.
SELECT j.job_id, j.state, j.partition, j.attempt,
       extract(epoch FROM clock_timestamp() - j.sent_at)::float8 AS sent_age,
       extract(epoch FROM j.due_at - clock_timestamp())::float8 AS due_in,
       extract(epoch FROM clock_timestamp() - j.lease_until)::float8 AS expired_for,
       extract(epoch FROM clock_timestamp() - a.started_at)::float8 AS attempt_age,
       a.message AS last_message, p.host || '-' || p.process_id AS worker,
       busy.input_version AS busy_version,
       extract(epoch FROM clock_timestamp() - busy_attempt.started_at)::float8 AS busy_age,
       o.id IS NOT NULL AS is_announced, coalesce(o.exhausted, false) AS is_refused, o.last_error,
       q.message AS trouble
FROM jobs j
LEFT JOIN attempts a ON a.job_id = j.job_id AND a.generation = j.generation
LEFT JOIN processes p ON p.process_id = j.worker_id
LEFT JOIN jobs busy ON busy.document_id = j.document_id AND busy.state = 'leased' AND busy.job_id <> j.job_id
LEFT JOIN attempts busy_attempt ON busy_attempt.job_id = busy.job_id AND busy_attempt.generation = busy.generation
LEFT JOIN outbox o ON o.job_id = j.job_id
LEFT JOIN quarantine q ON q.job_id = j.job_id
WHERE j.job_id = ANY(CAST(:jobs AS uuid[])) AND j.finished_at IS NULL
