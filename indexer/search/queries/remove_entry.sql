-- Forgets a document. Guard: the entry still has this very version, and is a tombstone or not as told.
DELETE FROM entries WHERE document_id = :document_id AND version = :version AND tombstone = :tombstone
