-- Notes that a key was used, at most once a minute; guard: the row's own age, and whoever notes it just now is passed by.
UPDATE api_keys
SET last_used_at = clock_timestamp()
WHERE key_id = (
    SELECT key_id FROM api_keys
    WHERE key_id = :key_id AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute')
    FOR NO KEY UPDATE SKIP LOCKED
)
