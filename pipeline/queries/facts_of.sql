-- What an index should have of these documents, and the newest version that is being worked on; no guard: whoever
-- relies on it asks facts_of_unpurged afterwards.
SELECT d.document_id, d.published_version, coalesce(v.operation = 'delete', false) AS tombstone,
       coalesce((SELECT max(j.input_version) FROM jobs j
                 WHERE j.document_id = d.document_id AND j.state IN ('queued', 'leased', 'retry_wait')), 0) AS under_way
FROM documents d
LEFT JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.published_version
WHERE d.document_id = ANY(CAST(:documents AS uuid[]))
