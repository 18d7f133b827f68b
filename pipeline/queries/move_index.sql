-- Moves an index to its next state; guard: the exclusive lock on the list of targets, and one live and one new at most.
UPDATE search_indexes
SET state = :state,
    live_at = CASE WHEN :state = 'live' THEN clock_timestamp() ELSE live_at END,
    retired_at = CASE WHEN :state = 'retired' THEN clock_timestamp() ELSE retired_at END
WHERE index_id = :index_id
