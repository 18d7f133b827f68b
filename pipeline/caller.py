"""Who asks: what they may do, and the collections that exist for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pipeline.errors import Forbidden


class Scope(StrEnum):
    """What a key is good for; each includes those before it. docs/keys.md says which route needs which."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def covers(self, needed: "Scope") -> bool:
        """Whether who has this one may do what needs the other."""
        order = list(Scope)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `collections` are the ids of the only collections it may see, by name; None: all, also those to come.

    `key` is the public prefix of its key, None where no key is asked for.
    """

    scope: Scope
    collections: Mapping[str, int] | None = None
    key: str | None = None
    name: str = ""

    @property
    def visible(self) -> list[int] | None:
        """The ids of its collections, for a statement; None: all."""
        return None if self.collections is None else sorted(self.collections.values())

    def may(self, scope: Scope, *, everywhere: bool = False) -> bool:
        """Whether it may do what needs this scope; `everywhere`: in all collections."""
        return self.scope.covers(scope) and not (everywhere and self.collections is not None)

    def must(self, scope: Scope, *, everywhere: bool = False) -> None:
        """Raises Forbidden unless it may."""
        if not self.scope.covers(scope):
            raise Forbidden("scope_too_small", f"This needs the scope {scope}; the key {self.key} has {self.scope}.")
        if not self.may(scope, everywhere=everywhere):
            raise Forbidden(
                "needs_all_collections", f"This is about all collections; the key {self.key} is only for {self._names}."
            )

    def must_see(self, collection: str) -> None:
        """Raises Forbidden for the name of another collection, whether that exists or not."""
        if self.collections is not None and collection not in self.collections:
            raise Forbidden(
                "collection_not_allowed", f"The key {self.key} is only for {self._names}, not for {collection}."
            )

    def among(self, names: frozenset[str] | None) -> frozenset[str] | None:
        """Those of the wanted collections that it may see; None: all."""
        if self.collections is None:
            return names
        return frozenset(self.collections) if names is None else names & self.collections.keys()

    @property
    def _names(self) -> str:
        return ", ".join(sorted(self.collections or ()))


ANYBODY = Caller(Scope.ADMIN)
"""Whoever reaches a server that asks for no key: somebody on this machine."""
