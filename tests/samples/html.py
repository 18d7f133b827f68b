"""Pages of the web, good, odd and hostile."""

from tests.samples import Sample
from tests.samples.text import ARABIC, HEBREW, JAPANESE, KOREAN, RUSSIAN
from tests.support import hostile

_ODD = """<!DOCTYPE html><html lang="de"><title>A &lt;page&gt;</title><style>p{}</style>
<script>if (a < b) { "</p>" }</script><h1>Lamps</h1><p>They sh<wbr>ine &amp; Leucht&shy;turm<br>bright
<noscript>without script</noscript><img alt="a picture of a lamp"><template>a mould</template>
<table><tr><td>Lamp</td><td>lit</td></tr></table><ruby>漢<rp>(</rp><rt>かん</rt>字<rt>じ</rt></ruby>です
<p title="never closed>more words<p>1 < 2 &#x1F40B; &nosuch; <![CDATA[as it is]]><textarea>a
b</textarea><button>One</button><button>Two</button>"""


def _encoded(encoding: str, declared: str, text: str, word: str) -> Sample:
    source = f'<!DOCTYPE html><meta charset="{declared}"><p>{text}'
    return Sample(
        f"{encoding}-says-{declared}.html", lambda: source.encode(encoding), words=(word,), media_type="text/html"
    )


SAMPLES = [
    _encoded("utf-8", "utf-8", RUSSIAN + ARABIC + HEBREW, "البحارة"),
    _encoded("utf-8", "iso-8859-1", RUSSIAN, "Смотритель"),
    _encoded("utf-16", "utf-8", KOREAN, "안전하게"),
    _encoded("cp1251", "windows-1251", RUSSIAN, "Смотритель"),
    _encoded("euc_jp", "euc-jp", JAPANESE, "漁船"),
    _encoded("cp932", "shift_jis", JAPANESE, "漁船"),
    Sample(
        "odd.html",
        _ODD.encode,
        words=(
            *(
                "They shine & Leuchtturm\nbright",
                "without script",
                "a picture of a lamp",
                "Lamp\tlit",
                "漢字 かんじ です",
            ),
            *("more words", "1 < 2 🐋 &nosuch; as it is\na\nb", "One\n\nTwo"),
        ),
        absent=("a < b", "a mould", "(", "p{}"),
    ),
    Sample(
        "unclosed-script.html",
        lambda: b"<html><p>seen<script>var hidden; <p>unseen",
        words=("seen",),
        absent=("hidden",),
    ),
    Sample(
        "xhtml.html",
        lambda: b"<?xml version='1.0'?><html><title/><script src='a'/><p/>words<br/>more",
        words=("words\nmore",),
    ),
    Sample("deep.html", lambda: hostile.deep_html(200_000), words=("bottom",)),
    Sample("comments.html", lambda: b"<html>words" + b"<!--" * 200_000, words=("words",)),
    Sample("quotes.html", lambda: b"<html>" + b"<a b=\"c='" * 200_000 + b">words", words=("words",)),
    Sample("digits.html", lambda: b"<html>before &#" + b"9" * 50_000 + b"; after", words=("before", "after")),
]
