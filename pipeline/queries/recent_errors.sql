-- What went wrong in the last minutes, by stage and code and by kind of file; guard: none needed, it only reads.
WITH failed AS (
    SELECT a.job_id, a.code,
           CASE WHEN a.outcome = 'lease_lost' THEN 'lease'
                WHEN a.publish_ms IS NOT NULL OR a.store_ms IS NOT NULL THEN 'publish'
                WHEN a.extract_ms IS NOT NULL THEN 'extract'
                ELSE 'load' END AS stage
    FROM (SELECT * FROM attempts WHERE ended_at > now() - make_interval(mins => :minutes)
          ORDER BY ended_at DESC LIMIT :most) a
    WHERE a.code IS NOT NULL AND a.outcome IN ('retry_later', 'rejected', 'lease_lost')
    LIMIT :cap
),
kinds AS (
    SELECT coalesce(nullif(v.media_type, ''), nullif(lower(substring(v.filename FROM '\.[A-Za-z0-9]{1,8}$')), ''),
                    'unknown') AS kind
    FROM failed f
    JOIN jobs j ON j.job_id = f.job_id
    JOIN versions v ON v.document_id = j.document_id AND v.input_version = j.input_version
)
SELECT (SELECT coalesce(json_agg(c), '[]') FROM (
            SELECT stage, code, count(*) AS count FROM failed GROUP BY stage, code ORDER BY count(*) DESC, code LIMIT 20
        ) c) AS by_code,
       (SELECT coalesce(json_agg(k), '[]') FROM (
            SELECT kind, count(*) AS count FROM kinds GROUP BY kind ORDER BY count(*) DESC, kind LIMIT 20
        ) k) AS by_kind
