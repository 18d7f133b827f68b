"""See 0002_search.sql."""

from pipeline.schema import run_file

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run_file("0002_search.sql")
