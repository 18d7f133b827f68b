-- Where each waiting job stands in its partition; guard: none needed, it only reads. No count goes beyond the cap.
-- What was sent goes first, in the order of sending. Of what was not, more urgent lanes go first, and within a lane the
-- collections take turns: before the k-th job of one, each other has had k jobs.
WITH RECURSIVE wanted AS (
    SELECT j.job_id, j.document_id, j.partition, j.priority, j.collection_id, j.sent_at, o.due_at, o.id
    FROM jobs j LEFT JOIN outbox o ON o.job_id = j.job_id
    WHERE j.job_id = ANY(CAST(:jobs AS uuid[]))
),
front AS (
    SELECT DISTINCT ON (l.partition) l.partition, l.collection_id, l.document_id, l.input_version, l.worker_id,
           a.started_at
    FROM (SELECT * FROM jobs WHERE state = 'leased' LIMIT :most_leased) l
    JOIN attempts a ON a.job_id = l.job_id AND a.generation = l.generation
    WHERE l.partition IN (SELECT partition FROM wanted)
    ORDER BY l.partition, a.started_at
),
sent AS (
    SELECT job_id, partition, row_number() OVER (PARTITION BY partition ORDER BY sent_at, job_id) AS place
    FROM jobs
    WHERE sent_at IS NOT NULL AND partition IN (SELECT partition FROM wanted)
),
turn AS (
    SELECT w.*, (
        SELECT count(*) FROM (
            SELECT FROM outbox o
            WHERE o.partition = w.partition AND o.priority = w.priority AND o.collection_id = w.collection_id
              AND NOT o.exhausted AND o.claim IS NULL AND (o.due_at, o.id) < (w.due_at, w.id)
            LIMIT :cap
        ) earlier
    ) AS own
    FROM wanted w
    WHERE w.sent_at IS NULL AND w.id IS NOT NULL
),
lane AS (
    (
        SELECT w.partition, w.priority, o.collection_id, 1 AS n
        FROM (SELECT DISTINCT partition, priority FROM turn) w
        CROSS JOIN LATERAL (
            SELECT collection_id FROM outbox o
            WHERE o.partition = w.partition AND o.priority = w.priority AND NOT o.exhausted
            ORDER BY collection_id LIMIT 1
        ) o
    )
    UNION ALL
    SELECT l.partition, l.priority, o.collection_id, l.n + 1
    FROM lane l
    CROSS JOIN LATERAL (
        SELECT collection_id FROM outbox o
        WHERE o.partition = l.partition AND o.priority = l.priority AND NOT o.exhausted
          AND o.collection_id > l.collection_id
        ORDER BY collection_id LIMIT 1
    ) o
    WHERE l.n < :most_collections
),
unsent AS (
    SELECT t.job_id, 1 + t.own
        + (SELECT count(*) FROM sent s WHERE s.partition = t.partition)
        + (
            SELECT count(*) FROM (
                SELECT FROM outbox o
                WHERE o.partition = t.partition AND o.priority < t.priority AND NOT o.exhausted AND o.claim IS NULL
                  AND o.due_at <= clock_timestamp()
                LIMIT :cap
            ) urgent
        ) + (
            SELECT count(*) FROM (
                SELECT FROM lane l
                CROSS JOIN LATERAL (
                    SELECT FROM outbox o
                    WHERE o.partition = l.partition AND o.priority = l.priority AND o.collection_id = l.collection_id
                      AND NOT o.exhausted AND o.claim IS NULL AND o.due_at <= clock_timestamp()
                    ORDER BY o.due_at, o.id
                    LIMIT t.own + CASE WHEN l.collection_id < t.collection_id THEN 1 ELSE 0 END
                ) before
                WHERE l.partition = t.partition AND l.priority = t.priority AND l.collection_id <> t.collection_id
                LIMIT :cap
            ) others
        ) AS place
    FROM turn t
)
SELECT w.job_id, coalesce(s.place, u.place) AS place,
       CASE WHEN f.collection_id = w.collection_id THEN coalesce(nullif(v.filename, ''), nullif(v.title, '')) END AS name,
       extract(epoch FROM clock_timestamp() - f.started_at)::float8 AS front_age,
       p.host || '-' || p.process_id AS worker
FROM wanted w
LEFT JOIN sent s ON s.job_id = w.job_id
LEFT JOIN unsent u ON u.job_id = w.job_id
LEFT JOIN front f ON f.partition = w.partition
LEFT JOIN versions v ON v.document_id = f.document_id AND v.input_version = f.input_version
LEFT JOIN processes p ON p.process_id = f.worker_id
