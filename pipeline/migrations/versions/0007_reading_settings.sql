-- The settings that decide what text a worker makes of a document: others can tell that theirs are not the same.
ALTER TABLE processes ADD COLUMN reads_with jsonb;
