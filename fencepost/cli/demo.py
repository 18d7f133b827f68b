"""`fencepost demo`: the whole stack, sample documents, searches with their answers, and where to look."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Data, Port, Search
from fencepost.cli.output import DONE, FAILED, complain, console, examples, print_json

if TYPE_CHECKING:
    from fencepost.client import Client
    from fencepost.samples import Question
    from pipeline.settings import Settings

COLLECTION = "samples"
SEARCHABLE_SECONDS = 10  # OpenSearch shows what was published within a second or two


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog=examples("demo", "demo --exit", "demo --search opensearch"))(demo)


def demo(
    leave: Annotated[bool, typer.Option("--exit", help="End after the searches instead of at Ctrl-C.")] = False,
    data: Data = None,
    port: Port = None,
    search: Search = None,
    as_json: AsJson = False,
) -> None:
    """Start everything, index the sample documents, search them, and say where the page is.

    Ends with 0 only if every sample was found on the expected page.
    """
    from fencepost.client import Client
    from fencepost.local import stack
    from fencepost.local.log import Log
    from pipeline.settings import load

    code = FAILED
    settings = load(search=search) if search else load()
    data = data or _default_data(settings)
    log = Log(sys.stderr)
    log.say("fencepost", f"starting with the data in {data}")
    running_stack = stack.running(settings, data, port, log=log)
    with suppress(KeyboardInterrupt), running_stack as running, Client(running.url) as client:
        failures = _index(client)
        answers = [] if failures else list(_answers(client))
        missing = [answer["query"] for answer in answers if not answer["found"]]
        code = DONE if answers and not missing else FAILED
        if as_json:
            print_json({"url": running.url, "failures": failures, "answers": answers})
        else:
            _tell(failures, answers, running.url)
        if not leave:
            running.wait()
    raise typer.Exit(code)


def _default_data(settings: "Settings") -> Path:
    """A folder for each backend: samples that were indexed before are not indexed again."""
    from fencepost.local import folder

    default = folder.default()
    name = f"{default.name}-demo"
    return default.with_name(f"{name}-opensearch" if settings.search_backend == "opensearch" else name)


def _index(client: "Client") -> list[str]:
    """Uploads the samples and waits for them; returns why any is not indexed."""
    from fencepost import samples

    failures = []
    for file in samples.files():
        names = {"collection": COLLECTION, "key": file.name, "filename": file.name, "wait": "60"}
        answer = client.upload(file, names=names)
        if answer["state"] != "succeeded":
            failure = answer.get("failure") or {"message": f"it is {answer['state']} after a minute."}
            failures.append(f"{file.name}: {failure['message']}")
    return failures


def _answers(client: "Client") -> Iterator[dict[str, Any]]:
    """Each question with its best hit, and whether the expected document was found on the expected page."""
    from fencepost import samples

    for question in samples.questions():
        yield _answer_in_time(client, question)


def _answer_in_time(client: "Client", question: "Question") -> dict[str, Any]:
    from fencepost.local.processes import wait_until

    answer: dict[str, Any] = {}

    def is_found() -> bool:
        answer.update(_answer(client, question))
        return bool(answer["found"])

    wait_until(is_found, SEARCHABLE_SECONDS, every=0.1)
    return answer


def _answer(client: "Client", question: "Question") -> dict[str, Any]:
    hits = client.get("/v1/search", q=question.query, collection=COLLECTION)["hits"]
    hit = next((hit for hit in hits if _is_expected(hit, question)), None)
    return {
        "query": question.query,
        "language": question.language,
        "expected": question.file,
        "page": question.page,
        "found": hit is not None,
        "hit": hit or (hits[0] if hits else None),
    }


def _is_expected(hit: dict[str, Any], question: "Question") -> bool:
    pages = [passage["page"] for passage in hit["passages"]]
    return hit["key"] == question.file and question.page in pages


def _tell(failures: list[str], answers: list[dict[str, Any]], url: str) -> None:
    from rich.text import Text

    from fencepost.cli.searching import show

    for failure in failures:
        complain(failure)
    for answer in answers:
        verdict = ("found", "green") if answer["found"] else ("NOT FOUND where expected", "bold red")
        console().print(
            Text(f"\nsearch {answer['query']}", style="bold cyan"),
            Text(f"  ({answer['language']}: {verdict[0]})", style=verdict[1]),
            sep="",
        )
        if answer["hit"] is not None:
            show(answer["hit"])
    found = sum(answer["found"] for answer in answers)
    typer.echo(f"\n{found} of {len(answers)} searches found what they should. The page is at {url}")
