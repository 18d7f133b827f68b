"""`fencepost add`: files and folders become documents, several at a time."""

import json
import os
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Encoding, Url, checked, pairs, server
from fencepost.cli.output import FAILED, complain, console, examples, nothing, print_json

if TYPE_CHECKING:
    from fencepost.client import Client

IN_FLIGHT = 4


@dataclass(frozen=True, slots=True)
class Found:
    """A file to add, and the key that it gets."""

    path: Path
    key: str


@dataclass(slots=True)
class Tally:
    """What became of the files: the server's answers and the sentences of the failed ones."""

    documents: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, str]] = field(default_factory=list)

    def fail(self, found: Found, sentence: str, code: str = "unreadable") -> None:
        """Notes a failure."""
        self.failures.append({"path": str(found.path), "code": code, "message": sentence})

    def count(self, *, unchanged: bool) -> int:
        """How many were accepted, or were unchanged."""
        return sum(document["unchanged"] is unchanged for document in self.documents)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        epilog=examples(
            "add report.pdf --meta year=2026", "add ./papers --collection papers --wait", "add ./old --encoding cp1251"
        ),
    )(add)


def add(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", exists=True, help="Files and folders.")],
    collection: Annotated[
        str | None, typer.Option("--collection", "-c", metavar="NAME", help="Into this one instead of `default`.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="The key of a single file; else its path in the folder.")] = None,
    meta: Annotated[list[str] | None, typer.Option("--meta", metavar="K=V", help="Metadata; may be repeated.")] = None,
    encoding: Encoding = None,
    wait_for_all: Annotated[
        bool, typer.Option("--wait", help="Wait until all are indexed; say which are not.")
    ] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Upload files, and all files of folders; run it again to go on, or to update what has changed.

    A file that is already there is recognised by its key and bytes. Hidden files are passed over.
    """
    names = {"collection": collection} if collection else {}
    metadata = pairs(meta or [], option="--meta") | ({"encoding": checked(encoding)} if encoding else {})
    if metadata:
        names["metadata"] = json.dumps(metadata)
    files = [found for path in paths for found in gather(path)]
    if key is not None:
        if len(files) != 1:
            raise typer.BadParameter(f"names one document, but {len(files)} files are given", param_hint="--key")
        files = [Found(files[0].path, key)]
    if not files:
        raise nothing("there are no files in what you named.", as_json=as_json, empty=_answer(Tally()))
    with server(url) as client:
        tally = _upload_all(client, files, names, quiet=as_json)
        if wait_for_all:
            _wait_for_all(client, tally, quiet=as_json)
    _tell(tally, as_json=as_json)


def gather(path: Path) -> Iterator[Found]:
    """The file, or the files below the folder in order, each with its key."""
    if not path.is_dir():
        yield Found(path, _text(path.name))
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if not name.startswith(".") and file.is_file():
                yield Found(file, _text(file.relative_to(path).as_posix()))


def _text(name: str) -> str:
    """A file's name as text, also if it is no UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")


def _upload_all(client: "Client", files: list[Found], names: dict[str, str], *, quiet: bool) -> Tally:
    from rich.progress import track

    tally = Tally()
    with closing(_uploads(client, files, names)) as done:  # its threads end here, whatever is raised
        shown = done if quiet else track(done, "adding", total=len(files), console=console(stderr=True), transient=True)
        for found, upload in shown:
            _note(tally, found, upload)
    return tally


def _uploads(
    client: "Client", files: list[Found], names: dict[str, str]
) -> Generator[tuple[Found, Future[dict[str, Any]]], None, None]:
    """Uploads, a few at a time, as they end."""
    waiting = iter(files)
    with ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="upload") as pool:
        flying: dict[Future[dict[str, Any]], Found] = {}
        while True:
            while len(flying) < IN_FLIGHT and (found := next(waiting, None)) is not None:
                described = {**names, "key": found.key, "filename": _text(found.path.name)}
                flying[pool.submit(client.upload, found.path, names=described)] = found
            if not flying:
                return
            for upload in wait(flying, return_when=FIRST_COMPLETED).done:
                yield flying.pop(upload), upload


def _note(tally: Tally, found: Found, upload: Future[dict[str, Any]]) -> None:
    from fencepost.client import Answered

    try:
        tally.documents.append({"path": str(found.path), "key": found.key, **upload.result()})
    except Answered as error:
        tally.fail(found, str(error), error.code)
    except OSError as error:
        tally.fail(found, error.strerror or "cannot be read")


def _wait_for_all(client: "Client", tally: Tally, *, quiet: bool) -> None:
    """Looks at each document until its version is settled; in order, so that mostly the first look finds it."""
    from rich.progress import track

    documents = tally.documents
    shown = documents if quiet else track(documents, "indexing", console=console(stderr=True), transient=True)
    for document in shown:
        now = client.settled(document["document_id"], document["input_version"])
        overtaken = now["input_version"] > document["input_version"]
        document["state"] = "superseded" if overtaken else now["state"]
        if not overtaken and now["failure"] is not None:
            found = Found(Path(document["path"]), document["key"])
            tally.fail(found, f"{now['failure']['message']} {now['failure']['hint']}", now["failure"]["code"])


def _answer(tally: Tally) -> dict[str, Any]:
    return {
        "added": tally.count(unchanged=False),
        "unchanged": tally.count(unchanged=True),
        "failed": tally.failures,
        "documents": tally.documents,
    }


def _tell(tally: Tally, *, as_json: bool) -> None:
    answer = _answer(tally)
    if as_json:
        print_json(answer)
    else:
        for failure in tally.failures:
            complain(f"{failure['path']}: {failure['message']} ({failure['code']})")
        typer.echo(f"{answer['added']} added, {answer['unchanged']} unchanged, {len(tally.failures)} failed")
    if tally.failures:
        raise typer.Exit(FAILED)
