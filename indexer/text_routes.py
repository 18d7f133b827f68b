"""The route that shows a document's text, page by page and section by section, as it is searched."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from sqlalchemy import Connection, RowMapping, text

from indexer import results
from indexer.extract import Passage
from pipeline import cursors
from pipeline.database import MOST_BIGINT
from pipeline.errors import NotFound, no_document
from pipeline.problems import documented
from pipeline.requests import READS, Cursor, DocumentId, TheEngine

router = APIRouter(tags=["documents"], dependencies=[READS])


class PageShape(BaseModel):
    """The text of one page or, where headings are known, of a part of it. What has no pages has no number."""

    page: int | None
    text: str
    member: str | None = Field(None, description="The attachment or archive member that the page is of.")
    heading: str | None = Field(None, description="The path of headings that the text stands under.")


class TextShape(BaseModel):
    """The text of one version."""

    input_version: int
    pages: list[PageShape]
    next: str | None = Field(description="The cursor of the next pages.")


@router.get(
    "/v1/documents/{document_id}/text", summary="The text of a document by page", responses=documented(400, 404)
)
def document_text(
    document_id: DocumentId,
    engine: TheEngine,
    version: Annotated[int | None, Query(ge=1, le=MOST_BIGINT, description="The published one unless named.")] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=500, description="How many pages are told at once.")] = 50,
) -> TextShape:
    """Gives the stored extraction of the published version, or of the one that is named."""
    with engine.connect() as connection:
        return read_text(connection, document_id, version=version, cursor=cursor, limit=limit)


def read_text(
    connection: Connection, document_id: UUID, *, version: int | None, cursor: str | None, limit: int
) -> TextShape:
    """So many pages of a version, the published one unless named. Raises NotFound."""
    first = max(int((cursors.decode(cursor, (int,)) or (0,))[0]), 0)
    row = _version(connection, document_id, version)
    pages = list(by_page(results.read(connection, row["result_id"])))
    following = first + limit
    return TextShape(
        input_version=row["input_version"],
        pages=pages[first:following],
        next=cursors.encode(following) if following < len(pages) else None,
    )


def by_page(passages: Sequence[Passage]) -> Iterator[PageShape]:
    """The passages' text joined by page and heading, in reading order; a passage may go on over several pages."""
    for (member, page, heading), pieces in groupby(_pieces(passages), key=itemgetter(0, 1, 2)):
        yield PageShape(member=member, page=page, heading=heading, text="".join(words for *_, words in pieces))


def _pieces(passages: Sequence[Passage]) -> Iterator[tuple[str | None, int | None, str | None, str]]:
    for passage in passages:
        page, start = passage.page, 0
        for offset, next_page in passage.breaks:
            yield passage.member, page, passage.heading, passage.text[start:offset]
            page, start = next_page, offset
        yield passage.member, page, passage.heading, passage.text[start:]


def _version(connection: Connection, document_id: UUID, version: int | None) -> RowMapping:
    row: RowMapping | None = (
        connection.execute(
            text("""
                SELECT v.input_version, v.result_id
                FROM documents d
                LEFT JOIN versions v
                  ON v.document_id = d.document_id AND v.input_version = coalesce(:version, d.published_version)
                WHERE d.document_id = :id
            """),
            {"id": document_id, "version": version},
        )
        .mappings()
        .one_or_none()
    )
    if row is None:
        raise no_document(document_id)
    if row["result_id"] is None:
        raise NotFound(
            "no_text_yet", "This version has no stored text: it was not read yet, could not be, or is a delete."
        )
    return row
