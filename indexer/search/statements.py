"""The SQL of searching, put together from what a request needs.

Each term's matches are gathered in a LATERAL arm, rarest term first and up to a bound, so that a common word costs
no more than a rare one. The tsquery reaches an arm as a column: were it a constant, the planner would read the whole
table for a common word. For the same reason `IN … IS TRUE` and `NOT IN` keep a set hashed, where the planner, which
cannot know its size, would loop over it or read all matches first. `ts_rank` of one lexeme is 6/π² · Σ 1/j² for
j = 1…tf, from which tf is read back for BM25; of several it is their average, so each form of a term is asked alone.

`{gates}` are common table expressions that `{scope}` refers to; `x` in `{scope}` is a row of entries or of passages.
"""

from indexer.search.backend import Sort

# Rows that match; n = 0 is the title with the key.
_MATCHES = """
    SELECT x.document_id, 0 AS n, x.shelf_id FROM entries x WHERE x.tsv @@ arm.q {scope}
    UNION ALL
    SELECT x.document_id, x.n, x.shelf_id FROM passages x WHERE x.tsv @@ arm.q {scope}"""

GATE = """{name} AS MATERIALIZED (
    SELECT x.document_id FROM unnest(ARRAY[CAST(:{name} AS tsquery)]) AS arm (q), passages x WHERE x.tsv @@ arm.q
    UNION ALL
    SELECT x.document_id FROM unnest(ARRAY[CAST(:{name} AS tsquery)]) AS arm (q), entries x WHERE x.tsv @@ arm.q
),"""

# The first arm asks for all clauses in one passage, so that these are among the candidates however common the words.
_FOUND = f"""WITH {{gates}}
term AS MATERIALIZED (
    SELECT i, q, df, CAST(1 AS bigint) << CAST(i - 1 AS integer) AS bit, (
        SELECT array_agg(form)
        FROM unnest(CAST(:forms AS tsquery[]), CAST(:form_of AS integer[])) AS f (form, term) WHERE term = i
    ) AS forms
    FROM unnest(CAST(:tsqueries AS tsquery[]), CAST(:dfs AS float8[])) WITH ORDINALITY AS t (q, df, i)
),
arm AS MATERIALIZED (
    SELECT 0 AS i, CAST(:together AS tsquery) AS q, CAST(:every_bit AS bigint) AS bits,
           CAST(:most AS integer) / 2 AS most
    WHERE CAST(:together AS tsquery) IS NOT NULL
    UNION ALL
    SELECT i, q, bit, CAST(:most AS integer) FROM term
    ORDER BY i
),
found AS MATERIALIZED (
    SELECT arm.i, match.document_id, match.n, match.shelf_id, arm.bits
    FROM arm CROSS JOIN LATERAL ({_MATCHES} LIMIT arm.most) AS match
    LIMIT CAST(:most AS integer)
),"""

# A document's score: for each term its weight if it is anywhere, thrice more if the title has it; far more when no
# clause is missing; and the BM25 of its best two passages.
RANKED = f"""{_FOUND}
weight AS MATERIALIZED (
    SELECT i, forms, bit, counted AS df, ln(1 + (greatest(:passages, counted) - counted + 0.5) / (counted + 0.5)) AS idf
    FROM term CROSS JOIN LATERAL (
        SELECT CASE WHEN df > 0 THEN df
                    ELSE coalesce(nullif((SELECT count(*) FROM found WHERE found.i = term.i), 0),
                                  CAST(:passages AS float8) / 2)
               END AS counted
    ) AS frequency
),
document AS MATERIALIZED (
    SELECT document_id, min(shelf_id) AS shelf_id, bit_or(bits) AS bits, min(n) FILTER (WHERE n > 0) AS first_n,
           coalesce(bit_or(bits) FILTER (WHERE n = 0), 0) AS title
    FROM found GROUP BY document_id
),
pattern AS MATERIALIZED (
    SELECT bits, title, (
        SELECT sum(idf * (CAST(bits & bit <> 0 AS integer) + 3 * CAST(title & bit <> 0 AS integer)))
               + CASE WHEN 0 <> ALL (SELECT bits & clause FROM unnest(CAST(:clauses AS bigint[])) AS c (clause))
                      THEN 7 * sum(idf) ELSE 0 END
        FROM weight
    ) AS presence
    FROM document GROUP BY bits, title
),
ranked AS MATERIALIZED (
    SELECT document_id, presence, first_n, row_number() OVER (ORDER BY presence DESC, document_id) AS place
    FROM document JOIN pattern USING (bits, title)
),
line AS MATERIALIZED (
    SELECT document_id, n, row_number() OVER (
               PARTITION BY document_id ORDER BY bit_count(CAST(bit_or(bits) AS bit(64))) DESC, n
           ) AS place
    FROM found
    WHERE n > 0 AND (document_id IN (SELECT document_id FROM ranked WHERE place <= :pool)) IS TRUE
    GROUP BY document_id, n
),
scored AS MATERIALIZED (
    SELECT document_id, n, score
    FROM line JOIN passages USING (document_id, n)
    CROSS JOIN LATERAL (SELECT setweight(tsv, 'D') AS words OFFSET 0) AS fetched_once
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(
                   idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / CAST(:average_length AS float8)))
               ), 0) AS score
        FROM weight CROSS JOIN LATERAL (
            SELECT sum(1 / (1.6449 * (1 - least(ts_rank('{{{{1,1,1,1}}}}', words, form), 0.99))) - 0.54) AS tf
            FROM unnest(forms) AS f (form) WHERE words @@ form
        ) AS term_frequency
        WHERE tf IS NOT NULL
    ) AS bm25
    WHERE place <= 2
),
best AS MATERIALIZED (
    SELECT document_id, 0.8 * max(score) + 0.2 * sum(score) AS score, array_agg(n ORDER BY score DESC, n) AS ns
    FROM scored GROUP BY document_id
),
hit AS (
    SELECT document_id, presence + coalesce(score, 0) AS raw, coalesce(ns, ARRAY[first_n]) AS ns
    FROM (SELECT * FROM ranked WHERE place <= :pool) AS pool FULL JOIN best USING (document_id)
    UNION ALL
    SELECT document_id, presence, ARRAY[first_n] FROM ranked WHERE place > :pool
),
page AS (
    SELECT document_id, round(CAST(raw AS numeric), 4) AS score, ns FROM hit
    WHERE CAST(:after_place AS numeric) IS NULL
       OR (-round(CAST(raw AS numeric), 4), document_id) > (-CAST(:after_place AS numeric), CAST(:after_id AS uuid))
    ORDER BY 2 DESC, document_id LIMIT :limit
)
SELECT page.document_id, page.score, page.ns,
       (SELECT count(*) >= :most FROM found) AS truncated,
       (SELECT array_agg(df ORDER BY i) FROM weight) AS dfs,
       (SELECT jsonb_object_agg(shelf_id, documents) FROM
           (SELECT shelf_id, count(*) AS documents FROM document GROUP BY shelf_id) AS s) AS shelves
FROM (VALUES (1)) AS always LEFT JOIN page ON true
"""

