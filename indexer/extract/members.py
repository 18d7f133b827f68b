"""What is inside a document, files of an archive or attachments of a message: each is read as if it came alone."""

from dataclasses import replace

from indexer.extract.sniff import choose_kind
from indexer.extract.types import Block, Request
from pipeline.errors import Permanent

PARTED_BY = "/"


class Members:
    """Collects the blocks of members one after the other; one that fails is named in `partial` and harms no other."""

    def __init__(self, request: Request) -> None:
        """Raises Permanent limit_exceeded where documents lie too deep inside each other."""
        if request.depth > request.limits.depth:
            raise request.limits.exceeded("depth", "Documents lie too deep inside each other")
        self.blocks: list[Block] = []
        self.partial: list[str] = []
        self.truncated = False
        self._request = request
        self._characters = 0

    def read(self, name: str, content: bytes, declared_media_type: str = "") -> None:
        """Adds what is in one member; does nothing once there is more text than the limit allows."""
        if self.truncated:
            return
        inside = replace(
            self._request,
            content=content,
            filename=name.rpartition(PARTED_BY)[2],
            declared_media_type=declared_media_type,
            encoding="",
            depth=self._request.depth + 1,
        )
        try:
            kind = choose_kind(content, inside.filename, declared_media_type)
            reading = kind.reader()(content, inside)
        except Permanent as refusal:
            self.fail(name, refusal.message.rstrip("."))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this member's
            self.fail(name, f"its reader failed ({type(error).__name__})")
        else:
            self._take(name, reading.blocks)
            self.partial += [f"{name}{PARTED_BY}{failed}" for failed in reading.partial]
            self.truncated = self.truncated or reading.truncated

    def fail(self, name: str, why: str) -> None:
        """Names a member that cannot be read."""
        self.partial.append(f"{name}: {why}")

    def _take(self, name: str, blocks: list[Block]) -> None:
        for block in blocks:
            member = f"{name}{PARTED_BY}{block.member}" if block.member else name
            self.blocks.append(replace(block, member=member))
            self._characters += len(block.text)
        self.truncated = self._characters > self._request.limits.characters
