"""See 0005_languages.sql."""

from pipeline.schema import run_file

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run_file("0005_languages.sql")
