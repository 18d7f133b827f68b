-- What all waiting jobs share: breakers, relays, workers by partition, publications; guard: none needed, it only reads.
WITH known AS (
    SELECT kind, partitions, coalesce(ended_at, lost_at, heartbeat_at) AS last_seen,
           ended_at IS NULL AND lost_at IS NULL
           AND heartbeat_at > clock_timestamp() - make_interval(secs => :silent_seconds) AS is_alive
    FROM processes
    ORDER BY process_id DESC
    LIMIT :most_processes
)
SELECT clock_timestamp() AS now,
       EXISTS (SELECT FROM known WHERE kind = 'relay' AND is_alive) AS has_relay,
       (SELECT coalesce(json_object_agg(name, json_build_object(
                   'reason', reason, 'age', extract(epoch FROM clock_timestamp() - opened_at)::float8)), '{}')
        FROM breakers) AS breakers,
       (SELECT count(*) FROM (SELECT FROM outbox WHERE NOT exhausted LIMIT :cap + 1) o) AS publications,
       (SELECT coalesce(json_agg(DISTINCT n), '[]')
        FROM known CROSS JOIN unnest(partitions) AS n
        WHERE kind = 'worker' AND is_alive) AS read_partitions,
       (SELECT coalesce(json_object_agg(n, last_seen), '{}')
        FROM (SELECT n, max(last_seen) AS last_seen
              FROM known CROSS JOIN unnest(partitions) AS n
              WHERE kind = 'worker' GROUP BY n) seen) AS last_readers
