-- Every accepted version and published text, counted where it is now; guard: REPEATABLE READ, so that all is of one
-- moment. A text without a flaw counts as read from its document alone: a join with all results would cost too much.
-- A published delete has no text; those that are not the newest version are found by versions_by_content.
SELECT now() AS as_of,
       d.accepted + (SELECT count FROM tallies WHERE name = 'removed_versions') AS accepted,
       (SELECT sum(count) FROM tallies WHERE name LIKE 'purged\_%')::bigint AS purged,
       (SELECT coalesce(json_object_agg(state, n), '{}') FROM (SELECT state, count(*) AS n FROM jobs GROUP BY state) s)
       AS states,
       d.ok - (SELECT count(*)
               FROM versions v
               JOIN documents gone ON gone.document_id = v.document_id AND gone.published_version = v.input_version
               WHERE v.sha256 IS NULL AND gone.published_version < gone.input_version) AS ok,
       (SELECT coalesce(json_object_agg(text_flaw, n), '{}')
        FROM (SELECT text_flaw, count(*) AS n FROM documents WHERE text_flaw IS NOT NULL GROUP BY text_flaw) f)
       AS flaws
FROM (SELECT coalesce(sum(input_version), 0)::bigint AS accepted,
             count(*) FILTER (WHERE published_version > 0 AND text_flaw IS NULL
                                AND NOT (deleted AND published_version = input_version)) AS ok
      FROM documents) d
