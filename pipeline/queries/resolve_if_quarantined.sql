-- Closes quarantined jobs for good, each with its note; guard: state, under the documents' locks.
WITH resolved AS (
    UPDATE jobs j
    SET state = 'resolved', finished_at = clock_timestamp()
    WHERE j.job_id = ANY(CAST(:jobs AS uuid[])) AND j.state = 'quarantined'
    RETURNING j.job_id, j.document_id, j.input_version
),
closed AS (
    UPDATE quarantine q
    SET resolved_at = clock_timestamp(), note = n.note
    FROM resolved r
    JOIN unnest(CAST(:jobs AS uuid[]), CAST(:notes AS text[])) AS n (job_id, note) ON n.job_id = r.job_id
    WHERE q.job_id = r.job_id
)
SELECT job_id, document_id, input_version FROM resolved
