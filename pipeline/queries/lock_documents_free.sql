-- Locks those of the documents that nobody else holds; guard: SKIP LOCKED, so that a busy document delays no other.
SELECT document_id
FROM documents
WHERE document_id = ANY(CAST(:documents AS uuid[]))
ORDER BY document_id
FOR NO KEY UPDATE SKIP LOCKED
