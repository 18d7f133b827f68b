"""Receives one upload, as a form or as a raw body, before any transaction is opened."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from starlette.requests import Request

from ingest.description import Description, describe
from ingest.multipart import MOST_OVERHEAD, Form
from ingest.spool import Spool, pour
from pipeline.settings import Upload


@asynccontextmanager
async def received(
    request: Request, names: Mapping[str, str | None], upload: Upload
) -> AsyncIterator[tuple[Description, Spool]]:
    """The description and the bytes of an upload; raises a Refusal. The bytes are gone when the block ends.

    `names` are the query's; a form's own fields come before them.
    """
    content_type = request.headers.get("content-type", "")
    length = int(request.headers.get("content-length", 0))
    with Spool(upload) as spool:
        if content_type.lower().startswith("multipart/form-data"):
            spool.check(length - MOST_OVERHEAD)
            form = Form(content_type, spool)
            await pour(request.stream(), form)
            form.end()
            description = describe({**names, **form.fields})
        else:
            spool.check(length)
            description = describe({**names, "media_type": content_type or None})
            await pour(request.stream(), spool)
        yield description, spool
