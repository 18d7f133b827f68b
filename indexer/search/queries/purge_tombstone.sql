-- Forgets a deleted document. Guard: the entry still is the tombstone of this very version.
DELETE FROM entries WHERE document_id = :document_id AND version = :version AND tombstone
