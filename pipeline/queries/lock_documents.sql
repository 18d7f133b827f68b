-- Locks documents in one order; guard: whoever moves a job of a document holds this lock.
SELECT document_id, collection_id, input_version, suspect
FROM documents
WHERE document_id = ANY(CAST(:documents AS uuid[]))
ORDER BY document_id
FOR NO KEY UPDATE
