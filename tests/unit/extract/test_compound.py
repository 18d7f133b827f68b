import struct

import pytest

from indexer.extract.compound import Compound, Storage
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
DIRECTORY, TABLES, SMALL_TABLES, MORE_TABLES = 48, 44, 64, 72
"""Where the header says where the directory is, and how many sectors each table has."""


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
    assert content(file, file.folder) == {
        "small": b"a small stream",
        "large": bytes(range(256)) * 40,
        "empty": b"",
        "folder": {"edge": b"x" * 4096, "below": b"y" * 4095, "inner": {"small": b"the same name"}},
    }


def test_a_chain_that_bites_its_tail_ends():
    large = Compound(FILE).folder.streams["large"].isectStart
    at = sector(struct.unpack_from("<I", FILE, 76)[0]) + 4 * large
    torn = bytearray(patched(at, large))  # its first sector is followed by itself
    struct.pack_into("<I", torn, entry(FILE, 2) + 120, 1 << 24)  # and it is said to have 16 megabytes
    file = Compound(bytes(torn))
    assert file.read(file.folder.streams["large"]) == FILE[sector(large) :][:512] * (len(FILE) // 512)


def test_small_streams_are_no_larger_than_the_file():
    large = bytearray(FILE)
    struct.pack_into("<I", large, entry(FILE, 0) + 120, 0xFFFFFFFF)
    file = Compound(bytes(large))
    assert file.read(file.folder.streams["small"]) == b"a small stream"
    assert file.root.size == len(FILE)


def test_folders_in_a_circle_are_entered_once():
    circle = patched(entry(FILE, 1) + 68, 1, 2)  # the first stream is its own left neighbour
    assert set(Compound(circle).folder.streams) == {"small", "large", "empty"}
    inside = patched(entry(FILE, 4) + 76, 4)  # the folder contains itself
    assert Compound(inside).folder.storages == {"folder": Storage({}, {})}


def test_what_is_cut_off_is_missing_and_nothing_else():
    whole = compound({"first": b"the first", "last": bytes(range(256)) * 40})
    before = Compound(whole).folder.streams["last"]
    file = Compound(whole)
    file.fp.truncate(sector(before.isectStart) + 1000)
    assert file.read(before) == (bytes(range(256)) * 40)[:1000]


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (FILE[:100], "cut off"),
        (FILE[:28] + b"\0\0" + FILE[30:], "no sense"),
        (FILE[:30] + b"\x1f\0" + FILE[32:], "no sense"),
        (FILE[:8] + bytes(1000), "no sense"),
        (FILE[:600], "cannot be read"),
        (patched(DIRECTORY, 0xFFFFFFFE), "cannot be read"),
        (patched(TABLES, 109 + 127 * 20), "much larger"),
        (patched(SMALL_TABLES, 0xFFFFFFFF), "much larger"),
        (patched(MORE_TABLES, 0xFFFFFFFF), "much larger"),
        (compound({str(n): b"" for n in range(2000)}), "cannot be read"),  # in a chain and not in a tree
    ],
)
def test_refusals(file: bytes, says: str):
    with pytest.raises(Permanent, match=says) as refusal:
        Compound(file)
    assert refusal.value.code == "corrupt"


def test_more_entries_than_any_honest_file_has(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("indexer.extract.compound._MOST_ENTRIES", 7)
    with pytest.raises(Permanent, match="cannot be read"):
        Compound(FILE)


def test_streams_are_not_compared_with_each_other():
    assert not Compound(FILE)._used_streams_fat
