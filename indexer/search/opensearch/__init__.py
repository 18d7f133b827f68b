"""The search backend for production: OpenSearch, by its client opensearch-py.

connection   the client of this process
reasons      its errors, and those of the engine, as sentences
mapping      what an entry looks like in the engine; its fingerprint
entries      an entry as JSON
metadata     the metadata of an entry, and what a filter looks for in it
bulk         conditional writes in batches
limiter      how many bulk calls may be under way
verdicts     what the answer to one item means, and the outcome of a document
indices      physical indexes and their aliases
reading      what an index has, without its text
queries      a request as a query
searching    one page of hits
points       points in time, for the next pages
backend      `SearchBackend`, put together from these
"""

from indexer.search.opensearch.backend import OpenSearchBackend

__all__ = ["OpenSearchBackend"]
