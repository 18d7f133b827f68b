"""RTF documents."""

from indexer.extract import Limits
from tests.samples import Sample
from tests.samples.text import ARABIC, GREEK, JAPANESE, KOREAN, POLISH, RUSSIAN

_PAGES = (
    ("cp932", 932, JAPANESE, "漁船の目印"),
    ("cp949", 949, KOREAN, "안전하게"),
    ("cp1250", 1250, POLISH, "świeciła"),
    ("cp1251", 1251, RUSSIAN, "Смотритель"),
    ("cp1253", 1253, GREEK, "θάλασσα"),
    ("cp1256", 1256, ARABIC, "المنارة"),
)
_FONTS = r"{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Times New Roman Cyr;}{\f2\fcharset128 \'82\'6c\'82\'72;}}"
_WHOLE = (
    r"{\rtf1\ansi\ansicpg1252\uc1" + _FONTS + r"{\stylesheet{\s1 heading 1;}}"
    r"{\info{\title On l\'e4mps}{\author Nobody}}{\header the running head\par}{\header the running head\par}"
    r"\pard\outlinelevel0 The light\par\pard It burns\~at {\b nig}ht, \'84he said\'93."
    r"{\footnote {\super 1} from whales}\par"
    "\n\\pard {\\f1 \\'cc\\'e0\\'ff\\'ea} {\\f2 \\'93\\'94\\'91\\'e4} \\u-10179?\\u-8652?\\par\r\n"
    r"\trowd Lamp\cell lit\cell\row{\pict\pngblip 89504e47}{\*\unknown not shown}{\deleted taken out}"
    r"{\field{\*\fldinst HYPERLINK "'"https://example.org/lamps"}{\\fldrslt a link}}\\par\\page'
    r" Next{\shp{\*\shpinst{\sp{\sn name}{\sv value}}{\shptxt in the box\par}}}"
    r"{\object{\*\objdata 0102}{\result shown}}\par}"
)  # fmt: skip


def escaped(data: bytes) -> str:
    r"""Bytes as RTF writes them: `\'e4`."""
    return "".join(f"\\'{byte:02x}" if byte > 0x7F or byte in b"\\{}" else chr(byte) for byte in data)


def _encoded(codec: str, page: int, text: str, word: str) -> Sample:
    return Sample(
        f"{codec}.rtf",
        lambda: f"{{\\rtf1\\ansi\\ansicpg{page} {escaped(text.encode(codec))}\\par}}".encode("ascii"),
        words=(word,),
        media_type="application/rtf",
    )


def _binary() -> bytes:
    return b"{\\rtf1 before {\\pict\\bin9 }}}{{{\\x\\} after \\bin4 }}}}end\\par}"


SAMPLES = [
    *(_encoded(*row) for row in _PAGES),
    Sample(
        "whole.rtf",
        lambda: _WHOLE.encode("ascii"),
        words=(
            *("The light", "It burns\xa0at night", "„he said“", "from whales", "Маяк", "灯台", "😴", "Lamp\tlit"),
            *("a link", "https://example.org/lamps", "Next", "in the box", "shown", "the running head"),
        ),
        absent=("taken out", "not shown", "89504e47", "Nobody", "value"),
        pages=2,
    ),
    Sample("binary.rtf", _binary, words=("before", "after", "end")),
    Sample("deep.rtf", lambda: b"{\\rtf1 top" + b"{" * 500_000 + b"bottom" + b"}" * 500_001, words=("top", "bottom")),
    Sample(
        "links.rtf",
        lambda: b"{\\rtf1 words" + b'{\\field{\\*\\fldinst{HYPERLINK "' * 20_000,
        outcome="partial",
        words=("words",),
    ),
    Sample(
        "cut-off.rtf",
        lambda: b"{\\rtf1 the beginning {\\b of it",
        outcome="partial",
        words=("the beginning of it",),
        partial=("the end: it is missing",),
    ),
    Sample("empty.rtf", lambda: b"{\\rtf1}", outcome="no_text"),
    Sample(
        "too-many-pages.rtf", lambda: b"{\\rtf1 a\\page b\\page c}", outcome="limit_exceeded", limits=Limits(pages=2)
    ),
    Sample(
        "more-than-allowed.rtf",
        lambda: b"{\\rtf1 " + b"word " * 1000 + b"}",
        outcome="truncated",
        words=("word word",),
        limits=Limits(characters=1000),
    ),
]
