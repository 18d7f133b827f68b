"""`make compare`: what becomes of our samples in other extractors, document by document.

markitdown is installed into a virtual environment of its own (`--venv`), and Apache Tika runs as a server from a jar
that you bring (`--tika`, org.apache.tika:tika-server-standard). Each gets the same files under the same names, one
after the other. An answer is right if all expected words are in it and none that must not be; where a refusal or no
text is expected, an error or no text. Prints Markdown for docs/extraction-compared.md.
"""

import argparse
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
import venv
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from indexer.extract import Request
from indexer.extract.isolation.pool import ExtractionPool
from pipeline.errors import Permanent, Transient
from pipeline.settings import Extract
from tests.samples import Sample, samples
from tests.support.waiting import until

SECONDS = 30
MARKITDOWN = "markitdown[docx,pptx,xlsx,xls,pdf,outlook]==0.1.9"
READ_BY_MARKITDOWN = """
import json, sys, warnings
warnings.simplefilter("ignore")
from markitdown import MarkItDown
reader = MarkItDown()
print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    try:
        answer = {"text": reader.convert(json.loads(line)).text_content}
    except Exception as error:
        answer = {"error": type(error).__name__}
    print(json.dumps(answer), flush=True)
"""

Read = Callable[[Path], str | None]
"""The text of a file, None where it is refused. Raises TimeoutError."""


@dataclass(frozen=True)
class Answer:
    """What one extractor made of one document."""

    verdict: str
    milliseconds: float


class Memory:
    """The most memory that a tree of processes has at once, in MB; looked at twenty times a second."""

    def __init__(self, pid: Callable[[], int]) -> None:
        self._pid = pid
        self._ended = threading.Event()
        self._most = 0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> float:
        """Ends the watch; the most that was seen."""
        self._ended.set()
        self._thread.join()
        return self._most / 1e6

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            try:
                top = psutil.Process(self._pid())
                self._most = max(self._most, sum(p.memory_info().rss for p in [top, *top.children(recursive=True)]))
            except psutil.NoSuchProcess:
                continue


class Markitdown:
    """A process that is started anew when it hangs or dies."""

    def __init__(self, python: Path) -> None:
        self._python = python
        self._start()

    def pid(self) -> int:
        """Of the process that reads."""
        return self._process.pid

    def read(self, path: Path) -> str | None:
        """The text, or None."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(str(path)) + "\n")
        self._process.stdin.flush()
        try:
            answer = self._answers.get(timeout=SECONDS)
        except queue.Empty:
            self.stop()
            self._start()
            raise TimeoutError from None
        if answer is None:
            self._start()
            return None
        text: str | None = json.loads(answer).get("text")
        return text

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the environment that was made for it
            [self._python, "-c", READ_BY_MARKITDOWN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._answers: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._listen, args=(self._process, self._answers), daemon=True).start()
        self._answers.get(timeout=120)

    @staticmethod
    def _listen(process: "subprocess.Popen[str]", answers: "queue.Queue[str | None]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(("{", '"')):
                answers.put(line)
        answers.put(None)


@contextmanager
def markitdown(folder: Path) -> Iterator[tuple[Read, Callable[[], int]]]:
    """A reader, and the process that reads."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", MARKITDOWN], check=True)  # noqa: S603 - the same
    reader = Markitdown(python)
    try:
        yield reader.read, reader.pid
    finally:
        reader.stop()


