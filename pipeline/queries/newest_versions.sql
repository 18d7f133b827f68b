-- What a new version is compared with and what it supersedes; guard: run after lock_documents, in a later statement.
SELECT v.document_id, v.operation, v.sha256, v.title, v.filename, v.media_type, v.metadata, c.size,
       newest.job_id, coalesce(newest.state, 'succeeded') AS state,  -- only old succeeded ones are purged
       waiting.job_id AS waiting_id, waiting.priority AS waiting_priority,
       leased.job_id AS leased_id
FROM documents d
JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.input_version
LEFT JOIN jobs newest ON newest.document_id = d.document_id AND newest.input_version = d.input_version
LEFT JOIN contents c ON c.sha256 = v.sha256
LEFT JOIN jobs waiting ON waiting.document_id = d.document_id AND waiting.state IN ('queued', 'retry_wait')
LEFT JOIN jobs leased ON leased.document_id = d.document_id AND leased.state = 'leased'
WHERE d.document_id = ANY(CAST(:documents AS uuid[]))
