-- Ends attempts, each with its own outcome; guard: (job_id, generation, state = leased), under the documents' locks.
-- A newer version that waits is announced here, so that a delivery that found the document busy may be dropped.
WITH ending AS (
    SELECT *
    FROM jsonb_to_recordset(CAST(:endings AS jsonb)) AS r (
        job_id uuid, generation bigint, outcome text, code text, message text, delay_seconds float8, refund boolean,
        result_id bigint, load_ms integer, extract_ms integer, store_ms integer, publish_ms integer
    )
),
held AS (
    SELECT e.*, j.document_id, j.input_version, j.operation, j.attempt, j.alone, j.collection_id,
           d.input_version > j.input_version AS is_overtaken,
           j.elapsed_spent + (clock_timestamp() - a.started_at) AS elapsed,
           coalesce(
               make_interval(secs => e.delay_seconds),
               make_interval(secs => least(:backoff_first * power(2, least(j.attempt, 30) - 1), :backoff_most)
                                     * (1 + :backoff_jitter * random()))
           ) AS delay
    FROM ending e
    JOIN jobs j ON j.job_id = e.job_id AND j.generation = e.generation AND j.state = 'leased'
    JOIN documents d ON d.document_id = j.document_id
    JOIN attempts a ON a.job_id = j.job_id AND a.generation = j.generation
),
fate AS (
    SELECT *,
        CASE
            WHEN outcome = 'published' THEN 'succeeded'
            WHEN is_overtaken THEN 'superseded'
            WHEN outcome IN ('rejected', 'superseded') THEN 'quarantined'  -- superseded by nothing: the index is ahead
            WHEN outcome IN ('handed_back', 'lease_lost') AND NOT is_spent THEN 'queued'
            WHEN is_spent THEN 'quarantined'
            ELSE 'retry_wait'
        END AS state
    FROM (
        SELECT *,
            outcome <> 'handed_back'
            AND (attempt >= :attempts OR elapsed >= make_interval(secs => :elapsed_seconds))
            AND (code IS DISTINCT FROM 'worker_lost' OR alone) AS is_spent
        FROM held
    ) judged
),
moved AS (
    UPDATE jobs j
    SET state = f.state,
        worker_id = NULL, lease_until = NULL, sent_at = NULL, delivery_id = NULL,
        attempt = j.attempt - CASE WHEN f.refund THEN 1 ELSE 0 END,
        elapsed_spent = CASE
            WHEN f.refund AND f.code = 'index_unavailable' THEN j.elapsed_spent  -- no clock runs in an outage
            WHEN f.state = 'retry_wait' THEN f.elapsed + f.delay
            ELSE f.elapsed
        END,
        due_at = CASE WHEN f.state = 'retry_wait' THEN clock_timestamp() + f.delay ELSE j.due_at END,
        alone = j.alone OR f.outcome IN ('retry_later', 'lease_lost', 'rejected'),
        finished_at = CASE WHEN f.state IN ('succeeded', 'superseded') THEN clock_timestamp() END
    FROM fate f
    WHERE j.job_id = f.job_id
    RETURNING j.job_id, j.document_id, j.input_version, j.state, j.due_at, j.partition, j.priority, j.collection_id
),
history AS (
    UPDATE attempts a
    SET ended_at = clock_timestamp(), outcome = f.outcome, code = f.code, message = f.message,
        load_ms = f.load_ms, extract_ms = f.extract_ms, store_ms = f.store_ms, publish_ms = f.publish_ms
    FROM fate f
    WHERE a.job_id = f.job_id AND a.generation = f.generation
),
document AS (
    UPDATE documents d
    SET published_version = CASE WHEN f.state = 'succeeded' THEN f.input_version ELSE d.published_version END,
        published_at = CASE WHEN f.state = 'succeeded' THEN clock_timestamp() ELSE d.published_at END,
        text_flaw = CASE
            WHEN f.state = 'succeeded'
            THEN (SELECT nullif(r.text_quality, 'ok') FROM results r WHERE r.result_id = f.result_id)
            ELSE d.text_flaw
        END,
        suspect = CASE f.outcome WHEN 'published' THEN false WHEN 'handed_back' THEN d.suspect ELSE true END
    FROM fate f
    WHERE d.document_id = f.document_id
),
version AS (
    UPDATE versions v
    SET result_id = f.result_id
    FROM fate f
    WHERE v.document_id = f.document_id AND v.input_version = f.input_version AND f.result_id IS NOT NULL
),
needs_a_person AS (
    INSERT INTO quarantine (job_id, code, message, owner, last_attempt)
    SELECT f.job_id,
           CASE
               WHEN f.outcome = 'superseded' THEN 'index_ahead'
               WHEN f.outcome = 'rejected' OR f.code = ANY(CAST(:failures AS text[])) THEN f.code
               ELSE 'handler_error'
           END,
           coalesce(f.message, 'The index has a newer version than the database.'),
           coalesce(c.owner, :owner), clock_timestamp()
    FROM fate f JOIN collections c USING (collection_id)
    WHERE f.state = 'quarantined'
    ON CONFLICT (job_id) DO UPDATE
    SET code = EXCLUDED.code, message = EXCLUDED.message, last_attempt = EXCLUDED.last_attempt,
        quarantined_at = clock_timestamp(), resolved_at = NULL, note = NULL
),
resolved AS (
    UPDATE jobs j
    SET state = 'resolved', finished_at = clock_timestamp()
    FROM fate f
    WHERE f.state = 'succeeded' AND j.document_id = f.document_id AND j.input_version < f.input_version
      AND j.state = 'quarantined'
    RETURNING j.job_id
),
closed AS (
    UPDATE quarantine q
    SET resolved_at = clock_timestamp(), note = 'A newer version succeeded.'
    FROM resolved r
    WHERE q.job_id = r.job_id
),
announced AS (
    INSERT INTO outbox (job_id, partition, priority, collection_id, bytes, due_at)
    SELECT job.job_id, job.partition, job.priority, job.collection_id, coalesce(c.size, 0), job.due_at
    FROM (
        SELECT job_id, document_id, input_version, partition, priority, collection_id, due_at
        FROM moved
        WHERE state IN ('queued', 'retry_wait')
        UNION ALL
        SELECT w.job_id, w.document_id, w.input_version, w.partition, w.priority, w.collection_id, w.due_at
        FROM moved m
        JOIN jobs w ON w.document_id = m.document_id AND w.state IN ('queued', 'retry_wait')
    ) job
    JOIN versions v ON v.document_id = job.document_id AND v.input_version = job.input_version
    LEFT JOIN contents c ON c.sha256 = v.sha256
    ON CONFLICT (job_id) DO UPDATE SET due_at = EXCLUDED.due_at, claim = NULL, claimed_until = NULL
)
SELECT job_id, state FROM moved
