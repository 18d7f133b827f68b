"""`fencepost migrate`, also as a part of `fencepost up`: the schema first, then the search index."""

from dataclasses import dataclass

from sqlalchemy.exc import OperationalError

from fencepost.client import Unreachable
from indexer.adopting import Adopted, adopt
from indexer.search.backends import backend
from pipeline import schema
from pipeline.database import connect, reason
from pipeline.errors import IndexUnavailable
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Migrated:
    """The schema before and after, and the index that is searched from now on."""

    before: str | None
    after: str
    index: Adopted


def migrate(settings: Settings) -> Migrated:
    """Brings both to what this release and its settings need. Raises Unreachable when a server does not answer."""
    chosen = backend(settings)
    engine = connect(settings.direct_url, application="fencepost migrate")
    try:
        before, after = schema.migrate(engine)
        return Migrated(before, after, adopt(engine, chosen, settings))
    except OperationalError as error:
        raise Unreachable(f"The database cannot be used: {reason(error)}.") from None
    except IndexUnavailable as error:
        raise Unreachable(f"The search engine cannot be used: {error.message}") from None
    finally:
        engine.dispose()
