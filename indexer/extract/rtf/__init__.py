"""RTF taken apart: `words` are the marks and what they say, `charsets` the bytes that stand for letters."""
