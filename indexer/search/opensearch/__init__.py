"""The search backend for production: OpenSearch, by its client opensearch-py.

connection   the client of this process, and its errors as sentences
mapping      what an entry looks like in the engine; its fingerprint
entries      an entry as JSON
bulk         conditional writes in batches, each item with an outcome of its own
indices      physical indexes and their aliases
backend      `SearchBackend`, put together from these
"""

from indexer.search.opensearch.backend import OpenSearchBackend

__all__ = ["OpenSearchBackend"]
