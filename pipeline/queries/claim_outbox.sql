-- Claims due rows for sending; guard: FOR UPDATE SKIP LOCKED on row and job, the window of each lane, and no trouble
-- with the index.
-- Partitions beyond the present number are served too: there were more of them when these jobs were accepted.
-- A lane is a partition and a priority. Within one, collections take turns and the oldest row of each goes first.
-- What is read is bounded by the windows, however many rows there are: every lookup ends at a LIMIT, and the due time is
-- compared with a time that stays the same within the statement, as an index needs it.
WITH lane AS (
    SELECT p.partition, q.priority,
           :window_jobs - (
               SELECT count(*) FROM jobs j
               WHERE j.partition = p.partition AND j.priority = q.priority AND j.sent_at IS NOT NULL
           ) AS room
    FROM generate_series(0, greatest(:partitions - 1, (SELECT max(partition) FROM outbox WHERE NOT exhausted)))
        AS p (partition)
    CROSS JOIN generate_series(0, 2) AS q (priority)
    CROSS JOIN LATERAL (
        SELECT FROM outbox o WHERE o.partition = p.partition AND o.priority = q.priority AND NOT o.exhausted LIMIT 1
    ) used
    WHERE NOT EXISTS (SELECT FROM breakers WHERE name = 'index')
),
due AS (
    SELECT pick.id, row_number() OVER (ORDER BY lane.priority, pick.n, pick.due_at, pick.id) AS place
    FROM lane
    CROSS JOIN LATERAL (
        WITH RECURSIVE collection AS (
            (
                SELECT o.collection_id, 1 AS n FROM outbox o
                WHERE o.partition = lane.partition AND o.priority = lane.priority AND NOT o.exhausted
                  AND o.collection_id > :after_collection
                ORDER BY o.collection_id LIMIT 1
            )
            UNION ALL
            SELECT next.collection_id, c.n + 1
            FROM collection c
            CROSS JOIN LATERAL (
                SELECT o.collection_id FROM outbox o
                WHERE o.partition = lane.partition AND o.priority = lane.priority AND NOT o.exhausted
                  AND o.collection_id > c.collection_id
                ORDER BY o.collection_id LIMIT 1
            ) next
            WHERE c.n < :most_collections
        )
        SELECT turn.id, turn.n, turn.due_at
        FROM collection
        CROSS JOIN LATERAL (
            SELECT o.id, o.due_at, row_number() OVER (ORDER BY o.due_at, o.id) AS n
            FROM outbox o
            WHERE o.partition = lane.partition AND o.priority = lane.priority AND NOT o.exhausted
              AND o.collection_id = collection.collection_id
              AND o.due_at <= statement_timestamp()
              AND (o.claimed_until IS NULL OR o.claimed_until < clock_timestamp())
            ORDER BY o.due_at, o.id
            LIMIT greatest(lane.room, 0)
        ) turn
        ORDER BY turn.n, collection.collection_id
        LIMIT greatest(lane.room, 0)
    ) pick
    ORDER BY place
    LIMIT :most_rows
)
SELECT o.id, o.job_id, o.partition, o.priority, o.collection_id, o.bytes, o.tries, j.alone,
       j.state IN ('queued', 'retry_wait') AS is_waiting
FROM unnest(ARRAY(SELECT id FROM due ORDER BY place)) WITH ORDINALITY AS pick (id, place)
JOIN outbox o ON o.id = pick.id
JOIN jobs j ON j.job_id = o.job_id
WHERE NOT o.exhausted AND (o.claimed_until IS NULL OR o.claimed_until < clock_timestamp())
ORDER BY pick.place
FOR NO KEY UPDATE OF o, j SKIP LOCKED
