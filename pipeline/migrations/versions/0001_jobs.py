"""See 0001_jobs.sql."""

from pipeline.schema import run_file

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_file("0001_jobs.sql")
