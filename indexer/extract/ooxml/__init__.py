"""Office Open XML: what Word documents and presentations have in common, and how the words of a Word document flow.

`package` knows the parts of a file and what they refer to, `flow` turns a part into words in the order of reading,
`drawing` reads charts and SmartArt, `word` and `styles` what only Word has.
"""
