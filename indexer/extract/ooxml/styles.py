"""Which styles of a Word document are headings, and of which level, whatever the language they are named in."""

import re

from indexer.extract.markup import Beginnings
from indexer.extract.ooxml.names import in_full, local

TITLE = 0
"""The level of the document's title, above that of its first headings."""

_HEADING = re.compile(
    r"(?:heading|(?:ü|ue)?berschrift|titre|título|titulo|titolo|kop|rubrik|overskrift|otsikko|заголовок|nagłówek|nadpis"
    r"|címsor|başlık|標題|标题|見出し|제목)\s*([1-9])",  # noqa: RUF001 - Turkish is meant
    re.IGNORECASE,
)
_TITLES = frozenset({"title", "titel", "titre", "título", "titolo", "название", "标题", "標題", "表題", "제목"})
_ACTIONS = in_full({"w:style": "style", "w:name": "name", "w:basedOn": "based", "w:outlineLvl": "outline"})


class Styles(Beginnings):
    """Reads the part with the styles; a style inherits its level from the one that it is based on."""

    def __init__(self) -> None:
        self._id = ""
        self._own: dict[str, int | None] = {}
        self._names: dict[str, str] = {}
        self._bases: dict[str, str] = {}
        self._levels: dict[str, int | None] = {}

    def level(self, style: str) -> int | None:
        """The level of a heading in this style, None if it is none."""
        path: list[str] = []
        while style not in self._levels:
            path.append(style)
            self._levels[style] = self._own_level(style)  # found again, should the styles go round in a circle
            if style in self._own or self._levels[style] is not None or style not in self._bases:
                break
            style = self._bases[style]
        found = self._levels[style]
        self._levels.update(dict.fromkeys(path, found))
        return found

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        match _ACTIONS.get(name):
            case "style":
                self._id = local(attributes).get("styleId", "")
            case "name":
                self._names[self._id] = local(attributes).get("val", "")
            case "based":
                self._bases[self._id] = local(attributes).get("val", "")
            case "outline":
                self._own[self._id] = outline_level(attributes)

    def _own_level(self, style: str) -> int | None:
        if style in self._own:
            return self._own[style]
        name = self._names.get(style, style).strip().lower()
        if name in _TITLES:
            return TITLE
        found = _HEADING.fullmatch(name)
        return int(found[1]) if found else None


def outline_level(attributes: dict[str, str]) -> int | None:
    """The level that `w:outlineLvl` gives, where the first is 0; None for body text."""
    value = local(attributes).get("val", "").strip()
    return int(value) + 1 if len(value) == 1 and value in "012345678" else None
