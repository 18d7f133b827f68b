"""What is made of Tesseract's table, and of the headers of pictures."""

import struct
import time

import pytest

from indexer.extract import Request
from indexer.extract.pictures.ocr import words
from indexer.extract.pictures.size import pages
from indexer.extract.types import Spent
from tests.samples import _jpeg, _pictures


def table(*found: tuple[int, int, float, str]) -> str:
    """Words by paragraph and line."""
    rows = [
        f"5\t1\t1\t{par}\t{line}\t{n}\t0\t0\t9\t9\t{sure}\t{word}" for n, (par, line, sure, word) in enumerate(found)
    ]
    return "level\tpage_num\t…\n1\t1\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t\n" + "\n".join(rows) + "\n"


def test_lines_and_paragraphs_stay_apart():
    found = table((1, 1, 96, "The"), (1, 1, 95, "lamp"), (1, 2, 90, "was"), (2, 1, 91, "lit"))
    assert words(found) == "The lamp\nwas\n\nlit"


def test_words_that_tesseract_doubts_are_dropped():
    assert words(table((1, 1, 96, "lamp"), (1, 1, 31, "§~"), (1, 1, 90, "lit"))) == "lamp lit"


def test_a_page_that_tesseract_doubts_on_the_whole_has_no_text():
    assert words(table((1, 1, 96, "BE"), (1, 1, 12, "SS.WERFO"), (1, 1, 20, "AO"))) == ""


def test_signs_of_scripts_without_spaces_stand_together():
    found = table((1, 1, 96, "灯"), (1, 1, 96, "台"), (1, 1, 96, "of"), (1, 1, 96, "등대의"), (1, 1, 96, "불빛은"))
    assert words(found) == "灯台 of 등대의 불빛은"


def test_nothing_recognised_is_no_text():
    assert words(table()) == ""


@pytest.mark.parametrize(("recognition", "other", "is_up"), [(0, 20, False), (240, 20, False), (240, 22, True)])
def test_recognition_takes_nothing_of_the_time_for_the_rest(recognition: float, other: float, is_up: bool):  # noqa: FBT001
    spent = Spent(ocr_seconds=recognition, started=time.monotonic() - recognition - other)
    assert Request(b"", seconds=270, spent=spent).time_is_up() is is_up


DRAWN = (30, 20, bytes(600))
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x11\x08" + struct.pack(">HH", 20, 30) + bytes(9)


@pytest.mark.parametrize(
    "picture",
    [
        _pictures.png(*DRAWN),
        _pictures.bmp(*DRAWN),
        _pictures.gif(*DRAWN),
        _pictures.tiff([DRAWN]),
        _jpeg.jpeg(*DRAWN),
        JPEG,
        b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + (29).to_bytes(3, "little") + (19).to_bytes(3, "little"),
        _pictures.webp(*DRAWN),
        b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + struct.pack("<HH", 30, 20),
    ],
    ids=["png", "bmp", "gif", "tiff", "jpeg", "jpeg by steps", "webp", "webp without loss", "webp of old"],
)
def test_the_size_of_a_picture_by_its_header(picture: bytes):
    assert pages(picture, 9) == [(30, 20)]
    assert pages(picture[:12], 9) == []


def test_a_gif_whose_first_picture_claims_to_be_larger_than_its_screen():
    gif = _pictures.gif(*DRAWN)
    at = gif.index(b"\x2c")
    assert pages(gif[: at + 5] + struct.pack("<HH", 60_000, 60_000) + gif[at + 9 :], 9) == [(60_000, 60_000)]


def test_the_pages_of_a_tiff_that_leads_back_to_itself_are_counted_once():
    tiff = _pictures.tiff([DRAWN, DRAWN])
    first = tiff[4:8]
    assert pages(tiff, 9) == [(30, 20)] * 2
    assert pages(tiff, 1) == [(30, 20)]
    assert pages(tiff[:-4] + first, 9) == [(30, 20)] * 2
