import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from indexer import scratch


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.parametrize("purpose", ["load", "extract"])
def test_what_a_killed_worker_left_is_removed_and_nothing_else(tmp_path: Path, purpose: str) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f"fencepost-{purpose}-{dead.pid}-x"
    left.mkdir()
    (left / "0").write_bytes(b"bytes of a document")
    (tmp_path / f"fencepost-{purpose}-{os.getppid()}-y").mkdir()
    (tmp_path / "fencepost-other").mkdir()
    (tmp_path / f"fencepost-{purpose}-{dead.pid}-link").symlink_to(tmp_path / "fencepost-other")
    assert scratch.remove_left() == 1
    assert not left.exists()
    assert len(list(tmp_path.iterdir())) == 3


def test_what_a_killed_worker_of_the_same_number_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / f"{scratch.prefix('extract')}before").mkdir()
    assert scratch.remove_left() == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_lives_as_long_as_its_block(tmp_path: Path) -> None:
    with scratch.folder() as folder:
        assert folder.parent == tmp_path
    assert not folder.exists()
