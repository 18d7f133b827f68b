"""The odd places of a Word document that hold words: boxes, links, fields, pictures, formulas."""

import pytest

from indexer.extract import Request, extract
from tests.samples.docx import box, drawing, field, word
from tests.support import documents
from tests.support.documents import paragraph


def read(content: bytes) -> str:
    return "".join(passage.text for passage in extract(Request(content, "a.docx")).passages)


def test_of_several_forms_the_first_that_says_anything_is_read():
    forms = (
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:pict/></mc:Choice><mc:Choice><w:t> </w:t></mc:Choice>{}"
        "<mc:Fallback><w:t>old</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    nothing = "<mc:AlternateContent><mc:Choice/></mc:AlternateContent>"
    newer = f"<mc:Choice><w:t>new</w:t>{nothing}</mc:Choice><mc:Choice><w:t>less new</w:t></mc:Choice>"
    assert read(word(forms.format(newer) + forms.format(""))) == " new\n\n old\n\n"


def test_a_table_in_a_text_box_in_a_table_keeps_its_cells():
    inner = box(documents.table([["a", "b"]]) + paragraph("below"))
    body = f"<w:tbl><w:tr><w:tc>{inner}{paragraph('c')}</w:tc><w:tc>{paragraph('d')}</w:tc></w:tr></w:tbl>"
    assert read(word(body)) == "a\tb\t\nbelow\n\nc\td\t\n"


def test_nested_tables_keep_their_rows():
    inner = documents.table([["a", "b"], ["c", "d"]])
    body = f"<w:tbl><w:tr><w:tc>{paragraph('e')}{inner}</w:tc><w:tc>{paragraph('f')}</w:tc></w:tr></w:tbl>"
    assert read(word(body)) == "e a\tb\t\nc\td\t\n\tf\t\n"


def test_addresses_of_links_follow_their_paragraph():
    body = (
        '<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id="rId1"><w:r><w:t>the tides</w:t></w:r></w:hyperlink>'
        '<w:r><w:t>, </w:t></w:r><w:fldSimple w:instr=" HYPERLINK &quot;https://b.example/&quot; "><w:r><w:t>wind</w:t>'
        '</w:r></w:fldSimple><w:hyperlink w:anchor="inside"><w:r><w:t>.</w:t></w:r></w:hyperlink></w:p>'
    )
    links = ("rId1", "hyperlink", "https://a.example/")
    assert read(word(body, {}, links)) == "See the tides, wind.\n\nhttps://a.example/\n\nhttps://b.example/\n\n"


@pytest.mark.parametrize(
    ("instruction", "address"),
    [
        (' HYPERLINK "https://example.org/a" \\o "a tip"', "https://example.org/a"),
        ("HYPERLINK mailto:keeper@example.org", "keeper@example.org"),
        (' HYPERLINK \\l "bookmark"', ""),
        ('HYPERLINK "https://example.org/' + "a" * 2000 + '"', ""),
        (' INCLUDEPICTURE "https://example.org/a.png"', ""),
        (' HYPERLINK "shown" ', ""),
    ],
)
def test_the_address_in_a_field(instruction: str, address: str):
    assert read(word(field(instruction, "shown"))).split() == ["shown", *filter(None, [address])]


def test_fields_may_lie_in_each_other():
    inner = field(' REF "x" ', "inner").removeprefix("<w:p>").removesuffix("</w:p>")
    outer = field(' HYPERLINK "https://example.org/" ', "shown")
    at = outer.index('<w:r><w:fldChar w:fldCharType="separate"')
    assert "https://example.org/" in read(word(outer[:at] + inner + outer[at:]))


def test_pictures_are_told_by_their_descriptions_once():
    picture = '<pic:cNvPr id="0" name="dusk.jpg" descr="A lighthouse"/>'
    body = drawing(picture, 'descr="A lighthouse"') + drawing(picture.replace("A l", "Another l"), 'title="Skerrow"')
    body += drawing('<wps:cNvPr id="3" name="" descr="An arrow"/>')
    assert read(word(body)) == "A lighthouse\n\nSkerrow\n\nAnother lighthouse\n\nAn arrow\n\n"


def test_a_deleted_picture_is_told_no_more():
    gone = drawing("", 'descr="gone"').replace("<w:r>", "<w:del><w:r>").replace("</w:r>", "</w:r></w:del>")
    assert read(word(gone + paragraph("kept"))) == "kept\n\n"


def test_readings_of_characters_do_not_part_them():
    ruby = "<w:ruby><w:rt><w:r><w:t>{}</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>{}</w:t></w:r></w:rubyBase></w:ruby>"
    body = f"<w:p>{ruby.format('とう', '灯')}{ruby.format('だい', '台')}</w:p>"
    assert read(word(body)) == "灯台\n\nとうだい\n\n"


def test_what_stands_between_words():
    stops = '<w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>'
    body = f'<w:p>{stops}<w:r><w:t>a</w:t><w:cr/><w:t>b</w:t><w:ptab w:alignment="right"/><w:t>c</w:t></w:r></w:p>'
    assert read(word(body)) == "a\nb\tc\n\n"


def test_symbols_and_choices_of_forms():
    body = (
        '<w:p><w:r><w:sym w:font="Symbol" w:char="F0B7"/><w:sym w:char="2713"/><w:sym w:char="junk"/>'
        '<w:sym w:char="FFFFFFFF"/></w:r><w:r><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="gale"/>'
        '<w:listEntry w:val="calm"/></w:ddList></w:ffData></w:r></w:p>'
    )
    second = '<w:p><w:r><w:ddList><w:listEntry w:val="ebb"/><w:listEntry w:val="flood"/></w:ddList></w:r></w:p>'
    assert read(word(body + second)) == "✓calm\n\nebb\n\n"


def test_formulas_are_written_on_one_line():
    body = (
        '<w:p><m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i</m:t></m:r></m:sub><m:e><m:f>'
        "<m:num>\n <m:r><m:t>a</m:t>\n </m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:e></m:nary>"
        "</m:oMath></w:p>"
    )
    assert read(word(body)) == "∑_ia/b\n\n"
