"""How a search is narrowed on its page: what can be chosen, from its facets, and what was."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from indexer.extract import KINDS
from indexer.search.backend import Facets
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
    more: str


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

    def chosen(self) -> list[str]:
        """The kinds of SELECTS by which it is filtered."""
        return [kind for kind in SELECTS if self._first(kind)]

    def without(self, kind: str) -> "Narrowing":
        """The same search, not filtered by this kind."""
        return self._replace(filters=tuple(one for one in self.filters if not one.startswith(f"{kind}:")))

    def selects(self, facets: Mapping[str, Facets]) -> list[Select]:
        """What can be chosen instead or besides: for each kind, what the search has without its filter."""
        selects = [self._select(kind, facets.get(kind, _NOTHING)) for kind in SELECTS]
        return [select for select in selects if select.choices]

    def kept(self) -> list[str]:
        """The filters that no select shows as chosen."""
        shown = set(map(self._first, SELECTS))
        return [one for one in self.filters if one not in shown]

    def _first(self, kind: str) -> str:
        return next((one for one in self.filters if one.startswith(f"{kind}:")), "")

    def _select(self, kind: str, facets: Facets) -> Select:
        chosen = self._first(kind)
        counts = {facet.value: facet.count for facet in facets.values.get(kind, ())}
        if chosen:
            counts.setdefault(chosen.removeprefix(f"{kind}:"), 0)
        choices = [Choice(f"{kind}:{value}", _label(kind, value), count) for value, count in counts.items()]
        return Select(SELECTS[kind], choices, chosen, "+" if facets.capped else "")


_NOTHING = Facets({}, capped=False)


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
