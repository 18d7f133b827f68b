"""The search index: publishing into it and searching in it, behind one protocol (backend.py)."""

PACKAGE = "indexer.search"
"""Where `pipeline.database.query` finds the statements of this package."""
