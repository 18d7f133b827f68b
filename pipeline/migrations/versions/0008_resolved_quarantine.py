"""See 0008_resolved_quarantine.sql."""

from pipeline.schema import run_file

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run_file("0008_resolved_quarantine.sql")
