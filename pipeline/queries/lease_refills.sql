-- Leases refills that are due and that nobody holds any more, up to a number of documents and of bytes; guard: the row
-- is locked here (SKIP LOCKED), and its generation grows, so that a late holder ends nothing.
WITH candidates AS (
    SELECT r.document_id
    FROM refills r LEFT JOIN processes p ON p.process_id = r.worker_id
    WHERE r.build_id = :build_id AND NOT r.failed AND r.due_at <= clock_timestamp()
      AND (r.lease_until IS NULL OR r.lease_until < clock_timestamp()
           OR p.process_id IS NULL OR p.lost_at IS NOT NULL OR p.ended_at IS NOT NULL)
    ORDER BY r.document_id
    LIMIT :most
    FOR UPDATE OF r SKIP LOCKED
),
sized AS (
    SELECT c.document_id, coalesce(octet_length(s.passages), 0) AS bytes
    FROM candidates c
    LEFT JOIN documents d ON d.document_id = c.document_id
    LEFT JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.published_version
    LEFT JOIN results s ON s.result_id = v.result_id
),
chosen AS (
    SELECT document_id FROM (SELECT document_id, sum(bytes) OVER (ORDER BY document_id) - bytes AS before FROM sized) s
    WHERE before < :most_bytes
)
UPDATE refills r
SET generation = generation + 1, worker_id = :worker_id,
    lease_until = clock_timestamp() + make_interval(secs => :lease_seconds)
FROM chosen c
WHERE r.build_id = :build_id AND r.document_id = c.document_id
RETURNING r.document_id, r.generation, r.attempts