@contextmanager
def tika(jar: Path) -> Iterator[tuple[Read, Callable[[], int]]]:
    """The same for a server of Apache Tika."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(  # noqa: S603 - the jar that was given
        ["java", "-Xmx1500m", "-jar", jar, "--host", "127.0.0.1", "--port", str(port)],  # noqa: S607 - any Java
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=SECONDS) as client:

        def answers() -> bool:
            try:
                return client.get("/version").is_success
            except httpx.TransportError:
                return False

        def read(path: Path) -> str | None:
            headers = {"Accept": "text/plain", "Content-Disposition": f'attachment; filename="{path.name}"'}
            try:
                answer = client.put("/tika", content=path.read_bytes(), headers=headers)
            except httpx.TimeoutException:
                raise TimeoutError from None
            except httpx.TransportError:
                until(answers, seconds=60, what="Tika to come back")
                return None
            return answer.content.decode("utf-8", "replace") if answer.status_code == httpx.codes.OK else None

        try:
            until(answers, seconds=60, what="Tika")
            yield read, lambda: server.pid
        finally:
            for process in [*psutil.Process(server.pid).children(recursive=True), psutil.Process(server.pid)]:
                process.kill()
            server.wait()


@contextmanager
def ours() -> Iterator[tuple[Read, Callable[[], int]]]:
    """The same for Fencepost, with one child; the memory is that of both and of this program."""
    with ExtractionPool(Extract(processes=1)) as pool:

        def read(path: Path) -> str | None:
            try:
                extraction = pool.submit(Request(path, path.name)).result(2 * SECONDS)
            except (Permanent, Transient) as refusal:
                if refusal.code == "extractor_timeout":
                    raise TimeoutError from None
                return None
            return "".join(passage.text for passage in extraction.passages)

        yield read, os.getpid


def verdict(sample: Sample, text: str | None) -> str:
    """Whether this is what was expected, in a word or two."""
    if sample.outcome in {"ok", "truncated", "partial", "text_unreliable"}:
        if text is None:
            return "error"
        if not all(word in text for word in sample.words):
            return "words missing"
        return "right" if not any(word in text for word in sample.absent) else "wrong words"
    return "right" if text is None or not text.strip() else "text"


def asked(read: Read, sample: Sample, path: Path) -> Answer:
    """One document's answer."""
    began = time.perf_counter()
    try:
        found = verdict(sample, read(path))
    except TimeoutError:
        found = "timeout"
    return Answer(found, (time.perf_counter() - began) * 1000)


def compare(chosen: list[Sample], folder: Path, arguments: argparse.Namespace) -> None:
    """Prints the tables."""
    peers = {"Fencepost": ours()}
    if arguments.venv:
        peers["markitdown"] = markitdown(arguments.venv)
    if arguments.tika:
        peers["Tika"] = tika(arguments.tika)
    answers: dict[str, dict[str, Answer]] = {}
    print("| | right | of | timeouts | seconds together | most memory, MB |\n|---|---|---|---|---|---|")
    for name, peer in peers.items():
        with peer as (read, pid):
            read(folder / "warm.txt")
            memory = Memory(pid)
            answers[name] = {s.name: asked(read, s, folder / s.name) for s in chosen}
            most = memory.stop()
        found = answers[name].values()
        right = sum(answer.verdict == "right" for answer in found)
        timeouts = sum(answer.verdict == "timeout" for answer in found)
        seconds = sum(answer.milliseconds for answer in found) / 1000
        print(f"| {name} | {right} | {len(found)} | {timeouts} | {seconds:.1f} | {most:.0f} |", flush=True)
    by_format(chosen, answers)
    by_document(chosen, answers)


def by_format(chosen: list[Sample], answers: dict[str, dict[str, Answer]]) -> None:
    """Right ones and the median time of each format."""
    groups: dict[str, list[str]] = defaultdict(list)
    for sample in chosen:
        groups[sample.name.rpartition(".")[2]].append(sample.name)
    print(
        "\n| format | documents | "
        + " | ".join(f"{peer}: right, ms" for peer in answers)
        + " |\n|---|---"
        + "|---" * len(answers)
        + "|"
    )
    for suffix, names in sorted(groups.items()):
        cells = []
        for found in answers.values():
            times = sorted(found[name].milliseconds for name in names)
            right = sum(found[name].verdict == "right" for name in names)
            cells.append(f"{right}, {times[len(times) // 2]:.1f}")
        print(f"| {suffix} | {len(names)} | " + " | ".join(cells) + " |")


def by_document(chosen: list[Sample], answers: dict[str, dict[str, Answer]]) -> None:
    """Each document's verdicts."""
    print("\n| document | expected | " + " | ".join(answers) + " |\n|---|---" + "|---" * len(answers) + "|")
    for sample in chosen:
        cells = [
            f"{found[sample.name].verdict}, {found[sample.name].milliseconds:.0f} ms" for found in answers.values()
        ]
        print(f"| {sample.name} | {sample.outcome} | " + " | ".join(cells) + " |")


def main() -> None:
    """Makes the samples and asks everybody."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, help="folder of markitdown's environment, made if it is not there")
    parser.add_argument("--tika", type=Path, help="tika-server-standard-….jar")
    parser.add_argument("--only", default="", help="samples whose name has this")
    arguments = parser.parse_args()
    # An override of the encoding is something that only Fencepost is told.
    chosen = [
        s for s in samples() if arguments.only in s.name and not s.encoding and s.limits == Sample("", bytes).limits
    ]
    with TemporaryDirectory() as folder:
        Path(folder, "warm.txt").write_text("warm")
        for sample in chosen:
            Path(folder, sample.name).write_bytes(sample.make())
        print(f"{len(chosen)} documents on {sys.platform}, each within {SECONDS} s\n")
        compare(chosen, Path(folder), arguments)


if __name__ == "__main__":
    main()
