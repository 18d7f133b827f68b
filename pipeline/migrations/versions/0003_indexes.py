"""See 0003_indexes.sql."""

from pipeline.schema import run_file

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run_file("0003_indexes.sql")
