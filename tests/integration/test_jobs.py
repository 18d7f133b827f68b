"""The life of a job, statement by statement."""

from datetime import timedelta

from pipeline.outcomes import LeaseLost, Published, Rejected, RetryLater
from pipeline.states import State
from tests.support.world import World


def test_an_upload_becomes_a_queued_job_with_an_outbox_row(world: World) -> None:
    accepted = world.upload(key="a", title="A")
    assert (accepted.input_version, accepted.unchanged, accepted.state) == (1, False, "queued")
    assert world.row("SELECT job_id FROM outbox")["job_id"] == accepted.job_id
    world.check()


def test_the_whole_way_to_succeeded(world: World) -> None:
    accepted = world.upload()
    (delivery,) = world.relay()
    assert delivery.jobs == (accepted.job_id,)
    (held,) = world.lease(*delivery.jobs)
    assert (held.generation, held.attempt) == (1, 1)
    assert world.finish(held) is State.SUCCEEDED
    assert world.document(accepted.document_id)["published_version"] == 1
    world.check()


def test_the_same_bytes_again_are_unchanged(world: World) -> None:
    first = world.upload("x", key="a", title="T")
    again = world.upload("x", key="a", title="T")
    assert (again.unchanged, again.input_version, again.job_id) == (True, 1, first.job_id)


def test_a_new_version_supersedes_the_waiting_one_and_its_outbox_row(world: World) -> None:
    first = world.upload("x", key="a")
    second = world.upload("y", key="a")
    assert second.input_version == 2
    assert world.job(first.job_id)["state"] == "superseded"
    assert [row["job_id"] for row in world.rows("SELECT job_id FROM outbox")] == [second.job_id]
    world.check()


def test_a_leased_version_is_left_to_finish_and_announces_the_waiting_one(world: World) -> None:
    first = world.upload("x", key="a")
    world.relay()
    (held,) = world.lease(first.job_id)
    second = world.upload("y", key="a")
    world.relay()
    assert world.lease(second.job_id) == [], "one lease a document"
    assert world.finish(held) is State.SUCCEEDED
    (delivery,) = world.relay()
    assert delivery.jobs == (second.job_id,)
    world.check()


def test_a_delete_supersedes_the_leased_version_too(world: World) -> None:
    first = world.upload("x", key="a")
    world.relay()
    (held,) = world.lease(first.job_id)
    gone = world.delete(first.document_id)
    assert world.job(first.job_id)["state"] == "superseded"
    assert world.finish(held) is None, "the late worker changes nothing"
    (delete,) = world.lease(gone.job_id)
    assert world.finish(delete) is State.SUCCEEDED
    world.check()


def test_a_passing_failure_waits_with_backoff_and_travels_alone(world: World) -> None:
    accepted = world.upload()
    world.relay()
    (held,) = world.lease(accepted.job_id)
    assert world.finish(held, RetryLater("handler_error", "oops")) is State.RETRY_WAIT
    job = world.job(accepted.job_id)
    assert job["alone"]
    delay = world.row("SELECT due_at - clock_timestamp() AS delay FROM jobs")["delay"]
    assert timedelta(seconds=4) < delay < timedelta(seconds=7.5)
    assert world.relay() == (), "not due yet"
    assert world.lease(accepted.job_id) == [], "not due yet"
    world.check()


def test_a_failure_while_a_newer_version_waits_is_superseded(world: World) -> None:
    first = world.upload("x", key="a")
    world.relay()
    (held,) = world.lease(first.job_id)
    world.upload("y", key="a")
    assert world.finish(held, RetryLater("handler_error", "oops")) is State.SUPERSEDED
    world.check()


def test_a_spent_budget_quarantines_with_reason_and_owner(world: World) -> None:
    accepted = world.upload()
    world.execute("UPDATE jobs SET attempt = 7")
    world.relay()
    (held,) = world.lease(accepted.job_id)
    assert world.finish(held, RetryLater("handler_error", "oops")) is State.QUARANTINED
    row = world.row("SELECT * FROM quarantine")
    assert (row["code"], row["message"], row["owner"]) == ("handler_error", "oops", "operators")


def test_losing_the_worker_quarantines_only_after_a_loss_while_alone(world: World) -> None:
    accepted = world.upload()
    world.execute("UPDATE jobs SET attempt = 7")
    (held,) = world.lease(accepted.job_id)
    assert world.finish(held, LeaseLost("worker_lost", "died")) is State.QUEUED
    (held,) = world.lease(accepted.job_id)
    assert held.alone
    assert world.finish(held, LeaseLost("worker_lost", "died")) is State.QUARANTINED


def test_a_newer_success_resolves_the_quarantined_version(world: World) -> None:
    first = world.upload("x", key="a")
    (held,) = world.lease(first.job_id)
    assert world.finish(held, Rejected("corrupt", "broken")) is State.QUARANTINED
    second = world.upload("y", key="a")
    (held,) = world.lease(second.job_id)
    assert world.finish(held, Published()) is State.SUCCEEDED
    assert world.job(first.job_id)["state"] == "resolved"
    world.check()


def test_a_hand_back_burns_no_attempt_and_keeps_the_generation(world: World) -> None:
    accepted = world.upload()
    (held,) = world.lease(accepted.job_id)
    assert world.finish(held, RetryLater("shutdown", "stopping", refund=True)) is State.QUEUED
    job = world.job(accepted.job_id)
    assert (job["attempt"], job["generation"]) == (0, 1)
    world.check()


def test_an_old_generation_ends_nothing(world: World) -> None:
    accepted = world.upload()
    (old,) = world.lease(accepted.job_id)
    assert world.finish(old, LeaseLost()) is State.QUEUED
    (new,) = world.lease(accepted.job_id)
    assert world.finish(old, Published()) is None
    assert world.job(accepted.job_id)["state"] == "leased"
    assert world.finish(new, Published()) is State.SUCCEEDED
