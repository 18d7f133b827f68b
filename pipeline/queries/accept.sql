-- Adds one version to each document: version, job and outbox row at once; guard: under the document's lock.
WITH submitted AS (
    SELECT *
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
        document_id uuid, collection_id integer, input_version bigint, operation text, sha256 text, size bigint,
        title text, filename text, media_type text, metadata jsonb, partition smallint, priority smallint,
        alone boolean
    )
),
moved AS (
    UPDATE documents d
    SET input_version = s.input_version, deleted = (s.operation = 'delete')
    FROM submitted s
    WHERE d.document_id = s.document_id
),
version AS (
    INSERT INTO versions (document_id, input_version, operation, sha256, title, filename, media_type, metadata)
    SELECT document_id, input_version, operation, decode(sha256, 'hex'), title, filename, media_type, metadata
    FROM submitted
),
job AS (
    INSERT INTO jobs (document_id, collection_id, input_version, operation, partition, priority, alone)
    SELECT document_id, collection_id, input_version, operation, partition, priority, alone
    FROM submitted
    RETURNING job_id, document_id, partition, priority, collection_id
),
announced AS (
    INSERT INTO outbox (job_id, partition, priority, collection_id, bytes)
    SELECT j.job_id, j.partition, j.priority, j.collection_id, s.size
    FROM job j JOIN submitted s USING (document_id)
)
SELECT document_id, job_id FROM job
