-- What an index should have of these documents, whether their tombstone may have been purged, and the newest version that
-- is being worked on; no guard: whoever relies on it looks twice.
SELECT d.document_id, d.published_version, coalesce(v.operation = 'delete', false) AS tombstone,
       coalesce(v.operation = 'delete' AND d.published_at < statement_timestamp()
                - make_interval(secs => :tombstone_days * 86400), false) AS may_be_gone,
       coalesce((SELECT max(j.input_version) FROM jobs j
                 WHERE j.document_id = d.document_id AND j.state IN ('queued', 'leased', 'retry_wait')), 0) AS under_way
FROM documents d
LEFT JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.published_version
WHERE d.document_id = ANY(CAST(:documents AS uuid[]))
