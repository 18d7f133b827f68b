import pytest

from indexer.extract.encodings import decode, known
from pipeline.errors import Permanent

GERMAN = "Zwölf Möwen überfliegen die große Mole. Die Fähre fährt über das ruhige Hafenbecken, später käme Nebel auf.\n"
RUSSIAN = "Смотритель маяка каждую ночь заводил часовой механизм и считал корабли, которые проходили мимо.\n"
JAPANESE = "灯台守は毎晩三十分ごとに時計仕掛けを巻き上げ、通り過ぎる船の数を数えていた。\n"
CHINESE = "灯塔看守人每天晚上都要给钟表装置上发条并数着经过的船只。\n"
KOREAN = "등대지기는 매일 밤 시계 장치를 감고 지나가는 배의 수를 세었습니다.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "utf-32-le"),
        (GERMAN, "utf-32-be"),
        ("nothing but ASCII, and NULs between", "utf-16-le"),
        ("nothing but ASCII, and NULs between", "utf-32-be"),
        (GERMAN, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (JAPANESE, "utf-16-le"),
        (CHINESE, "gb18030"),
        (CHINESE, "utf-8"),
        (KOREAN, "cp949"),
        (KOREAN, "iso2022_kr"),
    ],
)
def test_reads_without_being_told(text: str, encoding: str):
    assert decode((text * 3).encode(encoding)).text == text * 3


@pytest.mark.parametrize(
    "text", ["ehrliche Wörter in größerer Länge\n" * 500, "ÅÄÖ åäö är på sjön där båten går\n" * 8], ids=["de", "sv"]
)
def test_a_text_full_of_accents_is_not_taken_for_an_encoding_that_nobody_uses(text: str):
    assert decode(text.encode("cp1252")).text == text


def test_a_declaration_decides_where_bytes_allow_many():
    data = "Łódź".encode("iso8859-2")
    assert decode(data, declared="iso-8859-2").text == "Łódź"
    assert decode("模魔".encode("gb2312"), declared="gb2312").text == "模魔"  # valid UTF-8 too, for something else


def test_a_false_declaration_is_not_believed():
    assert decode(GERMAN.encode(), declared="us-ascii").text == GERMAN
    assert decode(GERMAN.encode(), declared="iso-8859-1").text == GERMAN
    assert decode(JAPANESE.encode("cp932") * 4, declared="utf-8").text == JAPANESE * 4


def test_latin_1_means_what_the_web_means_by_it():
    assert decode(b"\x93quoted\x94", declared="iso-8859-1").text == "“quoted”"


def test_a_broken_byte_in_utf8_costs_one_character():
    data = (GERMAN * 20).encode()
    broken = data[:200] + b"\xff" + data[200:]
    found = decode(broken)
    assert found.encoding == "utf-8"
    assert found.text.count("\ufffd") == 1
    assert 0.9 < found.confidence < 1


def test_utf8_cut_inside_a_character_is_utf8():
    assert decode((JAPANESE * 5).encode()[:-2]).encoding == "utf-8"


def test_few_umlauts_in_latin_1_are_not_taken_for_broken_utf8():
    text = ("An English text with one word, Käse, that is not. " + "The rest of it is. " * 20) * 5
    assert decode(text.encode("cp1252")).text == text


def test_an_override_is_obeyed():
    assert decode("Привет".encode("koi8-r"), override="KOI8-R").text == "Привет"
    assert decode(b"\xd0\x9f", declared="utf-8", override="latin-1").text == "Ð\x9f".encode("latin-1").decode(
        "cp1252", "replace"
    )


@pytest.mark.parametrize("name", ["no-such-thing", "zlib", "hex", "rot13", "punycode", "idna", "a\x00b"])
def test_an_unknown_override_is_refused(name: str):
    with pytest.raises(Permanent, match="not known") as refusal:
        decode(b"text", override=name)
    assert refusal.value.code == "unsupported_format"


def test_any_bytes_have_a_text():
    assert decode(bytes(range(1, 256))).text
    assert decode(b"").text == ""


def test_names_of_encodings():
    assert known(" 'Shift_JIS' ") == "cp932"
    assert known("latin1") == "cp1252"
    assert known("") == ""


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("The museum's café sells “naïve” paintings at £9, and the prices keep rising from year to year.", "cp1252"),
        ("Le gardien du phare comptait les bateaux à la tombée de la nuit et notait leur cap.", "cp1252"),
        ("Zażółć gęślą jaźń i jeszcze kilka zwykłych słów po polsku, żeby było co rozpoznać.", "cp1250"),
        ("İstanbul'da güneşli bir gün, çocuklar şarkı söylüyor ve gemiler geçiyor.", "cp1254"),
    ],
)
def test_few_accents_are_western_unless_they_are_not(text: str, encoding: str):
    assert decode(text.encode(encoding)).text == text
