"""${message}"""

from pipeline.schema import run_file

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    run_file("${up_revision}_NAME.sql")
