from pathlib import Path

import pytest

from indexer.extract import choose_kind
from indexer.extract.types import Limits
from pipeline.errors import Permanent
from tests.samples._compound import compound
from tests.support import documents

PDF = documents.pdf([["Hello"]])
DOCX = documents.docx(documents.paragraph("Hello"))
HTML = b"<!DOCTYPE html><title>t</title><p>Hello"
EPUB = documents.archive({"mimetype": b"application/epub+zip"})
_ODF = b"application/vnd.oasis.opendocument."
ODT_TEMPLATE = documents.archive({"mimetype": _ODF + b"text-template", "content.xml": b""})
ODP = documents.archive({"mimetype": _ODF + b"presentation", "content.xml": b""})
REPACKED_ODT = documents.archive({"content.xml": b"", "mimetype": _ODF + b"text"})
FLAT_ODT = b"<?xml version='1.0'?><office:document xmlns:a='b' office:mimetype='" + _ODF + b"text'>"
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("content", "filename", "declared", "kind"),
    [
        (PDF, "report.txt", "text/plain", "pdf"),
        (b"junk\r\n" * 100 + PDF, "", "", "pdf"),
        (PDF.removeprefix(b"%PDF-1.4\n"), "", "", "pdf"),
        (b"The header %PDF-1.7 begins every file.", "", "", "text"),
        (b"# On PDF\n\nA file ends with endobj and startxref.", "a.md", "", "markdown"),
        (DOCX, "a.pdf", "application/pdf", "docx"),
        (documents.docx("", compress=True), "", "", "docx"),
        (HTML, "a.txt", "text/plain", "html"),
        (b"<?xml version='1.0'?>\n<!-- c -->\n<html xmlns='http://www.w3.org/1999/xhtml'>", "a.xml", "", "html"),
        ("<html><p>Grüße".encode("utf-16"), "", "", "html"),
        (b"<p>A fragment", "a.html", "", "html"),
        (b"<p>A fragment", "", "text/html; charset=utf-8", "html"),
        (b"<div>that begins a README", "README.md", "", "markdown"),
        (b"plain words", "a.html", "", "text"),
        (b"# Words", "a.md", "", "markdown"),
        (b"# Words", "", "text/markdown", "markdown"),
        (b"# Words", "a.txt", "text/markdown", "text"),
        (b"# Words", "", "", "text"),
        (b"a,b\n1,2\n", "a.CSV", "", "csv"),
        (b"a\tb\n", "a.tsv", "", "tsv"),
        (b'{"a": 1}', "a.json", "", "json"),
        (b"<?xml version='1.0'?><a/>", "", "", "xml"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><text>a</text></svg>", "a.svg", "", "xml"),
        (b"{\\rtf1 text}", "a.txt", "text/plain", "rtf"),
        (EPUB, "a.zip", "", "epub"),
        (ODT_TEMPLATE, "", "", "odt"),
        (ODP, "", "", "odp"),
        (REPACKED_ODT, "", "", "odt"),
        (FLAT_ODT, "a.xml", "", "odt"),
        (b"int main() { return 0; }", "main.c", "text/x-c", "text"),
        (b"a text with one \x00 NUL in it", "nul.txt", "", "text"),
        ("Grüße".encode("cp1252"), "a.pdf", "application/pdf", "text"),
        (b"From: me\nTo: you\nSubject: a memo\n\nWords", "memo.txt", "", "text"),
        (b"MIME-Version: 1.0\r\nFrom: a@example.org\r\n\r\nHi", "", "", "eml"),
        (b"From: me\nTo: you\nSubject: a memo\n\nWords", "memo.eml", "", "eml"),
        (b"From: me\nTo: you\n\nWords", "", "message/rfc822", "eml"),
        (b"plain words", "a.eml", "", "text"),
        (b"From a@example.org Tue Dec  1 08:00:00 2026\nFrom: a@example.org\n\nHi", "Inbox", "", "eml"),
        (b"From noon to 12:30\nNote: nobody was there\n", "a.txt", "", "text"),
        (documents.archive({"notes.txt": b"x"}), "", "", "zip"),
        (documents.archive({"word/list.txt": b"x", "xl/a.csv": b"x"}), "", "", "zip"),
        (documents.archive({"[Content_Types].xml": b"", "word/main.xml": b""}), "", "", "docx"),
        (documents.archive({"word\\document.xml": b""}), "", "", "docx"),
        (documents.archive({}), "", "", "zip"),
        (documents.archive({"a.pdf": PDF}), "", "", "zip"),
        (compound({"in": {"WordDocument": b""}, "__properties_version1.0": b""}), "", "", "msg"),
        (b"x", "", "", "text"),
        (documents.archive({"xl/workbook.xml": b""}), "a.docx", "", "xlsx"),
        (documents.archive({"[Content_Types].xml": b"", "xl/styles.bin": b"", "xl/workbook.bin": b""}), "", "", "xlsb"),
        (documents.archive({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}), "", "", "ods"),
        (COMPOUND + "Workbook".encode("utf-16-le"), "", "", "xls"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "a.pdf", "", "png"),
        (b"GIF89a", "", "", "gif"),
        (b"MM\x00*", "", "", "tiff"),
        (b"\xff\xd8\xff", "", "", "jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "", "", "webp"),
    ],
)
def test_kind_by_content(content: bytes, filename: str, declared: str, kind: str):
    assert choose_kind(content, filename, declared).name == kind


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"", "empty_file", "no bytes"),
        (b"PK\x03\x04" + bytes(100), "corrupt", "cut off"),
        (DOCX[: len(DOCX) // 2], "corrupt", "cut off"),
        (COMPOUND + "EncryptedPackage".encode("utf-16-le"), "password_required", "password"),
        (
            COMPOUND + "WordDocument".encode("utf-16-le"),
            "unsupported_format",
            "Word document in the format before 2007",
        ),
        (COMPOUND, "corrupt", "compound file"),
        (compound({"unheard of": b""}), "unsupported_format", "old Office"),
        (compound({"WordDocument": b"", "in": {"Workbook": b""}}), "unsupported_format", "a Word document"),
        (compound({"a": b"", "EncryptedPackage": b"x"}), "password_required", "password"),
        (bytes(257) + b"ustar", "unsupported_format", "a tar archive"),
        (bytes(range(256)) * 8, "unsupported_format", "unknown kind"),
        (bytes(5000), "unsupported_format", "unknown kind"),
    ],
)
def test_what_cannot_be_read_is_named(content: bytes, code: str, says: str):
    with pytest.raises(Permanent, match=says) as refusal:
        choose_kind(content, "any.txt", "text/plain")
    assert refusal.value.code == code


@pytest.mark.parametrize("content", [PDF, DOCX, HTML, b"words"])
def test_a_file_is_told_like_its_bytes(content: bytes, tmp_path: Path):
    path = tmp_path / "document"
    path.write_bytes(content)
    assert choose_kind(path) == choose_kind(content)


def test_thousands_of_comments_are_told_in_no_time():
    assert choose_kind(b"<!---->" * 2000).name == "text"


def test_an_empty_file_is_told_as_such(tmp_path: Path):
    (tmp_path / "empty").touch()
    with pytest.raises(Permanent, match="no bytes"):
        choose_kind(tmp_path / "empty")


def test_a_limit_says_which_how_much_and_how_to_raise_it():
    refusal = Limits(members=10_000).exceeded("members", "The archive has too many members")
    assert refusal.code == "limit_exceeded"
    assert refusal.message == ("The archive has too many members; the limit is 10,000 (FENCEPOST_EXTRACT__MEMBERS).")
