-- Locks refills and returns the documents whose leases are still held; guard: generation.
SELECT r.document_id
FROM refills r
JOIN unnest(CAST(:documents AS uuid[]), CAST(:generations AS bigint[])) AS mine (document_id, generation)
  ON r.document_id = mine.document_id AND r.generation = mine.generation
WHERE r.build_id = :build_id
ORDER BY r.document_id
FOR UPDATE OF r
