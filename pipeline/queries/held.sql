-- Which leases are still held; guard: run under the documents' locks, in a later statement than the locks.
SELECT j.job_id
FROM unnest(CAST(:jobs AS uuid[]), CAST(:generations AS bigint[])) AS lease (job_id, generation)
JOIN jobs j ON j.job_id = lease.job_id AND j.generation = lease.generation AND j.state = 'leased'
