"""Whether this machine can read pictures, and a Tesseract that is none of the system's."""

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from indexer.extract.pictures.program import missing
from pipeline.settings import environment


def needed() -> None:
    """Skips what needs Tesseract where it is not installed; where CI is set, that fails instead."""
    if lacking := missing("eng"):
        if environment().get("CI"):
            pytest.fail(f"CI must have Tesseract, .ci/run installs it: {lacking}")
        pytest.skip("no Tesseract here; install it to test the reading of pictures")


@dataclass(frozen=True, slots=True)
class Tree:
    """A Tesseract in a folder of somebody, with two of its libraries and the language eng."""

    program: Path
    libraries: Path
    data: Path

    @property
    def variables(self) -> dict[str, str]:
        """What the program needs to find the other two."""
        return {"LD_LIBRARY_PATH": str(self.libraries), "TESSDATA_PREFIX": str(self.data)}

    def wrapped(self, folder: Path, *, start: str = "exec") -> Path:
        """A folder with a script that starts it."""
        named = " ".join(f"{name}={shlex.quote(value)}" for name, value in self.variables.items())
        return script(folder, f'export {named}\n{start} {shlex.quote(str(self.program))} "$@"\nexit $?')


def script(folder: Path, lines: str) -> Path:
    """A folder with a script of the name of Tesseract."""
    folder.mkdir()
    (folder / "tesseract").write_text(f"#!/bin/sh\n{lines}\n")
    (folder / "tesseract").chmod(0o755)
    return folder


def copied(folder: Path) -> Tree:
    """The Tesseract of this machine in another folder. Skips where that is not as on Linux."""
    needed()
    program = os.path.realpath(str(shutil.which("tesseract")))
    answer = subprocess.run([program, "--list-langs"], capture_output=True, text=True, check=True).stdout
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    own = [word for word in linked.split() if word.startswith("/") and ("libtesseract" in word or "liblept" in word)]
    if '"' not in answer or not own:
        pytest.skip("this Tesseract is older than 5, or put together in another way than on Debian")
    tree = Tree(folder / "bin" / "tesseract", folder / "lib", folder / "tessdata")
    for place in (tree.program.parent, tree.libraries, tree.data):
        place.mkdir(parents=True)
    shutil.copy2(program, tree.program)
    for library in own:
        shutil.copy2(library, tree.libraries)
    data = Path(answer.split('"')[1])
    shutil.copy2(data / "eng.traineddata", tree.data)
    shutil.copytree(data / "configs", tree.data / "configs")
    return tree
