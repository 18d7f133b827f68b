"""`fencepost extract`: what would be indexed of files, without a server."""

import json
import os
import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fencepost.cli.options import AsJson, Encoding, checked
from fencepost.cli.output import FAILED, complain, console, examples, place, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indexer.extract import Extraction, Request
    from indexer.extract.isolation.pool import ExtractionPool

STDIN = Path("-")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        epilog=examples(
            "extract report.pdf",
            "extract letter.txt --encoding cp1251 --text",
            "extract one.docx two.xlsx --json",
            "extract - --name mail.eml",
        )
    )(extract)


def extract(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="`-` is standard input.", callback=lambda files: [_readable(file) for file in files]
        ),
    ],
    encoding: Encoding = None,
    name: Annotated[str | None, typer.Option(help="What a single file is called; else as it is.")] = None,
    plain: Annotated[bool, typer.Option("--text", help="Print the text and nothing else.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the text, the passages and the pages that would be indexed of files; nothing is stored.

    Each is read as by a worker, with the limits and the OCR of the settings. With --json each of several is one line.
    The exit code is 1 if any cannot be read.
    """
    if name is not None and len(files) != 1:
        raise typer.BadParameter(f"names one file, but {len(files)} are given", param_hint="--name")
    if plain and as_json:
        raise typer.BadParameter("is something else than --json", param_hint="--text")
    failed = False
    with _reader(checked(encoding) if encoding else "") as read:
        for file in files:
            answer = read(file, name or ("" if file == STDIN else file.name))
            failed = failed or "code" in answer
            _tell(file, answer, plain=plain, as_json=as_json, one=len(files) == 1)
    if failed:
        raise typer.Exit(FAILED)


def _readable(file: Path) -> Path:
    """The file, if it can be read; else a usage error. `-` is never looked for."""
    if file != STDIN and not (file.is_file() and os.access(file, os.R_OK)):
        what = "is a folder" if file.is_dir() else "cannot be read" if file.exists() else "does not exist"
        raise typer.BadParameter(f"{file} {what}")
    return file


@contextmanager
def _reader(encoding: str) -> "Iterator[Callable[[Path, str], dict[str, Any]]]":
    """What reads a file by a killable child process, as in a worker."""
    from indexer.extract import Request
    from indexer.extract.allowance import limits, ocr
    from indexer.extract.isolation.pool import ExtractionPool
    from pipeline.errors import Permanent, Transient
    from pipeline.outcomes import failure
    from pipeline.settings import load

    settings = load().extract
    with ExtractionPool(settings) as pool:

        def read(file: Path, name: str) -> dict[str, Any]:
            content = sys.stdin.buffer.read() if file == STDIN else file
            request = Request(content, name, encoding=encoding, limits=limits(settings), ocr=ocr(settings))
            try:
                return _answer(name, _read(pool, request))
            except (Permanent, Transient) as error:
                return {"file": name, **failure(error.code, error.message)}

        yield read


def _read(pool: "ExtractionPool", request: "Request") -> "Extraction":
    """What a worker has in the end: what crashes is tried again."""
    from indexer.extract.isolation.deaths import Crashed

    try:
        return pool.submit(request).result()
    except Crashed:
        return pool.submit(request, crashed_before=True).result()


def _answer(name: str, extraction: "Extraction") -> dict[str, Any]:
    passages = [asdict(passage) for passage in extraction.passages]
    pages = {passage["page"] for passage in passages} - {None}
    pages |= {page for passage in passages for _, page in passage["breaks"]}
    return {
        "file": name,
        "text_quality": extraction.text_quality,
        "media_type": extraction.media_type,
        **{fact: extraction.facts[fact] for fact in ("encoding",) if fact in extraction.facts},
        "pages": extraction.facts.get("pages", len(pages)),
        "facts": extraction.facts,
        "passages": [
            {
                "n": n,
                "page": passage["page"],
                **{field: passage[field] for field in ("member", "heading") if passage[field]},
                "text": passage["text"],
            }
            for n, passage in enumerate(passages, 1)
        ],
    }


def _tell(file: Path, answer: dict[str, Any], *, plain: bool, as_json: bool, one: bool) -> None:
    if as_json and one:
        print_json(answer)
    elif as_json:
        typer.echo(json.dumps(answer, ensure_ascii=False))
    elif "code" in answer:
        complain(f"{'stdin' if file == STDIN else file}: {answer['message']} {answer['hint']} ({answer['code']})")
    elif plain:
        text = "".join(passage["text"] for passage in answer["passages"])
        typer.echo(text, nl=not text.endswith("\n"))
    else:
        _show(answer)


def _show(answer: dict[str, Any]) -> None:
    """The summary, what should be known of it, and the passages."""
    from pipeline.text_facts import NAMED, TextFacts

    facts = TextFacts.of(answer["text_quality"], answer["facts"])
    assert facts is not None  # noqa: S101 - it has a quality
    name, length = answer["file"] or "stdin", f"{facts.characters or 0:,} characters"
    typer.echo(f"{name}: {answer['media_type']}, {answer['text_quality']}, {length}")
    for sentence in facts.sentences:
        typer.echo(f"  {sentence}")
    for failed in facts.partial[NAMED:]:
        typer.echo(f"    {failed}")
    if facts.hint:
        typer.echo(f"  {facts.hint}")
    for passage in answer["passages"]:
        where = place(passage)
        console().rule(f"passage {passage['n']}" + (f" · {where}" if where else ""), align="left", style="dim")
        typer.echo(passage["text"].rstrip())
