"""Small values that a document is made of, thousands of them."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Value = TypeVar("_Value")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[_Value]) -> type[_Value]:
    """Makes a dataclass with slots, to whose fields the type checker lets nobody assign.

    A frozen one refuses that while the program runs as well, and takes four times as long to make.
    """
    return dataclass(slots=True)(cls)
