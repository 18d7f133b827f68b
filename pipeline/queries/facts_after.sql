-- The next documents in their order, and what an index should have of each; no guard: whoever finds that an index
-- differs looks again (facts_of).
SELECT d.document_id, d.published_version, coalesce(v.operation = 'delete', false) AS tombstone,
       coalesce(v.operation = 'delete' AND d.published_at < statement_timestamp()
                - make_interval(secs => :tombstone_days * 86400), false) AS may_be_gone, 0 AS under_way
FROM documents d
LEFT JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.published_version
WHERE d.document_id > coalesce(CAST(:after AS uuid), '00000000-0000-0000-0000-000000000000')
ORDER BY d.document_id
LIMIT :most
