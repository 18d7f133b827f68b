"""`fencepost demo`: what `make demo` runs, by real processes on a data folder of its own."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost import samples
from tests.support.stack import clean_environment
from tests.support.waiting import until


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-P",
        "-m",
        "fencepost",
        "demo",
        "--data",
        str(folder / "data"),
        "--port",
        "0",
        *arguments,
    ]
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        return subprocess.Popen(command, env=clean_environment(), stdout=out, stderr=err, cwd=folder)


@pytest.mark.parametrize("option", [[], ["--search", "opensearch"]])
def test_every_sample_is_found_also_the_second_time(enterable_folder: Path, option: list[str]) -> None:
    for options in (option, []):  # the second start finds out by itself where the first one searched
        code = start(enterable_folder, "--exit", "--json", *options).wait(240)
        assert code == 0, (enterable_folder / "err").read_text()
        answers = json.loads((enterable_folder / "out").read_text())["answers"]
        assert [answer["query"] for answer in answers] == [question.query for question in samples.questions()]
        assert all(answer["found"] for answer in answers)
    assert {Path(file).suffix for file in (answer["expected"] for answer in answers)} == {
        ".txt", ".md", ".html", ".pdf", ".docx"}  # fmt: skip


def test_it_goes_on_until_ctrl_c(tmp_path: Path) -> None:
    process = start(tmp_path)
    until(lambda: "The page is at" in (tmp_path / "out").read_text(), seconds=60, what="the demo")
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert "9 of 9 searches" in (tmp_path / "out").read_text()
