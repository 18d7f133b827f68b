-- What is wrong with the published text of a document, if anything: kept beside the document, so that a list of scans is
-- read from its index, newest first, whatever there is besides.
ALTER TABLE documents ADD COLUMN text_flaw text
    CHECK (text_flaw IN ('no_text', 'truncated', 'partial', 'text_unreliable'));
UPDATE documents d
SET text_flaw = r.text_quality
FROM results r JOIN versions v USING (result_id)
WHERE r.text_quality <> 'ok' AND v.document_id = d.document_id AND v.input_version = d.published_version;
CREATE INDEX documents_text_flaw ON documents (text_flaw, created_at DESC, document_id DESC)
    WHERE text_flaw IS NOT NULL;
