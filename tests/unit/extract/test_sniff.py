from pathlib import Path

import pytest

from indexer.extract import choose_kind
from indexer.extract.types import Limits
from pipeline.errors import Permanent
from tests.support import documents

PDF = documents.pdf([["Hello"]])
DOCX = documents.docx(documents.paragraph("Hello"))
HTML = b"<!DOCTYPE html><title>t</title><p>Hello"
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
        (b"int main() { return 0; }", "main.c", "text/x-c", "text"),
        (b"a text with one \x00 NUL in it", "nul.txt", "", "text"),
        ("Grüße".encode("cp1252"), "a.pdf", "application/pdf", "text"),
        (b"From: me\nTo: you\nSubject: a memo\n\nWords", "memo.txt", "", "text"),
        (b"x", "", "", "text"),
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
        (COMPOUND, "unsupported_format", "old Office"),
        (documents.archive({"xl/workbook.xml": b""}), "unsupported_format", "an Excel workbook"),
        (documents.archive({"mimetype": b"application/epub+zip"}), "unsupported_format", "an EPUB book"),
        (documents.archive({"notes.txt": b"x"}), "unsupported_format", "a ZIP archive"),
        (b"{\\rtf1 text}", "unsupported_format", "an RTF document"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "unsupported_format", "a PNG picture"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "unsupported_format", "a WebP picture"),
        (bytes(257) + b"ustar", "unsupported_format", "a tar archive"),
        (bytes(range(256)) * 8, "unsupported_format", "unknown kind"),
        (bytes(5000), "unsupported_format", "unknown kind"),
        (b"MIME-Version: 1.0\r\nFrom: a@example.org\r\n\r\nHi", "unsupported_format", "an e-mail message"),
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
