"""What `large` measures: documents of 20 MB in every format, prose as people write it, marks as programs do."""

import quopri
import random
from base64 import encodebytes
from collections.abc import Callable, Iterator
from html import escape
from itertools import count
from pathlib import Path

from tests.samples import _epub, _opendocument, _workbooks
from tests.samples._messages import message, multipart, outlook, part
from tests.samples.msg import BODY, PAGE, RTF, packed_rtf
from tests.support import documents

SIZE = 20_000_000
_OF_ONE_OUTLOOK_FILE = 6_000_000  # what the writer of samples can make
_DOCS = Path(__file__).parents[1] / "docs"
_ACCENTED = str.maketrans({"a": "ä", "o": "ö"})


class Prose:
    """Sentences of our own documentation in an order that is the same each time."""

    def __init__(self) -> None:
        source = " ".join(path.read_text() for path in sorted(_DOCS.rglob("*.md")))
        self._sentences = [f"{one.strip()}." for one in source.replace("|", " ").split(". ") if len(one.split()) > 4]
        self._random = random.Random(7)  # noqa: S311 - no secret

    def sentence(self) -> str:
        """One in a line; every fourth with letters beyond ASCII."""
        words = " ".join(self._random.choice(self._sentences).split())
        return words if self._random.random() < 0.75 else words.translate(_ACCENTED)

    def words(self, most: int) -> list[str]:
        """The first words of a sentence."""
        return self.sentence().split()[:most]

    def number(self) -> str:
        """An amount of money."""
        return f"{self._random.randrange(10_000_000) / 100:.2f}"


def _enough(pieces: Iterator[str], size: int = SIZE) -> str:
    made, length = [], 0
    for piece in pieces:
        made.append(piece)
        length += len(piece.encode())
        if length >= size:
            break
    return "".join(made)


def _article(prose: Prose, n: int) -> str:
    first, *others = prose.words(9)
    return (
        f'<article class="entry post-{n}" id="p{n}" data-a="b"><h2 class="title">{escape(" ".join(others))}</h2>'
        f'<p class="lead">{escape(prose.sentence())} <a href="/{first}/{n}?ref=a&amp;x=1" title="more">'
        f"{escape(first)}</a> {escape(prose.sentence())}</p>\n<p>{escape(prose.sentence())} <b>{escape(first)}</b>, "
        f"<em>{escape(' '.join(prose.words(3)))}</em> &ndash; <code>{escape(prose.number())}</code> "
        f'{escape(prose.sentence())}</p>\n<ul class="tags">'
        + "".join(f'<li><span class="tag">{escape(word)}</span></li>' for word in prose.words(4))
        + "</ul></article>\n"
    )


def _row(prose: Prose, n: int) -> str:
    cells = [str(n), *prose.words(4), *(prose.number() for _ in range(5))]
    return '<tr class="r">' + "".join(f'<td class="n">{escape(cell)}</td>' for cell in cells) + "</tr>\n"


def _page(prose: Prose) -> bytes:
    body = _enough(_article(prose, n) for n in count())
    return f'<!doctype html><html><head><meta charset="utf-8"><title>All of it</title></head><body>{body}'.encode()


def _page_of_rows(prose: Prose) -> bytes:
    rows = _enough(_row(prose, n) for n in count())
    return f'<!doctype html><meta charset="utf-8"><title>Rows</title><table>{rows}</table>'.encode()


def _records(prose: Prose) -> bytes:
    def record(n: int) -> str:
        fields = "".join(f"    <{name}>{escape(prose.number())}</{name}>\n" for name in ("net", "tax", "sum"))
        title = escape(" ".join(prose.words(6)))
        note = f"    <note>{escape(prose.sentence())}</note>\n"
        return f'  <record id="{n}" kind="a">\n    <title>{title}</title>\n{fields}{note}  </record>\n'

    return f'<?xml version="1.0"?>\n<records>\n{_enough(record(n) for n in count())}</records>'.encode()


