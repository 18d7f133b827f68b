-- Writes the passages of entries. Guard: this transaction has just written their rows, and so holds them.
INSERT INTO passages (document_id, n, shelf_id, page, breaks, length, member, headings, body, tsv)
SELECT document_id, n, shelf_id, page, CAST(breaks AS integer[]), length, member, headings, body,
       to_tsvector('fencepost', words)
FROM unnest(CAST(:document_ids AS uuid[]), CAST(:ns AS integer[]), CAST(:shelf_ids AS integer[]),
            CAST(:pages AS integer[]), CAST(:breaks AS text[]), CAST(:lengths AS integer[]), CAST(:members AS text[]),
            CAST(:headings AS text[]), CAST(:bodies AS text[]), CAST(:words AS text[]))
     AS new (document_id, n, shelf_id, page, breaks, length, member, headings, body, words)
