"""Names of elements, as a specification writes them (`w:p`) and as a parser does, in all namespaces that mean the same.

Office files come in a transitional form, which everybody writes, and a strict one, which differs in its namespaces.
"""

from collections.abc import Mapping
from typing import TypeVar

_Value = TypeVar("_Value")

_TRANSITIONAL = "http://schemas.openxmlformats.org/"
_STRICT = "http://purl.oclc.org/ooxml/"
_MICROSOFT = "http://schemas.microsoft.com/office/"

RELATIONSHIPS = (f"{_TRANSITIONAL}officeDocument/2006/relationships", f"{_STRICT}officeDocument/relationships")

_SPACES = {
    "w": (
        f"{_TRANSITIONAL}wordprocessingml/2006/main",
        f"{_STRICT}wordprocessingml/main",
        f"{_MICROSOFT}word/2006/wordml",
    ),
    "a": (f"{_TRANSITIONAL}drawingml/2006/main", f"{_STRICT}drawingml/main"),
    "p": (f"{_TRANSITIONAL}presentationml/2006/main", f"{_STRICT}presentationml/main"),
    "c": (f"{_TRANSITIONAL}drawingml/2006/chart", f"{_STRICT}drawingml/chart"),
    "dgm": (f"{_TRANSITIONAL}drawingml/2006/diagram", f"{_STRICT}drawingml/diagram"),
    "m": (f"{_TRANSITIONAL}officeDocument/2006/math", f"{_STRICT}officeDocument/math"),
    "wp": (f"{_TRANSITIONAL}drawingml/2006/wordprocessingDrawing", f"{_STRICT}drawingml/wordprocessingDrawing"),
    "pic": (f"{_TRANSITIONAL}drawingml/2006/picture", f"{_STRICT}drawingml/picture"),
    "mc": (f"{_TRANSITIONAL}markup-compatibility/2006",),
    "wps": (f"{_MICROSOFT}word/2010/wordprocessingShape",),
    "cx": (f"{_MICROSOFT}drawing/2014/chartex",),
    "p14": (f"{_MICROSOFT}powerpoint/2010/main",),
    "p188": (f"{_MICROSOFT}powerpoint/2018/8/main",),
    "v": ("urn:schemas-microsoft-com:vml",),
}


def in_full(table: Mapping[str, _Value]) -> dict[str, _Value]:
    """A table by short names (`w:p`) as one by the names that a parser gives."""
    return {
        f"{space}}}{tag}": value
        for name, value in table.items()
        for prefix, _, tag in (name.partition(":"),)
        for space in _SPACES[prefix]
    }


def local(attributes: Mapping[str, str]) -> dict[str, str]:
    """Attributes by their names without namespaces."""
    return {name.rpartition("}")[2]: value for name, value in attributes.items()}


def relationship(attributes: Mapping[str, str], name: str = "id") -> str:
    """The id of the relationship that an attribute such as `r:id` refers to, '' if there is none."""
    return next((found for space in RELATIONSHIPS if (found := attributes.get(f"{space}}}{name}"))), "")
