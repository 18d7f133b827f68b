"""Text of the kind `format=flowed`: lines that end with a space go on in the next one (RFC 3676)."""

import re

_QUOTED = re.compile(r">*")
_SIGNATURE = "-- "


def unfolded(text: str, *, without_space: bool) -> str:
    """The text with its paragraphs in one line each; `without_space` says that the space is no part of them."""
    lines: list[str] = []
    going_on: list[str] = []
    depth = 0
    for line in text.split("\n"):
        quoted = _QUOTED.match(line)
        marks = quoted[0] if quoted else ""
        words = line[len(marks) :].removeprefix(" ")
        if going_on and len(marks) != depth:
            lines.append("".join(going_on))
            going_on = []
        if not going_on and marks:
            going_on.append(f"{marks} ")
        depth = len(marks)
        if words.endswith(" ") and words != _SIGNATURE:
            going_on.append(words[:-1] if without_space else words)
        else:
            lines.append("".join([*going_on, words]))
            going_on = []
    return "\n".join([*lines, "".join(going_on)] if going_on else lines)