def _rtf_text(text: str) -> str:
    return "".join(
        sign if sign.isascii() else f"\\'{ord(sign):02x}" if ord(sign) < 256 else f"\\u{ord(sign)}?"
        for sign in text.replace("\\", "\\\\").replace("{", "\\{").replace("}", "\\}")
    )


def _run(text: str) -> str:
    return (
        "{\\rtlch\\fcs1 \\af0\\afs22 \\ltrch\\fcs0 \\f0\\fs22\\lang1031\\langfe1033\\langnp1031\\insrsid15221\n"
        f"{_rtf_text(text)}}}"
    )


def _rtf(prose: Prose, size: int = SIZE) -> bytes:
    def paragraph(_n: int) -> str:
        runs = "".join(_run(prose.sentence() + " ") for _ in range(4))
        return (
            "\\pard\\plain \\ltrpar\\ql \\li0\\ri0\\sa200\\sl276\\slmult1\\widctlpar\\wrapdefault\\aspalpha\\aspnum"
            f"\\faauto\\adjustright\\rin0\\lin0\\itap0 {runs}{{\\insrsid4 \n\\par }}"
        )

    fonts = "{\\fonttbl{\\f0\\fswiss\\fcharset0 Calibri;}{\\f1\\froman\\fcharset204 Times;}}"
    return f"{{\\rtf1\\ansi\\ansicpg1252\\uc1{fonts}{_enough((paragraph(n) for n in count()), size)}}}".encode(
        "latin-1"
    )


def _plain_rtf(prose: Prose) -> bytes:
    text = _enough(_rtf_text(prose.sentence()) + "\\par\n" for _ in count())
    return f"{{\\rtf1\\ansi\\ansicpg1252 {text}}}".encode("latin-1")


def _lines(prose: Prose, size: int = SIZE) -> str:
    return _enough((f"{prose.sentence()}\r\n" for _ in count()), size)


def _quoted(text: str, media_type: str) -> bytes:
    return part(quopri.encodestring(text.encode()), media_type, "Content-Transfer-Encoding: quoted-printable")


def _mailbox(prose: Prose) -> bytes:
    def letter(n: int) -> str:
        return (
            f"From keeper@example.org Tue Dec  1 08:30:{n % 60:02} 2026\nFrom: Keeper <keeper@example.org>\n"
            f"To: harbour@example.org\nSubject: {' '.join(prose.words(5))}\nContent-Type: text/plain; charset=utf-8\n\n"
            + "".join(f"{prose.sentence()}\n" for _ in range(25))
            + "\n"
        )

    return _enough(letter(n) for n in count()).encode()


def _letter_with(content: bytes, name: str) -> bytes:
    body = part("see below")
    packed = part(
        encodebytes(content),
        "application/octet-stream",
        "Content-Transfer-Encoding: base64",
        f'Content-Disposition: attachment; filename="{name}"',
    )
    return message(multipart("mixed", [body, packed]))


def _markdown(prose: Prose) -> bytes:
    def section(n: int) -> str:
        rows = "".join(f"| {' | '.join(prose.words(3))} | {prose.number()} |\n" for _ in range(3))
        return (
            f"## {' '.join(prose.words(6))}\n\n{prose.sentence()} *{' '.join(prose.words(3))}* {prose.sentence()}\n"
            f"{prose.sentence()} [more](https://example.org/{n}).\n\n- {prose.sentence()}\n- `{prose.number()}` "
            f"{prose.sentence()}\n\n| a | b | c | d |\n|---|---|---|---|\n{rows}\n"
        )

    return _enough(section(n) for n in count()).encode()


def _json(prose: Prose) -> bytes:
    def record(n: int) -> str:
        text = escape(prose.sentence()).encode("ascii", "backslashreplace").decode().replace('"', '\\"')
        return f'{{"id": {n}, "path": "a\\/b", "note": "{text}\\n", "sum": {prose.number()}}}\n'

    return _enough(record(n) for n in count()).encode()


