"""Plain text in fourteen encodings, and texts that are odd."""

from tests.samples import Sample

RUSSIAN = "Маяк зажигали каждый вечер, и свет его был виден за двадцать миль. Смотритель вёл журнал.\n" * 3
GERMAN = "Der Leuchtturm über der Höhe grüßt die Schiffe. Möwen dürfen nicht gefüttert werden, heißt es.\n" * 3
GREEK = "Ο φάρος άναβε κάθε βράδυ και το φως του φαινόταν από μακριά στη θάλασσα.\n" * 3
POLISH = "Latarnia morska świeciła każdej nocy, a jej światło było widoczne z dużej odległości.\n" * 3
JAPANESE = "灯台の光は沖合二十海里まで届き、鰊を追う漁船の目印になった。\n" * 3
CHINESE = "灯塔的光芒照亮了海港，渔船在夜里安全返航。\n" * 3
TRADITIONAL = "燈塔的光芒照亮了海港，漁船在夜裡安全返航。\n" * 3
KOREAN = "등대의 불빛은 매일 밤 바다를 비추었고 어선들은 안전하게 돌아왔다.\n" * 3
ARABIC = "كانت المنارة تضيء كل ليلة ويراها البحارة من بعيد.\n" * 3
HEBREW = "המגדלור האיר את הים בכל לילה והספינות חזרו בשלום.\n" * 3

_ENCODED = (
    ("utf-8", RUSSIAN, "Смотритель"),
    ("utf-8-sig", GERMAN, "grüßt"),
    ("utf-16", RUSSIAN, "журнал"),
    ("utf-16-le", GERMAN, "Möwen"),
    ("utf-32", JAPANESE, "沖合二十海里"),
    ("cp1251", RUSSIAN, "двадцать"),
    ("koi8-r", RUSSIAN, "вечер"),
    ("cp1252", GERMAN, "Höhe"),
    ("cp1250", POLISH, "świeciła"),
    ("cp1253", GREEK, "θάλασσα"),
    ("cp932", JAPANESE, "漁船の目印"),
    ("euc_jp", JAPANESE, "灯台の光"),
    ("iso2022_jp", JAPANESE, "灯台の光"),
    ("gb18030", CHINESE, "渔船在夜里"),
    ("big5", TRADITIONAL, "漁船在夜裡"),
    ("euc_kr", KOREAN, "안전하게"),
    ("cp1256", ARABIC, "المنارة"),
    ("cp1255", HEBREW, "המגדלור"),
)


def _encoded(encoding: str, text: str, word: str) -> Sample:
    return Sample(f"{encoding}.txt", lambda: text.encode(encoding), words=(word,), media_type="text/plain")


SAMPLES = [
    *(_encoded(*row) for row in _ENCODED),
    Sample("right-to-left.txt", lambda: (ARABIC + HEBREW).encode(), words=("البحارة", "הספינות")),
    Sample("emoji.txt", lambda: "The keeper 👩🏽‍✈️ saw a 🐋 at noon.\n".encode(), words=("👩🏽‍✈️", "🐋")),
    Sample(
        "nul.txt", lambda: b"before\x00after the storm, and much more text to read\n" * 30, words=("after the storm",)
    ),
    Sample(
        "lone-surrogate.txt",
        lambda: b"caf\xc3\xa9 \xed\xa0\x80 harbour\n" + "grüßt ".encode() * 200,
        words=("harbour",),
    ),
    Sample("empty.txt", lambda: b"", outcome="empty_file"),
    Sample("spaces.txt", lambda: b" \n\t\n" * 10, outcome="no_text"),
    Sample("garbage.txt", lambda: ("\ue000\ue001 \ufffd word " * 50).encode(), outcome="text_unreliable"),
    Sample("override.txt", lambda: "Привет".encode("cp866"), words=("Привет",), encoding="cp866"),
    Sample("long-line.txt", lambda: b"x" * 3_000_000 + b" end", words=(" end",)),
    Sample(
        "more-than-allowed.txt", lambda: b"word " * 4_500_000, outcome="truncated", words=("word word",), large=True
    ),
]
