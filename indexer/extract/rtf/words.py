"""The words and signs of RTF that decide what is read, and where it goes."""

UNREAD = frozenset(
    {"fonttbl", "colortbl", "stylesheet", "info", "pict", "themedata", "colorschememapping", "datastore", "filetbl"}
    | {"list", "listtable", "listlevel", "leveltext", "levelnumbers", "listname", "listoverridetable", "listpicture"}
    | {"revtbl", "rsidtbl", "generator", "xmlnstbl", "latentstyles", "objdata", "objclass", "objname", "panose", "falt"}
    | {"bkmkstart", "bkmkend", "pntxta", "pntxtb", "sp", "shprslt", "nonshppict", "upr", "tc"}
    | {"xe", "rxe", "txe", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "atnid", "atnauthor", "atndate", "atnref"}
    | {"template", "formfield", "datafield", "ftncn", "aftncn", "fontemb"}
    | {"mmathPr", "wgrffmtfilter", "background", "pgptbl", "propname", "staticval", "private"}
)
"""What begins a group whose text is none of the document's."""

READ_THOUGH_STARRED = frozenset(
    {"shpinst", "shptxt", "ud", "footnote", "annotation", "shppict", "moMath", "moMathPara"}
)
"""Groups that older programs pass over, and whose text is the document's."""

ASIDES = frozenset({"footnote", "annotation", "shptxt"})
"""What stands beside a paragraph."""

AROUND = frozenset({"header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"})
"""What stands around every page."""

SIGNS = {
    "tab": "\t", "line": "\n", "lbr": "\n", "row": "\n", "nestrow": "\n", "cell": "\t", "nestcell": "\t",
    "emdash": "\u2014", "endash": "\u2013", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005",
    "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d",
    "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip
"""Words that mean a character."""

SYMBOLS = {"~": "\xa0", "_": "\u2011", "\t": "\t"}
"""Signs that mean a character."""

BULLET = "\u2022"
"""What is shown for a character of a symbol font."""

OF_SYMBOL_FONTS = range(0xF000, 0xF100)
"""Private numbers of characters, which are mostly bullets."""

ITSELF = frozenset("{}\\")
"""Signs that mean themselves; each may be the second byte of a character."""