def _csv(prose: Prose) -> bytes:
    return _enough(f"{n};{prose.number()};{' '.join(prose.words(8))}\r\n" for n in count()).encode()


def _docx(prose: Prose) -> bytes:
    def paragraph(n: int) -> str:
        runs = "".join(
            '<w:r w:rsidRPr="00A77B3E"><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/><w:sz w:val="22"/>'
            f'<w:lang w:val="de-DE"/></w:rPr><w:t xml:space="preserve">{escape(prose.sentence())} </w:t></w:r>'
            for _ in range(3)
        )
        mark = "<w:lastRenderedPageBreak/>" if n % 12 == 0 else ""
        return f'<w:p w:rsidR="00A77B3E"><w:pPr><w:spacing w:after="200"/></w:pPr><w:r>{mark}</w:r>{runs}</w:p>'

    return documents.docx(_enough(paragraph(n) for n in count()), compress=True)


def _odt(prose: Prose) -> bytes:
    def paragraph(_n: int) -> str:
        spans = "".join(f'<text:span text:style-name="T1">{escape(prose.sentence())} </text:span>' for _ in range(3))
        return f'<text:p text:style-name="P1">{spans}<text:s/></text:p>'

    return _opendocument.file(_opendocument.content(_enough(paragraph(n) for n in count())), compress=True)


def _book(prose: Prose) -> bytes:
    chapters = {
        f"{n}.xhtml": _epub.chapter(_enough((_article(prose, m) for m in count()), 200_000)) for n in range(100)
    }
    return _epub.book(chapters, compress=True)


def _cells(prose: Prose, n: int) -> list[_workbooks.Value]:
    return [float(n), *prose.words(4), *(float(prose.number()) for _ in range(5))]


def _sheet(prose: Prose) -> bytes:
    return _workbooks.xlsx({"Log": [_cells(prose, n) for n in range(50_000)]})


def _ods(prose: Prose) -> bytes:
    def row(n: int) -> str:
        cells = "".join(
            f'<table:table-cell office:value-type="string" table:style-name="ce1"><text:p>{escape(str(value))}</text:p>'
            "</table:table-cell>"
            for value in _cells(prose, n)
        )
        return f'<table:table-row table:style-name="ro1">{cells}</table:table-row>'

    rows = _enough(row(n) for n in count())
    return _workbooks.ods(f'<table:table table:name="Log">{rows}</table:table>')


FILES: dict[str, Callable[[Prose], bytes]] = {
    "page.html": _page,
    "rows.html": _page_of_rows,
    "records.xml": _records,
    "word.rtf": _rtf,
    "plain.rtf": _plain_rtf,
    "plain.eml": lambda prose: message(part(_lines(prose))),
    "flowed.eml": lambda prose: message(part(_lines(prose), "text/plain; charset=utf-8; format=flowed")),
    "page.eml": lambda prose: message(_quoted(_page(prose).decode(), "text/html; charset=utf-8")),
    "attached.eml": lambda prose: _letter_with(_rtf(prose, 14_000_000), "word.rtf"),
    "mailbox.mbox": _mailbox,
    "plain.msg": lambda prose: outlook({BODY: _lines(prose, _OF_ONE_OUTLOOK_FILE // 2)}),
    "page.msg": lambda prose: outlook({PAGE: _page(prose)[:_OF_ONE_OUTLOOK_FILE]}),
    "rtf.msg": lambda prose: outlook({RTF: packed_rtf(_rtf(prose, _OF_ONE_OUTLOOK_FILE // 2))}),
    "notes.md": _markdown,
    "records.json": _json,
    "table.csv": _csv,
    "prose.txt": lambda prose: _lines(prose).encode(),
    "word.docx": _docx,
    "text.odt": _odt,
    "book.epub": _book,
    "sheet.xlsx": _sheet,
    "sheet.ods": _ods,
}
"""How the file of each name is made."""
