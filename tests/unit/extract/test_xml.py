import pytest

from indexer.extract import Extraction, Request, extract
from pipeline.outcomes import TextQuality

ENCODED = f"{'Ab' * 38}\n" * 9


def read(content: str | bytes, **more: str) -> Extraction:
    data = content.encode() if isinstance(content, str) else content
    return extract(Request(data, "a.xml", **more))  # type: ignore[arg-type] # whatever the test says


def text(content: str | bytes) -> str:
    return "".join(passage.text for passage in read(content).passages)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<a><b>one</b><c>two</c></a>", "one\ntwo"),
        ("<a>\n  <b>one</b>\n  <c>\n   <d>two</d>\n  </c>\n</a>", "one\ntwo"),
        ("<p>It <b>sh</b>ines, <i>so</i> <i>bright</i>.</p>", "It shines, so bright."),
        ("<a title='Of lamps' id='x7'>one</a>", "Of lamps\none"),
        ("<a xmlns:x='y' x:label='two words'/>", "two words"),
        ("<a><![CDATA[1 < 2]]> &amp; &#228;</a>", "1 < 2 & ä"),
        ("<a><!-- not said --><?nor this?>said</a>", "said"),
        ("\n <?xml version='1.0'?><a>said</a>", "said"),
        (
            f"<a>one<b>{'iVBORw0K' * 40}==</b>\n<b>\n{ENCODED}AbC=\n</b>two {'words ' * 60}</a>",
            f"one\ntwo {'words ' * 60}".rstrip(),
        ),
        ("<!DOCTYPE a SYSTEM 'x.dtd'><a>&uuml;&unheard;</a>", "ü&unheard;"),
    ],
)
def test_words_without_tags(content: str, words: str):
    assert text(content) == words


@pytest.mark.parametrize(
    ("encoding", "words"), [("euc-jp", "灯台の光"), ("shift_jis", "灯台の光"), ("koi8-r", "Маяк"), ("utf-32", "Маяк")]
)
def test_encodings_that_expat_does_not_know(encoding: str, words: str):
    found = read(f"<?xml version='1.0' encoding='{encoding}'?><a>{words * 9}</a>".encode(encoding))
    assert found.text_quality is TextQuality.OK
    assert found.passages[0].text == words * 9


def test_an_override_beats_the_declaration():
    found = read("<?xml version='1.0' encoding='utf-8'?><a>Маяк</a>".encode("cp1251"), encoding="cp1251")
    assert found.passages[0].text == "Маяк"
    assert found.facts["encoding"] == "cp1251"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("<!DOCTYPE a [<!ENTITY b 'c'>]>\r\n<a>&b;</a>", "it declares XML entities, which are not expanded"),
        ("<!DOCTYPE a [<!ENTITY % b SYSTEM 'c'>%b;]>\n<a>x</a>", "it declares XML entities, which are not expanded"),
        ("<a>\n<b>\n</a>", "it is not well-formed XML (line 3)"),
        ("<a>&nosuch;</a>", "it is not well-formed XML (line 1)"),
    ],
)
def test_what_cannot_be_parsed_stands_as_it_is(content: str, why: str):
    found = read(content)
    assert found.text_quality is TextQuality.PARTIAL
    assert found.facts["partial"] == [f"the markup: {why}"]
    assert found.passages[0].text == content.replace("\r", "")
