-- Takes the refreshing of the estimates, if they are old or the number of passages has doubled or halved since.
-- Guard: the row is skipped while another process has it, and is fresh afterwards.
WITH stale AS (
    SELECT only_row FROM search_statistics,
           LATERAL (SELECT greatest(reltuples, 1000) AS rows FROM pg_class WHERE oid = 'passages'::regclass) AS size
    WHERE refreshed_at < now() - make_interval(mins => :stale_minutes)
       OR size.rows NOT BETWEEN greatest(passages, 1000) / 2 AND greatest(passages, 1000) * 2
    FOR UPDATE OF search_statistics SKIP LOCKED
)
UPDATE search_statistics SET refreshed_at = now()
FROM stale WHERE search_statistics.only_row = stale.only_row
RETURNING least(100, 100.0 * :sample / (85 * greatest(pg_relation_size('passages') / 8192, 1))) AS percent
