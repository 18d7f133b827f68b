-- Names the owner of quarantined jobs; guard: state, under the documents' locks.
UPDATE quarantine q
SET owner = :owner
FROM jobs j
WHERE q.job_id = ANY(CAST(:jobs AS uuid[])) AND j.job_id = q.job_id AND j.state = 'quarantined'
RETURNING j.job_id, j.document_id, j.input_version
