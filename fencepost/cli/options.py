"""The options that several commands share, and what they lead to."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from fencepost.client import Client
    from pipeline.settings import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Url = Annotated[str | None, typer.Option("--url", metavar="URL", help="Where the server is; else it is looked for.")]
Collection = Annotated[str | None, typer.Option("--collection", "-c", metavar="NAME", help="Only of this collection.")]
Names = Annotated[list[str], typer.Argument(metavar="DOC", help="Ids or keys of documents.")]
Data = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="The folder that holds everything.")]
Port = Annotated[int | None, typer.Option("--port", min=0, max=65535, help="0 chooses a free one.")]
Search = Annotated[
    Literal["postgres", "opensearch"] | None,
    typer.Option("--search", help="Where documents are searched; else as at the last start."),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="The encoding of text, such as cp1251; else it is guessed."),
]
Name = Annotated[str, typer.Argument(metavar="DOC", help="The id or key of a document.")]


@contextmanager
def server(url: str | None) -> Iterator["Client"]:
    """A client of the server at --url, FENCEPOST_URL, or where `fencepost up` says that it is."""
    from fencepost.client import Client
    from pipeline.settings import check_web_address, load

    if url is not None:
        try:
            check_web_address(url)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--url") from None
    settings = load()
    with Client(url or _found_url(settings), settings.key) as client:
        yield client


def pairs(texts: list[str], *, option: str) -> dict[str, str]:
    """What k=v options say; raises a usage error."""
    split = [text.partition("=") for text in texts]
    for name, equals, _ in split:
        if not name or not equals:
            raise typer.BadParameter(f"write it as name=value, such as {option} year=2026", param_hint=option)
    return {name: value for name, _, value in split}


def checked(encoding: str) -> str:
    """The encoding, if there is one of that name; else a usage error."""
    from pipeline.encodings import known

    if not known(encoding):
        raise typer.BadParameter(
            f"there is no encoding {encoding!r}; write one such as cp1251", param_hint="--encoding"
        )
    return encoding


def _found_url(settings: "Settings") -> str:
    from fencepost.local import folder

    if "url" in settings.model_fields_set:
        return settings.url
    with suppress(OSError):
        return folder.address(folder.default()) or settings.url
    return settings.url
