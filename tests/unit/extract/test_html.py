import random
import re
import time

import pytest

from indexer.extract import Extraction, Request, extract, hypertext

PIECES = [
    *("<", ">", "/", '"', "'", "=", " ", "\n", "words", "1 < 2", "&amp;", "<p>", "</p>", "</P >", "<br/>", "<br / >"),
    *("<!--", "-->", '<img alt="x">', "<img alt='y & &lt;' src=z>", "<img alt=a/>", "<img alt=a ALT=b>", '<a b="<">'),
    *('<a b">', "<td\n class = 'c'>", "<pre>", "</pre>", "<title>", "</title>", "<script>", "</script>", "<xmp/>"),
    *("<rt>", "</rt>"),
]


def read(body: str) -> Extraction:
    return extract(Request(f"<!doctype html>{body}".encode(), "a.html"))


def text(body: str) -> str:
    return "".join(passage.text for passage in read(body).passages).strip()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("a<wbr>b<b>c</b>&shy;d", "abcd"),
        ("a<br>b<br/>c</br>d", "a\nb\ncd"),
        ("<p>a<p>b<hr>c", "a\n\nb\n\nc"),
        ("<ruby>漢<rp>(</rp><rt>かん</rt>字<rt>じ</rt></ruby>", "漢字 かんじ"),
        ("a<script>b</p></script >c<style>d", "ac"),
        ("a<SCRIPT/>b<script>c</Script>d", "abd"),
        ("<script>a</scripts>b</script>c", "c"),
        ("a<!-- b > c -->d<!-->e<!--->f<!-- g", "adef"),
        ("a<!-- b --!>c<!-- d --!e>f-->g", "acg"),
        ("a<![CDATA[<b>]]>c<![if x]>d<![endif]><?php e ?>f<!x>g", "a<b>cdfg"),
        ("1 < 2 <3 a<", "1 < 2 <3 a<"),
        ("a<b", "a<b"),
        ("a > b </c", "a > b </c"),
        ("a > b <!c", "a > b <!c"),
        ("a > b <c d<!-- e", "a > b <c d"),
        ('a<img alt="x > y">b<img alt=z>c<img alt>d', "a x > y b z cd"),
        ('a<p title="b>c</p>d', "a\n\nc\n\nd"),
        ("a</ b>c</>d</B x>e", "acde"),
        ("<title>T</title><svg><title>S</title></svg>x", "Sx"),
        ("<title/><p>x", "x"),
        ("<title>a<p>x", "x"),
        ("<textarea>a <b>\n c</textarea>", "a <b>\nc"),
        ("<iframe><p>a</iframe><noscript>b</noscript><template>c<template>d</template>e</template>f", "bf"),
        ("&lt;&#x1F40B;&#128011;&eacute &#0; &amp", "<🐋🐋é \ufffd &"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
    ],
)
def test_words_of_a_page(body: str, words: str):
    assert text(body) == words


def test_the_short_way_reads_what_the_careful_way_reads(monkeypatch: pytest.MonkeyPatch):
    chance = random.Random(3)  # noqa: S311 - no secret
    pages = ["".join(chance.choices(PIECES, k=30)) for _ in range(300)]
    short = [read(page) for page in pages]
    monkeypatch.setattr(hypertext, "_PLAIN_TAG", re.compile("(?!)"))
    assert [read(page) for page in pages] == short


def test_headings_make_paths_and_the_title_is_a_fact():
    found = read("<title>The\n title</title>a<h1>One</h1>b<h2>Two<h3>Three</h3>c")
    assert [(p.heading, p.text.split()) for p in found.passages if p.heading] == []
    assert found.facts["title"] == "The title"


def seconds(content: bytes, name: str) -> float:
    """The processor time that reading it takes, of two tries the better one."""

    def once() -> float:
        started = time.process_time()
        extract(Request(content, name))
        return time.process_time() - started

    return min(once(), once())


@pytest.mark.parametrize("sign", ["<", "<a", "< b", "<!", "</"])
def test_signs_that_are_no_tags_cost_about_as_much_as_words(sign: str):
    """It was a hundred times as much, and thousands with one end of a tag behind all of them."""
    size = 500_000
    words = seconds((b"words of tides " * size)[:size], "a.txt")
    page = f"<html>{sign * (size // len(sign))}"
    assert seconds(page.encode(), "a.html") < 40 * words
    assert seconds(f"{page}>".encode(), "a.html") < 40 * words
