-- Every accepted version and published text, counted where it is now; guard: REPEATABLE READ, so that all is of one
-- moment. A text without a flaw counts as read from its document alone: a join with all results would cost too much.
-- Whoever has come back after a delete still has the tombstone published; versions_by_content has the deletes together.
SELECT now() AS as_of,
       d.accepted + (SELECT count FROM tallies WHERE name = 'removed_versions') AS accepted,
       (SELECT sum(count) FROM tallies WHERE name LIKE 'purged\_%')::bigint AS purged,
       (SELECT coalesce(json_object_agg(state, n), '{}') FROM (SELECT state, count(*) AS n FROM jobs GROUP BY state) s)
       AS states,
       d.ok - (SELECT count(*)
               FROM versions v
               JOIN documents back ON back.document_id = v.document_id AND back.published_version = v.input_version
               WHERE v.sha256 IS NULL AND NOT back.deleted AND back.published_version < back.input_version) AS ok,
       (SELECT coalesce(json_object_agg(text_flaw, n), '{}')
        FROM (SELECT text_flaw, count(*) AS n FROM documents WHERE text_flaw IS NOT NULL GROUP BY text_flaw) f)
       AS flaws
FROM (SELECT coalesce(sum(input_version), 0)::bigint AS accepted,
             count(*) FILTER (WHERE published_version > 0 AND text_flaw IS NULL AND NOT deleted) AS ok
      FROM documents) d
