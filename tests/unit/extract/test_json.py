import pytest

from indexer.extract import Request, extract


def text(content: str) -> str:
    return "".join(passage.text for passage in extract(Request(content.encode(), "a.json")).passages)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r'{"a": "gr\u00fc\u00DFe"}', '{"a": "grüße"}'),
        (r'"\ud83d\udc0b\n\t\"\/\\"', '"🐋\n\t"/\\"'),
        (r'"\\u00e4 \\\u00e4"', r'"\u00e4 \ä"'),
        (r'"\u00e4\n\u00e4\\n"', '"ä\nä\\n"'),
        (r'{"cut": "\u00e4\u00', r'{"cut": "ä\u00'),
        ('{"a":\n\t[1,  2]}', '{"a":\n\t[1,  2]}'),
        (r'"\x \q \u12g4"', r'"\x \q \u12g4"'),
    ],
)
def test_escapes_are_resolved_and_all_else_stands(source: str, words: str):
    assert text(source) == words


def test_half_a_character_becomes_the_sign_for_it():
    assert text(r'"\ud83d and \udc0b\ud83d"' + " " * 200).split() == ['"\ufffd', "and", '\ufffd\ufffd"']
