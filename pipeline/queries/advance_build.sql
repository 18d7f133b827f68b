-- Leases the next documents of a build that walks over all of them, up to a number and a sum of bytes; guard: the
-- build's row is locked here, so that its cursor moves together with the rows that it leaves behind.
WITH build AS (
    SELECT build_id, cursor FROM builds WHERE build_id = :build_id AND phase = 'filling' AND walks AND NOT walked
    FOR NO KEY UPDATE
),
sized AS (
    SELECT d.document_id, coalesce(octet_length(s.passages), 0) AS bytes
    FROM (
        SELECT document_id, published_version FROM documents
        WHERE document_id > coalesce((SELECT cursor FROM build), '00000000-0000-0000-0000-000000000000')
          AND published_version > 0 AND EXISTS (SELECT FROM build)
        ORDER BY document_id
        LIMIT :most
    ) d
    JOIN versions v ON v.document_id = d.document_id AND v.input_version = d.published_version
    LEFT JOIN results s ON s.result_id = v.result_id
),
chosen AS (
    SELECT document_id FROM (SELECT document_id, sum(bytes) OVER (ORDER BY document_id) - bytes AS before FROM sized) s
    WHERE before < :most_bytes
),
moved AS (
    UPDATE builds b
    SET cursor = coalesce((SELECT document_id FROM chosen ORDER BY document_id DESC LIMIT 1), b.cursor),
        walked = NOT EXISTS (SELECT FROM chosen)
    FROM build
    WHERE b.build_id = build.build_id
)
INSERT INTO refills (build_id, document_id, generation, worker_id, lease_until)
SELECT :build_id, document_id, 1, :worker_id, clock_timestamp() + make_interval(secs => :lease_seconds) FROM chosen
ON CONFLICT (build_id, document_id) DO NOTHING
RETURNING document_id, generation, attempts
