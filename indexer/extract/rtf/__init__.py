"""RTF taken apart.

`tokens` are the pieces of a file, `words` its marks and what they say, `charsets` the bytes that stand for letters, and
a `story` is what all of them tell.
"""
