-- What needs a person, newest first, of a filter and behind a cursor; guard: none needed, it only reads.
SELECT q.job_id, j.document_id, j.input_version, q.code, q.message, j.attempt, j.generation, q.last_attempt, q.owner,
       q.quarantined_at, j.state, j.operation, q.resolved_at, q.note, c.name AS collection, d.key, v.title, v.filename,
       d.published_version, d.input_version AS newest_version
FROM quarantine q
JOIN jobs j ON j.job_id = q.job_id
JOIN documents d ON d.document_id = j.document_id
JOIN versions v ON v.document_id = j.document_id AND v.input_version = j.input_version
JOIN collections c ON c.collection_id = j.collection_id
WHERE (CASE WHEN CAST(:job_id AS uuid) IS NOT NULL THEN q.job_id = CAST(:job_id AS uuid)
            WHEN CAST(:resolved AS boolean) THEN q.resolved_at IS NOT NULL
            ELSE q.resolved_at IS NULL END)
  AND (CAST(:code AS text) IS NULL OR q.code = CAST(:code AS text))
  AND (CAST(:owner AS text) IS NULL OR q.owner = CAST(:owner AS text))
  AND (CAST(:collection AS text) IS NULL OR c.name = CAST(:collection AS text))
  AND (CAST(:visible AS integer[]) IS NULL OR j.collection_id = ANY(CAST(:visible AS integer[])))
  AND (CAST(:before_at AS timestamptz) IS NULL
       OR (q.quarantined_at, q.job_id) < (CAST(:before_at AS timestamptz), CAST(:before_id AS uuid)))
ORDER BY q.quarantined_at DESC, q.job_id DESC
LIMIT :most
