-- Removes old finished jobs of one state and counts them; guard: final, old, and not the only word on its document's
-- state. Returns the contents that may have become unused.
WITH old AS (
    SELECT j.job_id, j.document_id, j.input_version,
           j.input_version < d.input_version AND j.input_version <> d.published_version AS version_too
    FROM jobs j
    JOIN documents d USING (document_id)
    WHERE j.state = :state AND j.finished_at < statement_timestamp() - make_interval(secs => :days * 86400)
      AND (j.input_version < d.input_version OR j.state = 'succeeded')
      AND (j.operation = 'index' OR j.input_version < d.input_version)
    ORDER BY j.finished_at
    LIMIT :most
    FOR UPDATE OF j SKIP LOCKED
),
gone AS (DELETE FROM jobs j USING old o WHERE j.job_id = o.job_id RETURNING j.job_id),
versions_gone AS (
    DELETE FROM versions v USING old o
    WHERE v.document_id = o.document_id AND v.input_version = o.input_version AND o.version_too
    RETURNING v.sha256
),
counted AS (
    UPDATE tallies SET count = count + (SELECT count(*) FROM gone) WHERE name = 'purged_' || :state
)
SELECT (SELECT count(*) FROM gone) AS jobs,
       (SELECT array_agg(DISTINCT sha256) FROM versions_gone WHERE sha256 IS NOT NULL) AS hashes
