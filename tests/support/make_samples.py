"""Writes the sample documents that are not plain text: run `python -m tests.support.make_samples` after a change."""

from pathlib import Path

from tests.support import documents

FOLDER = Path(__file__).parents[2] / "fencepost" / "samples"

CATALOGUE = (
    (
        "Objects of the Harbour Museum",
        "A short catalogue",
        "",
        "The museum keeps some nine hundred objects that were in use on this coast",
        "between the age of sail and the last lightship. This catalogue describes",
        "the ones that visitors ask about most, one page for each.",
        "",
        "Everything here may be touched, except where a label says otherwise. The",
        "donors wished it so: tools are understood by the hand.",
    ),
    (
        "1. The brass chronometer",
        "",
        "Made in 1826 by an instrument maker who signed only with a small owl. It",
        "travelled twice around Cape Horn and once, by mistake, to a pawnbroker in",
        "Valparaiso. On her last voyage its keeper wound it every morning at eight",
        "for eleven hundred days.",
        "",
        "It loses half a second a day. Nobody has ever found out why it stopped",
        "losing it for the whole of the year 1883.",
    ),
    (
        "2. The breeches buoy",
        "",
        "A canvas seat sewn into a lifebelt, hauled along a rope that was shot from",
        "the beach to a wreck by rocket. Eighty-seven people of nine ships came",
        "ashore on Skerrow in this one, among them a cellist, who insisted on",
        "sending the instrument first.",
        "",
        "The rocket apparatus itself is kept at the town hall, because of the in-",
        "surance.",
    ),
    (
        "3. The ship in the whisky bottle",
        "",
        "A full-rigged ship of ninety-one parts by the cook of the lightship",
        "Albatross. He had, he wrote, a great deal of time and no company but the",
        "foghorn. A magnifying glass shows the name on the stern: Patience.",
        "",
        "The bottle was opened once, in 1974, to see whether it still smelled of",
        "its first cargo. It did.",
    ),
)

HISTORY = (
    ("灯台の光と霧笛", "Berschrift1"),
    ("岬の灯台は明治二十三年に初めて灯された。石を積む職人たちは、潮が引くわずかな時間だけ岩の上で働いた。", ""),
    ("光は沖合二十海里まで届き、鰊を追う漁船の目印になった。灯台守は毎晩三十分ごとに時計仕掛けを巻き上げた。", ""),
)
HISTORY_PAGE_2 = (
    ("霧笛", "Berschrift1"),
    (
        "霧の深い夜には、圧縮空気で鳴らす霧笛が九十秒に一度響いた。その音は隣の島まで聞こえ、牛の乳の出が悪くなったという。",
        "",
    ),
    ("港の博物館では、訪れた人が紐を引いて小さな霧笛を鳴らすことができる。耳をふさぐのを忘れずに。", ""),
)
TABLE = (("年", "出来事"), ("1890", "初点灯"), ("1923", "電灯になる"), ("1988", "無人になる"))

RULES = (
    "Hafenordnung des alten Hafens von Skerrow",
    "",
    "§ 1 Fischerboote haben Vorrang vor Ausflugsbooten, Ausflugsboote vor Ruderbooten,",
    "und alle zusammen warten auf die Fähre.",
    "",
    "§ 2 Möwen dürfen nicht gefüttert werden. Wer es dennoch tut, fegt danach die Mole.",
    "",
    "§ 3 Das Ausnehmen von Fischen ist nur am unteren Ende der Südmole gestattet, und zwar",
    "bei ablandigem Wind.",
    "",
    "§ 4 Nach Sonnenuntergang sind Ziehharmonikas leise zu spielen. Seemannslieder mit mehr",
    "als zwölf Strophen bedürfen der Genehmigung des Hafenmeisters.",
    "",
)


def history() -> bytes:
    """The Japanese Word file: two pages, a table, a footnote and a header."""
    body = (
        "".join(documents.paragraph(*line) for line in HISTORY)
        + documents.table(TABLE)
        + documents.page_break()
        + "".join(documents.paragraph(*line) for line in HISTORY_PAGE_2)
    )
    parts = {
        "word/header1.xml": documents.part("hdr", documents.paragraph("港の博物館・展示解説")),
        "word/footnotes.xml": documents.part(
            "footnotes", f"<w:footnote>{documents.paragraph('一海里は約一・八五キロメートルである。')}</w:footnote>"
        ),
    }
    return documents.docx(body, parts, title="灯台の光と霧笛")


def samples() -> dict[str, bytes]:
    """Every made file by its name."""
    return {
        "catalogue.pdf": documents.pdf(CATALOGUE, "Objects of the Harbour Museum"),
        "lighthouse-history.docx": history(),
        "harbour-rules.txt": "\r\n".join(RULES).encode("cp1252"),
    }


if __name__ == "__main__":
    for name, data in samples().items():
        (FOLDER / name).write_bytes(data)
