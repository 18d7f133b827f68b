-- Every accepted version, counted where it is now; guard: REPEATABLE READ, so that both sides are of one moment.
SELECT now() AS as_of,
       (SELECT coalesce(sum(input_version), 0) FROM documents)::bigint
       + (SELECT count FROM tallies WHERE name = 'removed_versions') AS accepted,
       (SELECT sum(count) FROM tallies WHERE name LIKE 'purged\_%')::bigint AS purged,
       (SELECT coalesce(json_object_agg(state, n), '{}') FROM (SELECT state, count(*) AS n FROM jobs GROUP BY state) s)
       AS states
