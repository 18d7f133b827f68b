"""Office Open XML: what Word documents and presentations have in common, and what each has of its own.

`package` knows the parts of a file and what they refer to, `flow` turns a part into words in the order of reading,
`drawing` reads charts and SmartArt. `word`, `body` and `styles` are of Word documents, `slides` of presentations.
"""
