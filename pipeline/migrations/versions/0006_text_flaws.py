"""See 0006_text_flaws.sql."""

from pipeline.schema import run_file

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run_file("0006_text_flaws.sql")
