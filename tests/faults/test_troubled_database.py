"""PostgreSQL refuses one document, or goes away in the moment of an end: each attempt has an outcome of its own."""

import signal
from pathlib import Path

from fencepost.local.postgres import LocalPostgres
from pipeline.faults import Fault
from tests.faults.test_worker_faults import all_succeeded
from tests.support.stack import Stack
from tests.support.waiting import until
from tests.support.world import World

REFUSAL = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.key = 'bad' THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER refusal BEFORE INSERT OR UPDATE ON fencepost_1_1.entries FOR EACH ROW EXECUTE FUNCTION refuse();
"""


def test_one_that_cannot_be_published_takes_no_batch_along(world: World, stack: Stack) -> None:
    world.execute(REFUSAL)
    world.settings = world.settings.model_copy(update={"partitions": 1})
    for n in range(5):
        world.upload(f"words {n}", key=f"k{n}")
    bad = world.upload("bad words", key="bad").job_id
    for n in range(5, 10):
        world.upload(f"words {n}", key=f"k{n}")
    stack.start("relay", FENCEPOST_PARTITIONS="1")
    stack.start("worker", FENCEPOST_PARTITIONS="1")
    until(all_succeeded(world, 10), seconds=30, what="the end of the others")
    until(lambda: world.job(bad)["state"] == "retry_wait", what="the retry of the bad one")
    assert world.row("SELECT max(attempt) AS n FROM jobs")["n"] == 1
    attempt = world.row("SELECT code, message FROM attempts WHERE job_id = :job", job=bad)
    assert attempt["code"] == "handler_error"
    assert "not this one" in attempt["message"]
    world.execute("DROP TRIGGER refusal ON fencepost_1_1.entries")
    world.execute("UPDATE jobs SET due_at = now() WHERE state = 'retry_wait'")
    world.execute("UPDATE outbox SET due_at = now()")
    until(all_succeeded(world, 11), seconds=30, what="the end of the bad one")
    world.check()


def test_a_finish_is_repeated_when_postgresql_was_away_at_that_moment(
    world: World, stack: Stack, postgres: LocalPostgres
) -> None:
    job = world.upload("words").job_id
    stack.start("relay")
    worker = stack.start_armed(f"stop:{Fault.AFTER_PUBLISH_BEFORE_FINISH}", "worker")
    until(lambda: Path(f"/proc/{worker.pid}/stat").read_text().split()[2] == "T", seconds=30, what="the pause")
    postgres.restart()
    world.engine.dispose()
    worker.send_signal(signal.SIGCONT)
    until(all_succeeded(world, 1), seconds=30, what="the end")
    assert (world.job(job)["attempt"], world.job(job)["generation"]) == (1, 1)
    assert world.row("SELECT count(*) AS n FROM fencepost_1_1.passages")["n"] == 1
    world.check()
