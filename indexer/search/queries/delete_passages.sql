-- Removes the passages of older versions. Guard: this transaction has just written their entries, and so holds them.
DELETE FROM passages WHERE document_id = ANY(CAST(:document_ids AS uuid[]))
