"""See 0007_reading_settings.sql."""

from pipeline.schema import run_file

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run_file("0007_reading_settings.sql")