_ANY = f"""
    SELECT match.document_id, match.n, match.shelf_id
    FROM unnest(ARRAY[CAST(:any AS tsquery)]) AS arm (q) CROSS JOIN LATERAL ({_MATCHES}) AS match
    LIMIT CAST(:most_counted AS integer)"""

# What follows when more matches than :most and all of those have been shown.
REST = f"""{_FOUND}
matched AS MATERIALIZED ({_ANY})
SELECT document_id, 0 AS score, ARRAY[min(n) FILTER (WHERE n > 0)] AS ns
FROM matched
WHERE document_id NOT IN (SELECT document_id FROM found) AND document_id > CAST(:after_id AS uuid)
GROUP BY document_id ORDER BY document_id LIMIT :limit
"""

COUNTED = f"""WITH {{gates}}
matched AS MATERIALIZED ({_ANY}),
document AS (SELECT DISTINCT document_id, shelf_id FROM matched)
SELECT jsonb_object_agg(shelf_id, documents) AS shelves, (SELECT count(*) >= :most_counted FROM matched) AS truncated
FROM (SELECT shelf_id, count(*) AS documents FROM document GROUP BY shelf_id) AS s
"""

# In the order of a column: of all matches when they are few, else by walking along the index until the page is full.
_FEW = f"""WITH {{gates}}
matched AS MATERIALIZED ({_ANY})
SELECT x.document_id, 0 AS score, CAST(x.@column AS text) AS place, ARRAY[min(n) FILTER (WHERE n > 0)] AS ns
FROM matched JOIN entries x USING (document_id)
WHERE @after
GROUP BY x.document_id, x.@column ORDER BY @order LIMIT :limit
"""
_MANY = """WITH {gates}
arm AS MATERIALIZED (SELECT CAST(:any AS tsquery) AS q)
SELECT x.document_id, 0 AS score, CAST(x.@column AS text) AS place, ARRAY[passage.n] AS ns
FROM entries x CROSS JOIN arm
LEFT JOIN LATERAL (
    SELECT n FROM passages p WHERE p.document_id = x.document_id AND p.tsv @@ arm.q ORDER BY n LIMIT 1
) AS passage ON true
WHERE NOT x.tombstone AND @after AND (passage.n IS NOT NULL OR x.tsv @@ arm.q) {scope}
ORDER BY @order LIMIT :limit
"""
_COLUMNS = {
    Sort.NEWEST: {
        "@after": "(CAST(:after_id AS uuid) IS NULL OR x.accepted_at <= CAST(:after_place AS timestamptz)"
        " AND (x.accepted_at < CAST(:after_place AS timestamptz) OR x.document_id > CAST(:after_id AS uuid)))",
        "@order": "x.accepted_at DESC, x.document_id",
        "@column": "accepted_at",
    },
    Sort.TITLE: {
        "@after": "(CAST(:after_id AS uuid) IS NULL"
        " OR (x.title_order, x.document_id) > (CAST(:after_place AS text), CAST(:after_id AS uuid)))",
        "@order": "x.title_order, x.document_id",
        "@column": "title_order",
    },
}


def ordered(sort: Sort, *, many: bool) -> str:
    """The statement for hits in the order of a column."""
    statement = _MANY if many else _FEW
    for marker, sql in _COLUMNS[sort].items():
        statement = statement.replace(marker, sql)
    return statement
