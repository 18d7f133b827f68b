"""The one sanitiser: what every text passes before it reaches the database, the index or a query.

PostgreSQL refuses NUL in any text, UTF-8 has no surrogates, and control characters are noise to a reader. Extracted
text, titles, file names, metadata and search queries all come through here, so nothing else needs to know.
"""

_LINE_BREAKS = str.maketrans("\x0b\x0c", "\n\n")
_CONTROLS = dict.fromkeys(n for n in range(0x20) if chr(n) not in "\t\n\r")
_CONTROL_BYTES = bytes(_CONTROLS)
_MANY = 2000


def clean_text(text: str) -> str:
    """The text without NUL and other control characters but tab and line ends; a lone surrogate becomes U+FFFD.

    A text with nothing to clean comes back as the very same object.
    """
    if _is_clean(text):
        return text
    text = text.translate(_LINE_BREAKS).translate(_CONTROLS)
    # The halves of a pair join here; a half without its other half has no meaning.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_name(text: str | None) -> str | None:
    """The clean text that a filter asks for; None when there is nothing in it."""
    return clean_text(text) or None if text else None


def clean_json(value: object) -> object:
    """The same for every string, also the keys, in a JSON value."""
    match value:
        case str():
            return clean_text(value)
        case list():
            return [clean_json(item) for item in value]
        case dict():
            return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
        case _:
            return value


def _is_clean(text: str) -> bool:
    """Told of the bytes, several times faster than by a pattern; of many, by a search for each control character."""
    try:
        data = text.encode()
    except UnicodeEncodeError:  # a surrogate
        return False
    if len(data) < _MANY:
        return len(data.translate(None, _CONTROL_BYTES)) == len(data)
    return not any(map(data.__contains__, _CONTROL_BYTES))
