"""`fencepost extract`: what would be indexed of a file, without a server."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from fencepost.cli.options import AsJson
from fencepost.cli.output import FAILED, complain, console, examples, print_json


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog=examples("extract report.pdf", "extract letter.txt --json"))(extract)


def extract(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)], as_json: AsJson = False
) -> None:
    """Show the text, the passages and the pages that would be indexed of a file; nothing is stored."""
    answer = _extracted(file)
    if as_json:
        print_json(answer)
    elif "code" in answer:
        complain(f"{file}: {answer['message']} {answer['hint']} ({answer['code']})")
    else:
        _show(answer)
    if "code" in answer:
        raise typer.Exit(FAILED)


def _extracted(file: Path) -> dict[str, Any]:
    """The answer, by a killable child process as in a worker."""
    from indexer.extract import Request, choose_kind
    from indexer.extract.pool import ExtractionPool, limits, ocr
    from pipeline.errors import Permanent, Transient
    from pipeline.outcomes import failure
    from pipeline.settings import load

    settings = load().extract
    try:
        with ExtractionPool(settings) as pool:
            request = Request(file, filename=file.name, limits=limits(settings), ocr=ocr(settings))
            extraction = pool.submit(request, choose_kind(file, file.name)).result()
    except (Permanent, Transient) as error:
        return failure(error.code, error.message)
    passages = [asdict(passage) for passage in extraction.passages]
    pages = {passage["page"] for passage in passages} - {None}
    pages |= {page for passage in passages for _, page in passage["breaks"]}
    return {
        "text_quality": extraction.text_quality,
        "media_type": extraction.media_type,
        **{name: extraction.facts[name] for name in ("encoding",) if name in extraction.facts},
        "pages": len(pages),
        "facts": extraction.facts,
        "passages": [
            {
                "n": n,
                "page": passage["page"],
                **{name: passage[name] for name in ("member", "heading") if passage[name]},
                "text": passage["text"],
            }
            for n, passage in enumerate(passages, 1)
        ],
    }


def _show(answer: dict[str, Any]) -> None:
    facts = ", ".join(f"{name} {value}" for name, value in answer["facts"].items())
    typer.echo(f"{answer['media_type']}, {answer['text_quality']}, {answer['pages'] or 'no'} pages ({facts})")
    for passage in answer["passages"]:
        place = " · ".join(str(passage[name]) for name in ("page", "member", "heading") if passage.get(name))
        console().rule(f"passage {passage['n']}" + (f" · {place}" if place else ""), align="left", style="dim")
        typer.echo(passage["text"].rstrip())
