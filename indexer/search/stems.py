"""Stems: what the forms of a word have in common, in the language of the document. The same for every backend.

They are made here and not by the engines, so that both find the same, and an upgrade of an engine, which may come with
other rules, changes nothing of what was indexed.
"""

from collections.abc import Callable, Iterable

import Stemmer

DEFAULT = "en"
"""Stems the words of documents whose language is not known, or has no stemmer."""

_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_OWN_SCRIPT = frozenset({"ar", "el", "fa", "hi", "hy", "ne", "ru", "sr", "ta", "yi"})
"""Their Latin words are English more often than anything else."""
_LONGEST = 64
"""A longer word is a number, a hash or an address, and has no forms."""
_MOST_KEPT = 50_000
"""Words of a language whose stems are remembered."""


def has_stemmer(language: str | None) -> bool:
    """Whether words of this language have stems of their own."""
    return language in _ALGORITHMS


def stems(words: str, language: str | None) -> str:
    """The stems of words that are in the normal form (`indexer.search.text`), in their order."""
    return " ".join(map(stemmer(language), words.split()))


def forms_of(words: tuple[str, ...], languages: Iterable[str]) -> list[tuple[str, ...]]:
    """How words that follow each other are indexed in documents of these languages, each way once."""
    return list(dict.fromkeys(tuple(map(stemmer(language), words)) for language in languages))


def stemmer(language: str | None) -> Callable[[str], str]:
    """Stems one word in this language."""
    name = language if language in _ALGORITHMS else DEFAULT
    if name not in _KEPT:
        _KEPT[name] = _Stems(name)
    return _KEPT[name].__getitem__


class _Stems(dict[str, str]):
    """The stems of the words of one language. Most words of a text have been seen before."""

    def __init__(self, language: str) -> None:
        self._stem = Stemmer.Stemmer(_ALGORITHMS[language], 0).stemWord  # it holds the interpreter's lock meanwhile
        self._latin = stemmer(DEFAULT) if language in _OWN_SCRIPT else self._stem

    def __missing__(self, word: str) -> str:
        if len(word) > _LONGEST:
            return word
        if len(self) >= _MOST_KEPT:
            self.clear()
        self[word] = stem = (self._latin if word.isascii() else self._stem)(word) or word
        return stem


_KEPT: dict[str, _Stems] = {}
