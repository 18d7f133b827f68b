"""The search index: publishing into it and searching in it, behind one protocol (backend.py)."""
