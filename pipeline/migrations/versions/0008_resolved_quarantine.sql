-- What was resolved is listed newest first, too: a page of it must not read all of the last 90 days.
CREATE INDEX quarantine_resolved ON quarantine (quarantined_at, job_id) WHERE resolved_at IS NOT NULL;
