"""How a search is narrowed on its page: what can be chosen, from its facets, and what was."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from indexer.extract import KINDS
from indexer.search.backend import SearchPage
from pipeline.languages import language_name

SELECTS = {"language": "Language", "media_type": "Kind"}
_KIND_NAMES = {kind.media_type: kind.name for kind in KINDS.values()}


class Choice(NamedTuple):
    """A filter that can be chosen, and how many of the found documents it leaves."""

    filter: str
    label: str
    documents: int


class Select(NamedTuple):
    """The filters of one kind, of which at most one is chosen here."""

    label: str
    choices: list[Choice]
    chosen: str


class Chip(NamedTuple):
    """Something that was chosen, and the address of the same search without it."""

    kind: str
    label: str
    without: str


class Narrowing(NamedTuple):
    """What a search has beside its words. The filters are those of the API."""

    q: str
    collection: str
    filters: tuple[str, ...]

    def address(self, **more: str) -> str:
        """The address of this search."""
        fields = [("q", self.q), ("collection", self.collection), *(("filter", one) for one in self.filters)]
        return "/search?" + urlencode([pair for pair in (*fields, *more.items()) if pair[1]])

    def within(self, collection: str) -> str:
        """The address of the same search in one collection."""
        return self._replace(collection=collection).address()

    def chips(self) -> list[Chip]:
        """Everything that was chosen."""
        chips = [Chip("collection", self.collection, self.within(""))] if self.collection else []
        for one in self.filters:
            others = tuple(other for other in self.filters if other != one)
            kind, _, value = one.partition(":")
            chips.append(Chip(_kind_label(kind), _label(kind, value), self._replace(filters=others).address()))
        return chips

    def selects(self, found: SearchPage | None) -> list[Select]:
        """What can be chosen instead or besides."""
        facets = found.facets if found else {}
        made = (
            (label, kind, {facet.value: facet.count for facet in facets.get(kind, ())})
            for kind, label in SELECTS.items()
        )
        selects = [Select(label, list(self._choices(kind, counts)), self._first(kind)) for label, kind, counts in made]
        return [select for select in selects if select.choices]

    def kept(self) -> list[str]:
        """The filters that no select shows as chosen."""
        shown = set(map(self._first, SELECTS))
        return [one for one in self.filters if one not in shown]

    def _first(self, kind: str) -> str:
        return next((one for one in self.filters if one.startswith(f"{kind}:")), "")

    def _choices(self, kind: str, counts: Mapping[str, int]) -> Iterator[Choice]:
        chosen = self._first(kind)
        missing = [chosen.removeprefix(f"{kind}:")] if chosen else []
        for value, count in {**dict.fromkeys(missing, 0), **counts}.items():
            yield Choice(f"{kind}:{value}", _label(kind, value), count)


def narrowing(q: str, collection: str, filters: Sequence[str]) -> Narrowing:
    """What the address of a search page says; a select that is left alone says nothing."""
    return Narrowing(q, collection, tuple(dict.fromkeys(filter(None, filters))))


def kind_name(media_type: str) -> str:
    """What people call a media type: `docx`; one that is not read here stays as it is."""
    return _KIND_NAMES.get(media_type, media_type)


def _kind_label(kind: str) -> str:
    return SELECTS[kind].lower() if kind in SELECTS else kind.removeprefix("meta.")


def _label(kind: str, value: str) -> str:
    return {"language": language_name, "media_type": kind_name}.get(kind, str)(value)
