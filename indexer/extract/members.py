"""What is inside a document, files of an archive or attachments of a message: each is read as if it came alone."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from indexer.extract.sniff import kind_inside, versions_inside
from indexer.extract.types import Block, Reading, Request, reason
from pipeline.errors import Permanent

PARTED_BY = "/"


class Members:
    """Collects the blocks of members one after the other; one that fails is named in `partial` and harms no other.

    So is one that lies too deep, one that an archive inside does not have the limits left for, one that an earlier
    reading ended with, and all that come after the time is up: what was read of a document is never lost for what was
    not.
    """

    def __init__(self, request: Request) -> None:
        self.blocks: list[Block] = []
        self.partial: list[str] = []
        self.truncated = False
        self._request = request
        self._characters = 0
        self._names: Counter[str] = Counter()

    def read(
        self, name: str, content: bytes | Iterable[bytes], declared_media_type: str = "", *, quietly: bool = False
    ) -> None:
        """Adds what is in one member; does nothing once there is more text than the limit allows.

        `content` may come in pieces that are made as they are taken. A member that is read `quietly` is not named when
        it fails, as nobody would miss it.
        """

        def reader(inside: Request) -> Reading:
            data = content if isinstance(content, bytes) else b"".join(content)
            if not data:
                return Reading([])
            inside = replace(inside, content=data, declared_media_type=declared_media_type)
            return kind_inside(data, inside).read_inside(data, inside)

        self.read_by(name, reader, quietly=quietly)

    def read_by(self, name: str, reader: Callable[[Request], Reading], *, quietly: bool = False) -> None:
        """Adds what a reader of a member finds, which gets the request for the member without its content."""
        if self.truncated:
            return
        name = self._unique(name)
        with self._request.spent.inside() as number:
            failed = self._failed(name, number, reader)
        if not quietly:
            self.partial += failed

    def fail(self, name: str, why: str) -> None:
        """Names a member that cannot be read."""
        self.partial.append(f"{name}: {why}")

    def _failed(self, name: str, number: int, reader: Callable[[Request], Reading]) -> list[str]:
        """Takes what can be read of a member, and names what cannot. Raises MemoryError."""
        if why := self._request.left_out.get(number):
            self._request.spent.versions.update(versions_inside().values())  # any of them may be what ended it
            return [f"{name}: {why}"]
        try:
            reading = reader(self._inside(name))
        except Permanent as refusal:
            return [f"{name}: {reason(refusal)}"]
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this member's
            return [f"{name}: its reader failed ({type(error).__name__})"]
        self._take(name, reading)
        return [f"{name}{PARTED_BY}{inside}" for inside in reading.partial]

    def _inside(self, name: str) -> Request:
        request = self._request
        if request.depth > request.limits.depth:
            raise request.limits.exceeded("depth", "Documents lie too deep inside each other")
        if request.time_is_up():
            raise Permanent("extractor_timeout", "The time was up before it was read.")
        filename = name.rpartition(PARTED_BY)[2]
        return replace(
            request, content=b"", filename=filename, declared_media_type="", encoding="", depth=request.depth + 1
        )

    def _unique(self, name: str) -> str:
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name} ({self._names[name]})"

    def _take(self, name: str, reading: Reading) -> None:
        for block in reading.blocks:
            member = f"{name}{PARTED_BY}{block.member}" if block.member else name
            self.blocks.append(replace(block, member=member))
            self._characters += len(block.text)
        self.truncated = reading.truncated or self._characters > self._request.limits.characters
