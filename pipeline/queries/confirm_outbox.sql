-- Forgets rows that the broker has; guard: the claim. A row that was announced anew meanwhile lost its claim and stays.
-- A locked row is being announced, superseded or claimed anew: skipped, so that this statement waits for nobody.
WITH sent AS (
    SELECT id FROM outbox
    WHERE id = ANY(CAST(:ids AS bigint[])) AND claim = ANY(CAST(:deliveries AS uuid[]))
    FOR UPDATE SKIP LOCKED
)
DELETE FROM outbox WHERE id IN (SELECT id FROM sent)
