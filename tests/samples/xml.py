"""XML of several vocabularies, some of it hostile."""

from indexer.extract import Limits
from tests.samples import Sample
from tests.samples.text import JAPANESE, RUSSIAN

_LAUGHS = '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<a>said &b;</a>'
_OUTSIDE = '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<a>said &x;</a>'
_DRAWING = (
    '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><title>A lamp</title>'
    '<path d="M0 0h9"/><text>It <tspan>shines</tspan></text><text aria-label="x">bright</text></svg>'
)


def _encoded(encoding: str, text: str, word: str) -> Sample:
    source = f'<?xml version="1.0" encoding="{encoding}"?>\n<notes><note>{text}</note></notes>'
    return Sample(
        f"{encoding.lower()}.xml",
        lambda: source.encode(encoding),
        words=(word,),
        absent=("<note>",),
        media_type="application/xml",
    )


SAMPLES = [
    _encoded("UTF-8", RUSSIAN, "Смотритель"),
    _encoded("UTF-16", RUSSIAN, "Смотритель"),
    _encoded("EUC-JP", JAPANESE, "漁船"),
    _encoded("Shift_JIS", JAPANESE, "漁船"),
    _encoded("ISO-2022-JP", JAPANESE, "漁船"),
    _encoded("windows-1251", RUSSIAN, "Смотритель"),
    _encoded("UTF-32", RUSSIAN, "Смотритель"),
    Sample("drawing.svg", _DRAWING.encode, words=("A lamp\n", "It shines\nbright"), absent=("M0 0h9", "tspan")),
    Sample(
        "laughs.xml",
        _LAUGHS.encode,
        outcome="partial",
        words=("<a>said &b;</a>",),
        partial=("the markup: it declares XML entities",),
    ),
    Sample(
        "xxe.xml",
        _OUTSIDE.encode,
        outcome="partial",
        words=("said &x;",),
        absent=("root:",),
        partial=("the markup: it declares XML entities",),
    ),
    Sample(
        "open.xml",
        lambda: b"<?xml version='1.0'?>\n<a><b>words\n</a>",
        outcome="partial",
        words=("<b>words",),
        partial=("the markup: it is not well-formed XML (line 3)",),
    ),
    Sample("deep.xml", lambda: b"<?xml version='1.0'?>" + b"<a>" * 100_000 + b"x" + b"</a>" * 100_000, words=("x",)),
    Sample("dtd.xml", lambda: b"<?xml version='1.0'?><!DOCTYPE a SYSTEM 'a.dtd'><a>caf&eacute;</a>", words=("café",)),
    Sample("empty.xml", lambda: b"<?xml version='1.0'?><a/>", outcome="no_text"),
    Sample(
        "more-than-allowed.xml",
        lambda: b"<?xml version='1.0'?><a>" + b"<b>word</b>" * 1000 + b"</a>",
        outcome="truncated",
        words=("word\nword",),
        limits=Limits(characters=1000),
    ),
]
