"""The pages in a real browser: what they show, that they stay live, and what their buttons do."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from pipeline import breaker, outbox, quarantine
from pipeline.outcomes import Rejected, RetryLater
from pipeline.settings import Budget
from tests.support.rows import OperatedWorld

pytestmark = pytest.mark.browser

BROKEN = Rejected("corrupt", "The file ends in the middle.")


def card(page: Page, name: str) -> Locator:
    return page.locator(".card", has=page.get_by_text(name, exact=True))


def refuse(world: OperatedWorld) -> None:
    """Makes the broker refuse everything that is due, for good."""
    settings = world.settings.model_copy(update={"budget": Budget(publications=1)})
    with world.engine.begin() as connection:
        for delivery in outbox.claim(connection, settings).deliveries:
            outbox.refuse(connection, delivery, settings, error="wrong type")


# -- Overview ----------------------------------------------------------------------------------------------------------


def test_the_overview_is_calm_when_all_is_well(visit: Page, world: OperatedWorld) -> None:
    world.attempt(world.job_of("a.pdf"))

    visit.goto("/")

    expect(visit.get_by_text("All is well.")).to_be_visible()
    expect(card(visit, "Published").locator(".value")).to_have_text("1")
    expect(card(visit, "Accepted minus finished").locator(".value")).to_have_text("0")


def test_the_overview_changes_by_itself(visit: Page, world: OperatedWorld) -> None:
    visit.goto("/")
    visit.evaluate("window.stays = true")

    world.job_of("a.pdf")

    expect(card(visit, "Waits to be sent").locator(".value")).to_have_text("1")
    expect(card(visit, "Queued").locator(".value")).to_have_text("1", timeout=15_000)
    assert visit.evaluate("window.stays"), "it was not loaded anew"


def test_what_did_not_change_is_not_touched(visit: Page, world: OperatedWorld) -> None:
    visit.goto("/")
    visit.evaluate("document.querySelector('[data-part=partitions] .tile').id = 'mine'")
    before = card(visit, "Oldest in the queue").locator(".value").text_content()

    world.job_of("a.pdf")
    world.execute("DELETE FROM outbox")
    world.execute("UPDATE jobs SET partition = 9, sent_at = now()")

    expect(card(visit, "Oldest in the queue").locator(".value")).not_to_have_text(str(before))
    assert visit.locator("#mine").count() == 1


def test_the_overview_goes_red_and_says_why(visit: Page, world: OperatedWorld) -> None:
    job_id = world.job_of("a.pdf")
    world.take(job_id)
    visit.goto("/")
    expect(visit.locator(".verdict.bad")).to_have_count(0)

    world.age("jobs", "lease_until", timedelta(minutes=1))

    expect(visit.locator(".verdict.bad")).to_contain_text("1 lease ran out")
    expect(card(visit, "Expired leases")).to_have_class("card bad")
    expect(visit).to_have_title("(1) Overview · Fencepost")
    visit.get_by_role("link", name="1 lease ran out").click()
    expect(visit.get_by_role("row", name="a.pdf")).to_contain_text("went silent")


def test_the_overview_is_red_without_workers(visit: Page, world: OperatedWorld) -> None:
    world.job_of("a.pdf")
    world.age("processes", "heartbeat_at", timedelta(minutes=1), "kind = 'worker'")

    visit.goto("/")

    expect(visit.locator(".verdict.bad")).to_contain_text("No worker is running.")
    expect(visit.locator(".tile.bad")).to_contain_text("no worker")


def test_a_lost_version_is_told(visit: Page, world: OperatedWorld) -> None:
    world.job_of("a.pdf")
    world.execute("DELETE FROM jobs")

    visit.goto("/")

    expect(visit.locator(".verdict.bad")).to_contain_text("differ by 1")


def test_an_open_breaker_is_told(visit: Page, world: OperatedWorld) -> None:
    with world.engine.begin() as connection:
        breaker.trip(connection, "broker", reason="Connection refused.")

    visit.goto("/")

    expect(visit.locator(".verdict.bad")).to_contain_text(
        re.compile(r"The broker is away since .*: Connection refused\.")
    )


def test_a_paused_index_is_told_with_its_reason_and_since_when(visit: Page, world: OperatedWorld) -> None:
    document = world.file("a.pdf").document_id
    with world.engine.begin() as connection:
        breaker.trip(
            connection, "index", reason="The index is read-only (disk); free space on the nodes of OpenSearch."
        )
    world.age("breakers", "opened_at", timedelta(minutes=12))

    visit.goto("/")

    told = visit.locator(".verdict.bad")
    expect(told).to_contain_text(re.compile(r"Publishing is paused since (\S+ )?\d\d:\d\d UTC: the index is read-only"))
    expect(told).to_contain_text("Uploads are accepted and wait.")
    visit.goto(f"/documents/{document}")
    expect(visit.locator("main")).to_contain_text("publishing is paused: the index is read-only (disk)")


def test_missing_capacity_is_told(visit: Page, world: OperatedWorld) -> None:
    """60 a minute, 10 s each, and 3 slots."""
    world.attempt(world.job_of("a.pdf"))
    world.age("attempts", "started_at", timedelta(seconds=10))
    world.execute("""
        INSERT INTO jobs (document_id, collection_id, input_version, operation, partition, priority, state, finished_at)
        SELECT gen_random_uuid(), 1, 1, 'index', 0, 1, 'superseded', now() FROM generate_series(2, 900)
    """)

    visit.goto("/")

    expect(card(visit, "Slots needed").locator(".value")).to_have_text("10")
    expect(card(visit, "Slots there")).to_contain_text("short by 7")


@pytest.mark.parametrize(
    ("name", "heading"),
    [("Queued", "Jobs"), ("Retrying", "Jobs"), ("Needs a person", "Quarantine"), ("Published", "Jobs"),
     ("Refused by the broker", "Outbox"), ("Workers", "Workers and other processes")],
)  # fmt: skip
def test_a_number_leads_to_the_rows_behind_it(visit: Page, world: OperatedWorld, name: str, heading: str) -> None:
    world.attempt(world.job_of("needs a person.txt"), BROKEN)
    world.attempt(world.job_of("retrying.txt"), RetryLater("busy", "Busy."))
    world.attempt(world.job_of("published.txt"))
    world.job_of("queued.txt")
    visit.goto("/")

    card(visit, name).click()

    expect(visit.get_by_role("heading", level=1)).to_have_text(heading)
    if heading in {"Jobs", "Quarantine"}:
        expect(visit.locator("main")).to_contain_text(f"{name.lower()}.txt")
        expect(visit.locator("main [data-part] a", has_text=".txt")).to_have_count(1)


# -- Documents ---------------------------------------------------------------------------------------------------------


DROP = """
name => {
  const files = new DataTransfer();
  files.items.add(new File(["some words"], name, {type: "text/plain"}));
  document.querySelector("h1").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true}));
}
"""


def test_a_dropped_file_tells_its_state_until_it_is_published(visit: Page, world: OperatedWorld) -> None:
    visit.goto("/documents")

    visit.evaluate(DROP, "dropped.txt")

    upload = visit.locator("#uploads li", has_text="dropped.txt")
    expect(upload.locator(".state")).to_have_text("queued")
    expect(upload).to_contain_text("1st in partition 0, about to be sent")
    (job,) = world.rows("SELECT job_id FROM jobs")
    world.attempt(job["job_id"])
    expect(upload.locator(".state")).to_have_text("published")
    expect(visit.locator("[data-part=documents]").get_by_role("row", name="dropped.txt")).to_contain_text("published")
    upload.get_by_role("link").click()
    expect(visit.get_by_text("Version 1 is searchable")).to_be_visible()


def test_chosen_files_are_uploaded_into_the_collection(visit: Page, world: OperatedWorld) -> None:
    visit.goto("/documents")
    visit.get_by_label("Into the collection").fill("notes")

    visit.get_by_label("Files").set_input_files(
        [{"name": f"{n}.txt", "mimeType": "text/plain", "buffer": b"words %d" % n} for n in range(5)]
    )

    expect(visit.locator("#uploads li .state", has_text="queued")).to_have_count(5)
    names = world.rows("SELECT c.name FROM documents JOIN collections c USING (collection_id)")
    assert [row["name"] for row in names] == ["notes"] * 5


def test_files_chosen_before_the_script_has_arrived_are_uploaded(visit: Page, world: OperatedWorld) -> None:  # noqa: ARG001 - makes the rows
    scripts: list[Route] = []

    def hold(script: Route) -> None:
        scripts.append(script)

    visit.route("**/static/page.js", hold)
    visit.goto("/documents", wait_until="commit")
    visit.get_by_label("Files").set_input_files({"name": "early.txt", "mimeType": "text/plain", "buffer": b"words"})

    scripts[0].continue_()

    expect(visit.locator("#uploads li", has_text="early.txt").locator(".state")).to_have_text("queued")


def test_a_refused_upload_says_why(visit: Page, world: OperatedWorld) -> None:  # noqa: ARG001 - makes the rows
    visit.goto("/documents")
    visit.evaluate("document.querySelector('#upload [name=collection]').value = 'no/such name'")

    visit.evaluate(DROP, "dropped.txt")

    upload = visit.locator("#uploads li", has_text="dropped.txt")
    expect(upload.locator(".state")).to_have_text("refused")
    expect(upload.locator(".why")).not_to_be_empty()


def test_a_failed_version_leaves_the_old_one_searchable_and_says_so(visit: Page, world: OperatedWorld) -> None:
    document = world.file("report.pdf")
    assert document.job_id is not None
    world.attempt(document.job_id)
    second = world.reindex(document.document_id)
    assert second.job_id is not None
    world.attempt(second.job_id, BROKEN)

    visit.goto(f"/documents/{document.document_id}")

    expect(visit.locator(".verdict.bad")).to_contain_text("Version 1 is searchable.")
    expect(visit.locator(".verdict.bad")).to_contain_text(
        "Version 2 failed: The file ends in the middle. Open and save"
    )


def test_a_partition_leads_to_its_jobs(visit: Page, world: OperatedWorld) -> None:
    world.job_of("queued.txt")
    visit.goto("/")

    visit.get_by_role("link", name="Partition 0").click()

    expect(visit.get_by_text("Only those of partition 0")).to_be_visible()
    expect(visit.locator("tbody tr")).to_have_count(1)


def test_a_document_is_reindexed_and_deleted(visit: Page, world: OperatedWorld) -> None:
    document = world.file("report.pdf")
    assert document.job_id is not None
    world.attempt(document.job_id)
    visit.goto(f"/documents/{document.document_id}")

    visit.get_by_role("button", name="Reindex").click()
    expect(visit.get_by_text("Version 2 is queued")).to_be_visible()

    visit.once("dialog", lambda dialog: dialog.accept())
    visit.get_by_role("button", name="Delete").click()
    expect(visit.get_by_text("Version 3 (a delete) is queued")).to_be_visible()
    assert world.document(document.document_id)["deleted"]


def test_a_name_is_text_and_never_markup(visit: Page, world: OperatedWorld) -> None:
    name = "<img src=x onerror=alert(1)>.txt"
    document = world.file(name, metadata={"<b>": "<script>alert(1)</script>"})

    for path in ("/documents", f"/documents/{document.document_id}", "/jobs", f"/jobs/{document.job_id}"):
        visit.goto(path)
        expect(visit.locator("main")).to_contain_text(name)
        assert visit.locator("main img, main script").count() == 0


def test_lists_go_on_to_the_next_page(visit: Page, world: OperatedWorld) -> None:
    for n in range(51):
        world.job_of(f"number {n}.txt")
    for path in ("/documents", "/jobs"):
        visit.goto(path)
        expect(visit.locator("tbody tr")).to_have_count(50)

        visit.get_by_role("link", name="Next page").click()

        expect(visit.locator("tbody tr")).to_have_count(1)
        expect(visit.locator("tbody tr")).to_contain_text("number 0.txt")


# -- Quarantine and outbox ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("button", "version"), [("Replay", 1), ("Replay as new version", 2)])
def test_a_quarantined_job_is_replayed(visit: Page, world: OperatedWorld, button: str, version: int) -> None:
    world.attempt(world.job_of("a.pdf"), BROKEN)
    visit.goto("/quarantine")
    expect(visit.get_by_role("article")).to_contain_text("The file ends in the middle.")

    visit.get_by_role("button", name=button, exact=True).click()

    expect(visit.get_by_text("Nothing needs a person.")).to_be_visible()
    assert world.row("SELECT input_version FROM jobs WHERE state = 'queued'")["input_version"] == version
    world.check()


def test_a_job_is_dismissed_with_a_note_that_no_refresh_eats(visit: Page, world: OperatedWorld) -> None:
    world.attempt(world.job_of("a.pdf"), BROKEN)
    visit.goto("/quarantine")
    note = visit.get_by_label("Why dismiss")
    note.press_sequentially("Nobody needs it.")
    world.attempt(world.job_of("b.pdf"), BROKEN)
    with visit.expect_response(lambda answer: answer.url.endswith("/quarantine")):
        pass

    expect(note).to_have_value("Nobody needs it.")
    visit.get_by_role("button", name="Dismiss").click()

    expect(visit.get_by_role("heading", name="a.pdf")).to_have_count(0)
    expect(visit.get_by_role("heading", name="b.pdf")).to_be_visible()
    assert world.row("SELECT note FROM quarantine WHERE note IS NOT NULL")["note"] == "Nobody needs it."


def test_what_was_resolved_is_listed_with_how(visit: Page, world: OperatedWorld) -> None:
    dismissed, again = world.job_of("a.pdf"), world.job_of("b.pdf")
    world.attempt(world.job_of("waits.pdf"), BROKEN)
    for job_id in (dismissed, again):
        world.attempt(job_id, BROKEN)
    with world.engine.begin() as connection:
        quarantine.dismiss(connection, [dismissed], note="Nobody needs it.")
        quarantine.replay(connection, [again], as_new_version=False, settings=world.settings)
    visit.goto("/quarantine")
    expect(visit.get_by_role("article")).to_contain_text("waits.pdf")

    visit.get_by_label("State").select_option("resolved")
    visit.get_by_role("button", name="Show").click()

    expect(visit.get_by_role("article")).to_have_count(2)
    newest, older = visit.get_by_role("article").all()
    expect(newest).to_contain_text(re.compile(r"b.pdf.*Resolved .* ago: Replayed. It is queued now.", re.DOTALL))
    expect(older).to_contain_text(re.compile(r"a.pdf.*Resolved .* ago: Nobody needs it.\s+Version 1", re.DOTALL))
    expect(visit.locator("main article button")).to_have_count(0)
    visit.get_by_label("Owner").fill("mary")
    visit.get_by_role("button", name="Show").click()
    visit.get_by_role("link", name="Show all").click()
    expect(visit.get_by_role("article")).to_have_count(2)


def test_an_owner_is_assigned_with_the_keyboard_alone(visit: Page, world: OperatedWorld) -> None:
    world.attempt(world.job_of("a.pdf"), BROKEN)
    visit.goto("/quarantine")
    visit.get_by_role("article").get_by_label("Owner").focus()
    visit.keyboard.type("mary")
    visit.keyboard.press("Enter")
    expect(visit.get_by_role("article")).to_contain_text("owner mary")
    expect(visit.get_by_role("button", name="Assign")).to_be_focused()


def test_a_refusal_is_told_beside_the_button(visit: Page, world: OperatedWorld) -> None:
    job_id = world.job_of("a.pdf")
    world.attempt(job_id, BROKEN)
    visit.goto("/quarantine")
    visit.get_by_label("Owner").last.press_sequentially("x")  # keeps the part as it is

    world.execute("UPDATE jobs SET state = 'resolved', finished_at = now()")
    visit.get_by_role("button", name="Replay", exact=True).click()

    expect(visit.get_by_role("article")).to_contain_text("is resolved, not quarantined")


def test_all_with_one_reason_are_replayed(visit: Page, world: OperatedWorld) -> None:
    for n in range(3):
        world.attempt(world.job_of(f"{n}.pdf"), BROKEN)
    world.attempt(world.job_of("empty.pdf"), Rejected("empty_file", "No bytes."))
    visit.goto("/quarantine")
    visit.get_by_label("Reason").select_option("corrupt")
    visit.get_by_role("button", name="Show").click()
    visit.once("dialog", lambda dialog: dialog.accept())

    visit.get_by_role("button", name="Replay all with this reason").click()

    expect(visit.get_by_text("Nothing in quarantine matches.")).to_be_visible()
    assert len(world.rows("SELECT FROM jobs WHERE state = 'queued'")) == 3


def test_refused_messages_are_released(visit: Page, world: OperatedWorld) -> None:
    for n in range(3):
        world.job_of(f"{n}.txt")
    refuse(world)
    visit.goto("/outbox")
    expect(visit.locator("tbody tr")).to_have_count(3)

    visit.get_by_role("button", name="Release", exact=True).first.click()
    expect(visit.locator("tbody tr")).to_have_count(2)
    visit.get_by_role("button", name="Release all").click()
    expect(visit.get_by_text("The broker refuses nothing.")).to_be_visible()
    assert world.row("SELECT count(*) AS n FROM outbox WHERE exhausted")["n"] == 0


def test_workers_tell_what_they_hold(visit: Page, world: OperatedWorld) -> None:
    job_id = world.job_of("a.pdf")
    world.take(job_id)

    visit.goto("/workers")

    row = visit.get_by_role("row", name=f"host-{world.worker_id}")
    expect(row).to_contain_text(str(job_id)[-12:])
    row.get_by_role("link").click()
    expect(visit.locator(".verdict")).to_contain_text(
        re.compile(rf"In work: leased \d+ s ago by worker host-{world.worker_id}")
    )


def test_a_worker_that_reads_with_other_settings_is_told(visit: Page, world: OperatedWorld) -> None:
    visit.goto("/workers")
    expect(visit.locator(".verdict.warn")).to_have_count(0)

    world.execute("UPDATE processes SET reads_with = '{\"pages\": 7}' WHERE kind = 'worker'")

    expect(visit.locator(".verdict.warn")).to_contain_text("FENCEPOST_EXTRACT__PAGES is 7 there, 20,000 here")


# -- All pages ---------------------------------------------------------------------------------------------------------


def test_a_mistake_is_a_page(visit: Page) -> None:
    for path, status, sentence in (
        ("/documents/00000000-0000-0000-0000-000000000000", 404, "There is no document"),
        ("/jobs/x", 404, "There is no job x."),
        ("/jobs?state=lost", 422, "No job is ever in the state lost."),
        ("/jobs?cursor=x", 422, "cursor"),
    ):
        answer = visit.goto(path)
        assert answer is not None
        assert answer.status == status
        expect(visit.locator(".verdict.bad")).to_contain_text(sentence)


def test_a_server_that_is_away_is_told_and_forgotten_when_it_is_back(visit: Page) -> None:
    visit.goto("/")
    expect(visit.locator("#connection")).to_be_hidden()

    visit.context.set_offline(True)
    expect(visit.locator("#connection")).to_be_visible()
    visit.context.set_offline(False)
    expect(visit.locator("#connection")).to_be_hidden()
