import pytest

from indexer.extract import Extraction, Request, extract
from indexer.extract.quality import TextQuality
from indexer.extract.types import Limits
from tests.support import hostile


def read(content: str | bytes, filename: str, **more: object) -> Extraction:
    data = content.encode() if isinstance(content, str) else content
    return extract(Request(data, filename, **more))  # type: ignore[arg-type] # whatever the test says


def text(extraction: Extraction) -> str:
    return "".join(passage.text for passage in extraction.passages)


def test_plain_text_stands_as_it_is():
    found = read("one\r\ntwo\rthree\n", "a.txt")
    assert text(found) == "one\ntwo\nthree\n"
    assert (found.media_type, found.text_quality) == ("text/plain", TextQuality.OK)
    assert found.facts == {"characters": 14, "encoding": "utf-8", "encoding_confidence": 0.99}


def test_the_charset_of_the_media_type_is_heard():
    found = read("Łódź".encode("iso8859-2"), "a.txt", declared_media_type='text/plain; charset="ISO-8859-2"')
    assert text(found) == "Łódź"
    assert found.facts["encoding"] == "iso8859-2"


def test_an_override_beats_everything():
    found = read("Привет".encode("koi8-r"), "a.txt", declared_media_type="text/plain; charset=utf-8", encoding="koi8-r")
    assert text(found) == "Привет"


def test_the_encoding_that_xml_declares_is_heard():
    found = read('<?xml version="1.0" encoding="iso-8859-2"?><a>Łódź</a>'.encode("iso8859-2"), "a.xml")
    assert "Łódź" in text(found)
    assert found.media_type == "application/xml"


def test_white_space_is_no_text():
    found = read(" \n\t\n", "a.txt")
    assert found.text_quality is TextQuality.NO_TEXT


def test_nul_and_control_characters_do_not_come_out():
    assert text(read("a\x00b and a long enough line of words around it\x07", "a.txt")) == (
        "ab and a long enough line of words around it"
    )


def test_too_many_characters_are_cut_off_and_said():
    found = read("word " * 1000, "a.txt", limits=Limits(characters=1000))
    assert text(found) == "word " * 200
    assert found.text_quality is TextQuality.TRUNCATED
    assert found.facts["truncated"] is True


def test_garbage_is_called_unreliable():
    garbage = "".join(chr(0xE000 + n % 200) for n in range(300))
    assert read(garbage, "a.txt").text_quality is TextQuality.TEXT_UNRELIABLE
    assert read("(cid:20)(cid:21) " * 30, "a.txt").text_quality is TextQuality.TEXT_UNRELIABLE


@pytest.mark.parametrize("character", ["\x7f", "\ue000", "\uf8ff", "\ufffd", "\U000f0000", "\U00100000"])
def test_a_text_with_many_characters_that_mean_nothing_is_unreliable(character: str):
    few, many = "words " * 99, "words " * 5
    assert read(few + character, "a.txt").text_quality is TextQuality.OK
    assert read(many + character, "a.txt").text_quality is TextQuality.TEXT_UNRELIABLE
    assert read("a \ufffd in a hundred letters " + "x" * 100, "a.txt").text_quality is TextQuality.OK


def test_markdown_gives_words_without_marks():
    found = read(
        "---\nauthor: A. Halloran\n---\n# The *light*\n\nSee [the log](http://x.example) and `code`.\n\n"
        "- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![a picture](p.png)\n\n```\nkept = True\n```\n\n"
        "Second\n======\n\nA hard  \nbreak &amp; an entity<br>\n",
        "a.md",
    )
    assert text(found) == (
        "author: A. Halloran\n\nThe light\n\nSee the log and code.\n\none\ntwo\n\na\tb\t\n1\t2\t\n\na picture\n\n"
        "kept = True\n\nSecond\n\nA hard\nbreak & an entity\n\n"
    )
    assert found.facts["title"] == "The light"


def test_markdown_sections_know_their_heading():
    found = read("# One\n\n" + "word " * 400 + "\n\n## Two\n\n" + "word " * 400, "a.md")
    assert {passage.heading for passage in found.passages} == {"One", "One › Two"}


def test_html_gives_words_in_reading_order():
    found = read(
        "<!doctype html><html><head><title> The\n title </title><style>p { color: red }</style></head>"
        "<body><h1>Head</h1><p>Some <b>bo</b>ld &amp; plain&nbsp;text.<br>New line</p><ul><li>one<li>two</ul>"
        "<table><tr><td>1</td><td>2</td></tr></table><img alt='a lamp'><script>var x = '<p>no</p>'</script>"
        "<pre>kept\n  lines</pre><svg><title>drawing</title></svg></body></html>",
        "a.html",
    )
    assert text(found) == (
        "Head\n\nSome bold & plain\xa0text.\nNew line\n\none\ntwo\n\n1\t2\n\na lamp\n\nkept\nlines\n\ndrawing\n\n"
    )
    assert found.facts["title"] == "The title"


def test_html_charset_is_read_from_the_page():
    page = '<html><meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>Łódź'.encode("iso8859-2")
    found = read(page, "a.html")
    assert text(found) == "Łódź\n\n"
    assert found.facts["encoding"] == "iso8859-2"


def test_a_title_that_never_ends_does_not_swallow_the_page():
    assert text(read("<html><title>T<p>words", "a.html")) == "words\n\n"


def test_deeply_nested_html_keeps_its_words():
    assert text(read(hostile.deep_html(20_000), "a.html")) == "bottom\n\n"


def test_runs_of_cells_cost_no_more_than_their_number():
    assert text(read("<!doctype html><table>" + "<td> \t" * 50_000 + "end", "a.html")) == "end\n\n"
