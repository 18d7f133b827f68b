"""The register of kinds as another release has it: a reader is revised, or gone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from indexer.extract import KINDS, Kind, sniff


class OtherKinds:
    """Changes the register until the end of a test."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def revise(self, name: str) -> Kind:
        """Gives a reader another revision; returns its new line."""
        revised = replace(KINDS[name], revision=99)
        self._patch.setitem(KINDS, name, revised)
        sniff.versions_inside.cache_clear()
        return revised

    def remove(self, name: str) -> None:
        """Takes a reader away."""
        self._patch.delitem(KINDS, name)
        sniff.versions_inside.cache_clear()

    def revise_sniffer(self) -> None:
        """Gives what chooses the kinds another revision."""
        self._patch.setattr(sniff, "VERSION", "sniff-99")
        sniff.versions_inside.cache_clear()


@contextmanager
def changing() -> Iterator[OtherKinds]:
    """The register, to be changed; it is as before afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        yield OtherKinds(patch)
    sniff.versions_inside.cache_clear()
