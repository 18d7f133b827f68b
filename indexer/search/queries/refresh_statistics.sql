-- Writes the estimates anew from a sample of :percent. Guard: this transaction has claimed them.
WITH sampled AS MATERIALIZED (
    SELECT count(*) AS rows, avg(length) AS length FROM passages TABLESAMPLE SYSTEM (:percent) REPEATABLE (1)
),
fresh AS MATERIALIZED (
    SELECT word AS lexeme, CAST(least(1, CAST(ndoc AS float8) / rows) AS real) AS share
    FROM sampled CROSS JOIN LATERAL
         ts_stat(format('SELECT tsv FROM passages TABLESAMPLE SYSTEM (%s) REPEATABLE (1)', CAST(:percent AS text)))
    WHERE ndoc >= 2 AND ndoc >= :common * rows AND octet_length(word) <= 2000
),
gone AS (
    DELETE FROM search_lexemes WHERE lexeme NOT IN (SELECT lexeme FROM fresh)
),
kept AS (
    INSERT INTO search_lexemes AS mine (lexeme, share) SELECT lexeme, share FROM fresh
    ON CONFLICT (lexeme) DO UPDATE SET share = excluded.share
    WHERE excluded.share NOT BETWEEN mine.share * 0.8 AND mine.share * 1.25
)
UPDATE search_statistics SET passages = round(sampled.rows * 100 / :percent),
                             average_length = greatest(coalesce(sampled.length, 200), 1)
FROM sampled
