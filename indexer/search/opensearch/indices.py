"""Physical indexes in OpenSearch, and their aliases.

    fencepost ──────────▶ fencepost-3fa9c210-7 ◀────────── fencepost-3fa9c210-7-write
    (searches read this)                                   (publishing writes to this)

An index keeps the identity of its row in the registry, so that a namesake of another installation is not taken for it.
"""

from collections.abc import Collection
from uuid import UUID

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, RequestError

from indexer.search.opensearch import mapping
from indexer.search.opensearch.connection import explaining
from pipeline.errors import IndexUnavailable, NameTaken
from pipeline.indexes import PhysicalIndex
from pipeline.settings import OpenSearch as OpenSearchSettings


def write_alias(index: str) -> str:
    """The name that publishing uses: writing to it can never make an index."""
    return f"{index}-write"


def is_of_older_release(index: str) -> bool:
    """Whether an index was made under another mapping, which is a part of its name."""
    return f"-{mapping.FINGERPRINT}-" not in index


def create(client: OpenSearch, index: PhysicalIndex, settings: OpenSearchSettings) -> None:
    """Makes an empty index from the template; one that an earlier try has made is kept."""
    meta = {"fingerprint": index.fingerprint, "identity": str(index.identity)}
    body = {"aliases": {write_alias(index.name): {"is_write_index": True}}, "mappings": {"_meta": meta}}
    with explaining():
        client.indices.put_index_template(name=settings.prefix, body=mapping.template(settings))
        try:
            client.indices.create(index=index.name, body=body)
        except RequestError as error:
            if error.error != "resource_already_exists_exception":
                raise
    check_ours(client, index)


def make_live(client: OpenSearch, index: PhysicalIndex, alias: str, ours: Collection[UUID]) -> None:
    """Leads the alias of searches to this index and to no other, in one step. `ours` are all our identities."""
    check_ours(client, index)
    with explaining():
        if not client.indices.exists_alias(name=alias) and client.indices.exists(index=alias):
            raise NameTaken(f"OpenSearch has an index named {alias}; remove it, or set FENCEPOST_OPENSEARCH__PREFIX.")
        previous = _behind(client, alias)
        if foreign := [name for name in previous if _identity(client, name) not in set(map(str, ours))]:
            raise NameTaken(
                f"The alias {alias} leads to {', '.join(foreign)}, which belongs to another installation of Fencepost;"
                " set FENCEPOST_OPENSEARCH__PREFIX to a name of its own for each."
            )
        removals = [{"remove": {"index": name, "alias": alias}} for name in previous if name != index.name]
        addition = {"add": {"index": index.name, "alias": alias, "is_write_index": False}}
        client.indices.update_aliases(body={"actions": [*removals, addition]})


def drop(client: OpenSearch, index: PhysicalIndex) -> None:
    """Removes the index and its aliases, if it is there and ours."""
    with explaining():
        if _identity(client, index.name) is None:
            return
    check_ours(client, index)
    with explaining():
        client.indices.delete(index=index.name, ignore_unavailable=True)


def check_ours(client: OpenSearch, index: PhysicalIndex) -> None:
    """Raises NameTaken when an index of this name is not the one of the registry, IndexUnavailable when it is gone."""
    with explaining():
        identity = _identity(client, index.name)
    if identity is None:
        raise IndexUnavailable(f"The index {index.name} is not in OpenSearch.")
    if identity != str(index.identity):
        raise NameTaken(
            f"OpenSearch has an index {index.name} that is not ours; set FENCEPOST_OPENSEARCH__PREFIX to a name of"
            " its own for each installation, or remove the index."
        )


def fingerprint_of(client: OpenSearch, index: PhysicalIndex) -> str | None:
    """The fingerprint that an index keeps; None when it is gone or not ours."""
    with explaining():
        meta = _meta(client, index.name)
    return meta.get("fingerprint") if meta is not None and meta.get("identity") == str(index.identity) else None


def _identity(client: OpenSearch, name: str) -> str | None:
    """The identity that an index keeps, empty when it keeps none; None when there is no such index."""
    meta = _meta(client, name)
    return None if meta is None else meta.get("identity", "")


def _meta(client: OpenSearch, name: str) -> dict[str, str] | None:
    """What an index keeps about itself; None when there is none of this name."""
    try:
        found = client.indices.get_mapping(index=name)
    except NotFoundError as error:
        if error.error != "index_not_found_exception":  # somebody else's 404, as that of a proxy, says nothing of it
            raise
        return None
    return dict(found[name]["mappings"].get("_meta", {})) if name in found else {}


def _behind(client: OpenSearch, alias: str) -> list[str]:
    try:
        return sorted(client.indices.get_alias(name=alias))
    except NotFoundError:
        return []
