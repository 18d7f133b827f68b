"""What an entry looks like in OpenSearch, and how its words are analysed.

Words arrive as the stems of `indexer.search.stems`, so an analyzer only splits at spaces. What is shown of a passage is
stored beside its Lucene document, and `_source` holds the small fields alone: a search that shows a few passages of a
large document never reads the whole of it.
"""

from hashlib import blake2b
from typing import Any

import orjson

from pipeline.settings import OpenSearch

TEXT_REVISION = 2
"""To be raised with `indexer.search.text` and `stems`, which make what is indexed."""
LONGEST_WORD = 2046
"""As in PostgreSQL; the engine would refuse a document with a word of more than 32,766 bytes."""

WORDS = "words_exact"
"""The analyzer. Indexes of the first releases have one of this name too, beside another that stems once more."""

ANALYSIS: dict[str, Any] = {
    "tokenizer": {"spaces": {"type": "whitespace", "max_token_length": 1024 * 1024}},
    "filter": {"no_giants": {"type": "length", "max": LONGEST_WORD}},
    "analyzer": {WORDS: {"type": "custom", "tokenizer": "spaces", "filter": ["no_giants"]}},
}

_SHOWN: dict[str, Any] = {"type": "text", "index": False}
_STORED: dict[str, Any] = {"type": "text", "index": False, "store": True}
_ORDERED: dict[str, Any] = {"index": False, "doc_values": True}


def _words(**more: object) -> dict[str, Any]:
    return {"type": "text", "analyzer": WORDS, **more}


MAPPING: dict[str, Any] = {
    "dynamic": "strict",
    "_source": {"excludes": ["words", "passages"]},
    "properties": {
        "document_id": {"type": "keyword"},
        "version": {"type": "long", **_ORDERED},
        "tombstone": {"type": "boolean"},
        "collection_id": {"type": "integer"},
        "media_type": {"type": "keyword"},
        "language": {"type": "keyword"},
        "accepted_at": {"type": "date_nanos"},
        "key": _SHOWN,
        "title": _SHOWN,
        "title_order": {"type": "keyword", **_ORDERED},
        "metadata": {"type": "flat_object"},
        "words": _words(norms=False),  # of the title and the key
        "passages": {
            "type": "nested",
            "dynamic": "strict",
            "properties": {
                "n": {"type": "integer", **_ORDERED},
                "page": {"type": "integer", **_ORDERED},
                # Offsets and pages in turn; doc_values would sort them.
                "breaks": {"type": "integer", "index": False, "doc_values": False, "store": True},
                "member": _STORED,
                "headings": _STORED,  # JSON of offsets and headings
                "text": _STORED,
                "words": _words(),
            },
        },
    },
}

# Deletes need no memory: what was deleted is an entry. So an entry that somebody removed can be written again at once.
BEHAVIOUR: dict[str, Any] = {"refresh_interval": "1s", "gc_deletes": "0s", "translog.durability": "request"}

FINGERPRINT = blake2b(
    orjson.dumps([MAPPING, ANALYSIS, TEXT_REVISION], option=orjson.OPT_SORT_KEYS), digest_size=4
).hexdigest()


def template(settings: OpenSearch) -> dict[str, Any]:
    """The template of all indexes under this prefix; that of a longer prefix goes first."""
    index = {
        "number_of_shards": settings.shards,
        "number_of_replicas": settings.replicas,
        "analysis": ANALYSIS,
        **BEHAVIOUR,
    }
    return {
        "index_patterns": [f"{settings.prefix}-*"],
        "priority": 100 + len(settings.prefix),
        "template": {"settings": {"index": index}, "mappings": MAPPING},
    }
