import struct

import pytest

from indexer.extract.compound import Compound, Storage, Stream
from pipeline.errors import Permanent
from tests.samples._compound import compound

FILE = compound(
    {
        "small": b"a small stream",
        "large": bytes(range(256)) * 40,
        "empty": b"",
        "folder": {"edge": b"x" * 4096, "below": b"y" * 4095, "inner": {"small": b"the same name"}},
    }
)
DIRECTORY = 48
"""Where the header says where the directory is."""


def sector(number: int) -> int:
    return (number + 1) * 512


def entry(file: bytes, number: int) -> int:
    return sector(struct.unpack_from("<I", file, DIRECTORY)[0]) + 128 * number


def patched(at: int, *numbers: int) -> bytes:
    return FILE[:at] + struct.pack(f"<{len(numbers)}I", *numbers) + FILE[at + 4 * len(numbers) :]


def content(file: Compound, storage: Storage) -> dict[str, object]:
    return {name: file.read(stream) for name, stream in storage.streams.items()} | {
        name: content(file, folder) for name, folder in storage.storages.items()
    }


def test_streams_of_all_sizes_and_folders():
    file = Compound(FILE)
    assert content(file, file.root) == {
        "small": b"a small stream",
        "large": bytes(range(256)) * 40,
        "empty": b"",
        "folder": {"edge": b"x" * 4096, "below": b"y" * 4095, "inner": {"small": b"the same name"}},
    }


def test_a_chain_that_bites_its_tail_ends():
    at = sector(struct.unpack_from("<I", FILE, 76)[0])
    file = Compound(FILE[:at] + struct.pack("<128I", *range(128)))  # every sector is followed by itself
    large = file.root.streams["large"]
    assert file.read(large) == FILE[sector(large.start) :][:512] * 20
    assert file.read(Stream(0, 1 << 40)) == FILE[sector(0) :][:512] * 128


def test_folders_in_a_circle_are_entered_once():
    circle = patched(entry(FILE, 1) + 68, 1, 2)  # the first stream is its own left neighbour
    assert set(Compound(circle).root.streams) == {"small", "large", "empty"}
    inside = patched(entry(FILE, 4) + 76, 4)  # the folder contains itself
    assert Compound(inside).root.storages == {"folder": Storage()}


def test_what_is_cut_off_is_missing_and_nothing_else():
    file = Compound(FILE)
    before = file.root.streams["large"]
    torn = Compound(FILE)
    torn._buffer = FILE[: sector(before.start) + 1000]
    assert torn.read(before) == file.read(before)[:1000]


def test_more_tables_than_the_header_can_name():
    many = bytearray(FILE)
    struct.pack_into("<II", many, 68, 0, 1)  # more tables are listed in the first sector, whose numbers mean nothing
    assert Compound(bytes(many)).root.streams.keys() == Compound(FILE).root.streams.keys()


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (FILE[:100], "cut off"),
        (FILE[:28] + b"\0\0" + FILE[30:], "no sense"),
        (FILE[:30] + b"\x1f\0" + FILE[32:], "no sense"),
        (FILE[:600], "no directory"),
        (patched(DIRECTORY, 0xFFFFFFFE), "no directory"),
        (FILE[:8] + bytes(1000), "no sense"),
    ],
)
def test_refusals(file: bytes, says: str):
    with pytest.raises(Permanent, match=says) as refusal:
        Compound(file)
    assert refusal.value.code == "corrupt"
