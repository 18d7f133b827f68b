-- Notes the claim on outbox rows and the sending on their jobs; guard: rows locked by claim_outbox before.
-- The try counts from here, so that a relay that dies before it confirms has used one.
WITH delivery AS (
    SELECT * FROM unnest(CAST(:ids AS bigint[]), CAST(:jobs AS uuid[]), CAST(:deliveries AS uuid[]),
                         CAST(:partitions AS smallint[])) AS d (id, job_id, delivery_id, partition)
),
claimed AS (
    UPDATE outbox o
    SET partition = d.partition, claim = d.delivery_id, tries = o.tries + 1,
        claimed_until = clock_timestamp() + make_interval(secs => :claim_seconds)
    FROM delivery d
    WHERE o.id = d.id
)
UPDATE jobs j
SET partition = d.partition, sent_at = clock_timestamp(), delivery_id = d.delivery_id, sends = least(j.sends + 1, 1000)
FROM delivery d
WHERE j.job_id = d.job_id
