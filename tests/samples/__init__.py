"""Documents of every format with what must be found in them: our own, made by code, the same on every machine.

Each module of this package lists its `SAMPLES`. `python -m tests.samples FOLDER` writes them all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules

from indexer.extract import Limits


@dataclass(frozen=True, slots=True)
class Sample:
    """A document and what must become of it.

    `outcome` is a text quality or the code of a refusal. Each of `words` must be in the text, none of `absent` may be.
    Each of `partial` must be a part of something named in the fact of that name. `pages` is the fact.
    """

    name: str
    make: Callable[[], bytes]
    outcome: str = "ok"
    words: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    pages: int | None = None
    media_type: str = ""
    encoding: str = ""
    limits: Limits = field(default_factory=Limits)
    large: bool = False
    """Takes seconds or hundreds of megabytes: no seed for a fuzzer."""


def samples() -> list[Sample]:
    """All samples, module by module."""
    modules = [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]
    return [sample for name in modules for sample in import_module(f"{__name__}.{name}").SAMPLES]
