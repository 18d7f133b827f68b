-- Removes documents whose tombstones are gone and counts what went; guard: locked and chosen by purgeable_tombstones.
WITH jobs_gone AS (
    DELETE FROM jobs WHERE document_id = ANY(CAST(:documents AS uuid[])) RETURNING state
),
versions_gone AS (
    DELETE FROM versions WHERE document_id = ANY(CAST(:documents AS uuid[])) RETURNING sha256
),
documents_gone AS (
    DELETE FROM documents WHERE document_id = ANY(CAST(:documents AS uuid[])) RETURNING input_version
),
counts AS (
    SELECT 'purged_' || state AS name, count(*) AS n FROM jobs_gone GROUP BY state
    UNION ALL
    SELECT 'removed_versions', sum(input_version) FROM documents_gone
),
counted AS (
    UPDATE tallies t SET count = t.count + c.n FROM counts c WHERE t.name = c.name
)
SELECT (SELECT array_agg(DISTINCT sha256) FROM versions_gone WHERE sha256 IS NOT NULL) AS hashes
