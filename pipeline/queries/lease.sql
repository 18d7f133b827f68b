-- Leases waiting, due jobs whose documents this transaction has locked; guard: state, due time, no other lease, no
-- trouble with the index, and one to publish to that the worker can reach.
-- What it publishes goes to `targets`, a list that cannot change before the commit.
-- The attempt and the generation count from here, so that a kill at any later moment has counted.
WITH published AS MATERIALIZED (
    SELECT (SELECT coalesce(array_agg(name ORDER BY state = 'live' DESC), '{}') FROM search_indexes
            WHERE state IN ('live', 'filling') AND backend = :backend) AS targets,
           (SELECT epoch FROM publish_epoch) AS epoch
),
leased AS (
    UPDATE jobs j
    SET state = 'leased', attempt = attempt + 1, generation = generation + 1, worker_id = :worker_id,
        lease_until = clock_timestamp() + make_interval(secs => :lease_seconds),
        sent_at = NULL, delivery_id = NULL, sends = 0
    WHERE j.job_id = ANY(CAST(:jobs AS uuid[]))
      AND j.document_id = ANY(CAST(:documents AS uuid[]))
      AND j.state IN ('queued', 'retry_wait')
      AND j.due_at <= clock_timestamp()
      AND NOT EXISTS (SELECT FROM breakers WHERE name = 'index')
      AND EXISTS (SELECT FROM published WHERE targets <> '{}')
      AND NOT EXISTS (SELECT FROM jobs other WHERE other.document_id = j.document_id AND other.state = 'leased')
    RETURNING j.*
),
history AS (
    INSERT INTO attempts (job_id, generation, worker_id, epoch, started_at)
    SELECT job_id, generation, worker_id, epoch, now()  -- one start for all of a delivery: its time counts once
    FROM leased, published
)
SELECT l.job_id, l.document_id, l.input_version, l.operation, l.generation, l.attempt, l.partition, l.alone,
       l.collection_id, d.key, v.sha256, c.size, v.title, v.filename, v.media_type, v.metadata, v.accepted_at,
       (SELECT a.code FROM attempts a WHERE a.job_id = l.job_id AND a.generation = l.generation - 1) AS last_code,
       published.targets
FROM leased l
CROSS JOIN published
JOIN documents d USING (document_id)
JOIN versions v ON v.document_id = l.document_id AND v.input_version = l.input_version
LEFT JOIN contents c ON c.sha256 = v.sha256
