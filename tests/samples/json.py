"""JSON, whole, line by line and damaged."""

import json

from tests.samples import Sample
from tests.samples.text import ARABIC, JAPANESE, RUSSIAN

_ROWS = [{"text": text, "emoji": "🐋"} for text in (RUSSIAN, JAPANESE, ARABIC, 'He said "no" to C:\\new')]

SAMPLES = [
    Sample(
        "escaped.json",
        lambda: json.dumps(_ROWS).encode(),
        words=("Смотритель", "漁船", "البحارة", "🐋", 'said "no" to C:\\new'),
        absent=("\\u",),
        media_type="application/json",
    ),
    Sample(
        "lines.ndjson",
        lambda: "\n".join(map(json.dumps, _ROWS)).encode(),
        words=("Смотритель", "漁船"),
        media_type="application/json",
    ),
    Sample(
        "damaged.json",
        lambda: b'{"a": "gr\\u00fc\\u00dfe", "long": "' + b"word " * 20 + b'", "b": "\\u12", "c": "\\ud83d\\ude0',
        words=('"grüße"', "\\u12"),
    ),
    Sample("backslashes.json", lambda: b'["' + b"\\\\u00e4" * 100_000 + b'"]', words=("\\u00e4\\u00e4",)),
    Sample("deep.json", lambda: b"[" * 500_000 + b'"bottom"' + b"]" * 500_000, words=("bottom",)),
    Sample("wide.json", lambda: '{"a": "Möwe"}'.encode("utf-16"), words=("Möwe",)),
]
