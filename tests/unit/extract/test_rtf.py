import pytest

from indexer.extract import Extraction, Request, extract


def read(body: str) -> Extraction:
    return extract(Request(f"{{\\rtf1{body}}}".encode("latin-1"), "a.rtf"))


def text(body: str) -> str:
    return "".join(passage.text for passage in read(body).passages).rstrip("\n")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"\ansicpg1251 \'cc\'e0\'ff\'ea", "Маяк"),
        (r"\ansicpg932 \'93\'94\'91\'e4", "灯台"),
        (r"\ansicpg932 \'83g\'83\{", "トボ"),
        (r"\ansicpg932{\fonttbl{\f0\fcharset0 A;}}\f0 \'93\'94", "灯"),
        (r"\ansicpg1251{\fonttbl{\f0\fcharset0 A;}}\f0 \'e9", "é"),
        (r"\ansicpg1252{\fonttbl{\f7\fnil\fcharset238 A;}}{\f7 \'9c}\'9c", "śœ"),
        (r"\ansicpg1252{\fonttbl{\f0\fcharset128 A;}}\f0 \'96", "\u2013"),
        (r"\mac \'8a", "ä"),
        (r"\ansicpg99999 \'e4", "ä"),
        (r"\ansicpg65001 \'c3\'a4", "ä"),
    ],
)
def test_bytes_are_read_in_the_encoding_of_their_font(body: str, words: str):
    assert text(body) == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"\u228?x", "äx"),
        (r"\uc2\u228ae\'78\u228\'61\'62y", "äxäy"),
        (r"\uc0\u228x", "äx"),
        (r"\uc3\u228 {}x", "äx"),
        (r"\u-10179?\u-8652?", "😴"),
        (r"\u-3913?x", "\u2022x"),
        (r"\uc1\u8212\emdash x", "\u2014x"),
        (r"\uc1\u8212\lang7\langnp7\tab x", "\u2014\tx"),
        (r"{\*\lang7\b0 no}{\lang7\*\b0 x}\bin3 }}}\binary y", "xy"),
        (r"a\~b\_c\-d\{\}\\", "a\xa0b\u2011cd{}\\"),
        (r"\lquote a\rquote\tab b\line c", "‘a’\tb\nc"),
    ],
)
def test_characters_beyond_ascii(body: str, words: str):
    assert text(body) == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"a{\footnote note}b\par c", "ab\nnote\nc"),
        (r"a{\*\annotation said}b\par", "ab\nsaid"),
        (r"a{\header head\par}{\footerr foot}b{\header head\par}", "ab\nhead\n\nfoot"),
        (r'{\field{\*\fldinst{HYPERLINK "http://a.example"}}{\fldrslt a}}', "a\nhttp://a.example"),
        (r'{\field{\*\fldinst HYPERLINK \\l "x"}{\fldrslt a}}', "a"),
        (r"{\upr{one}{\*\ud{two}}}", "two"),
        (r"a{\*\other b{\footnote c}}d", "ad"),
        (r"a{\b\*\other b}c", "abc"),
        (r"{\listtext 1.\tab}a{\list{\listname b}}", "1.\ta"),
        (r"a\deleted b\deleted0 c{\deleted d\plain e}", "ace"),
        (r"{\shp{\*\shpinst{\sp{\sn n}{\sv v}}{\shptxt box}}{\shprslt box}}", "\nbox"),
        (r"{\pict\bin3 }}}}a", "a"),
        (r"a\bin-5 b", "ab"),
        (r"\trowd a\cell b\cell\row", "a\tb\t"),
    ],
)
def test_what_is_read_and_where(body: str, words: str):
    assert text(body) == words


def test_headings_and_pages():
    found = read(r"{\info{\title T}}\pard\outlinelevel0 One\par\pard a\page\pard\outlinelevel1 Two\par\pard b")
    assert [(p.page, p.heading, p.text.split()) for p in found.passages] == [
        (1, "One", ["One", "a"]),
        (2, "One › Two", ["Two", "b"]),
    ]
    assert found.facts == {"characters": 12, "title": "T", "pages": 2, "pages_approximate": True}


def test_without_breaks_the_pages_are_unknown():
    found = read("a")
    assert found.passages[0].page is None
    assert found.facts == {"characters": 2}


def test_a_document_that_was_cut_off_says_so():
    found = extract(Request(b"{\\rtf1 a{\\footnote note", "a.rtf"))
    assert [p.text.split() for p in found.passages] == [["a", "note"]]
    assert found.facts["partial"] == ["the end: it is missing, the file was cut off"]


def test_what_follows_the_document_is_not_read():
    assert "".join(p.text for p in extract(Request(b"{\\rtf1 a}b", "a.rtf")).passages) == "a\n"
