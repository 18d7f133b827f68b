"""The command line, run in this process against a real server."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from httpx import Client

from fencepost.cli import main
from pipeline.settings import environment


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs `fencepost ARGUMENTS…` with no settings but the given ones."""
    for name in environment():
        if name.startswith("FENCEPOST_"):
            monkeypatch.delenv(name)

    def run(*arguments: object, **variables: str) -> Ran:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["fencepost", *(str(argument) for argument in arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        out, err = capfd.readouterr()
        return Ran(code if isinstance(code, int) else 0, out, err)

    return run


@pytest.fixture
def fencepost(run: Run, client: Client, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same, with the server found by FENCEPOST_URL."""
    monkeypatch.setenv("FENCEPOST_URL", str(client.base_url))
    return run
