import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.search.query import parse
from pipeline.errors import Invalid


def understood(text: str) -> tuple[list[list[str]], list[str]]:
    """The clauses, with quoted phrases in quotes, and what is excluded."""
    query = parse(text)
    clauses = [
        [f'"{" ".join(a.words)}"' if a.quoted else " ".join(a.words) for a in clause] for clause in query.clauses
    ]
    return clauses, [" ".join(atom.words) for atom in query.excluded]


@pytest.mark.parametrize(
    ("text", "clauses", "excluded"),
    [
        ("cat Dog", [["cat"], ["dog"]], []),
        ("cat cat", [["cat"]], []),
        ('"hot dog" bun', [['"hot dog"'], ["bun"]], []),
        ('cat"hot dog"bun', [["cat"], ['"hot dog"'], ["bun"]], []),
        ("cat OR dog food", [["cat", "dog"], ["food"]], []),
        ("cat OR dog OR bird", [["cat", "dog", "bird"]], []),
        ("OR cat OR", [["cat"]], []),
        ("cat OR OR dog", [["cat", "dog"]], []),
        ("cat or dog", [["cat"], ["or"], ["dog"]], []),
        ('cat OR "hot dog"', [["cat", '"hot dog"']], []),
        ('"OR" cat', [['"or"'], ["cat"]], []),
        ("cat -dog", [["cat"]], ["dog"]),
        ('cat -"hot dog" -bird', [["cat"]], ["hot dog", "bird"]),
        ("cat - dog", [["cat"], ["dog"]], []),
        ("well-known", [["well known"]], []),
        ("a.b/c@d", [["a b c d"]], []),
        ('"open end', [['"open end"']], []),
        ("«hot dog»", [['"hot dog"']], []),
        ("\uff0dcat dog", [["dog"]], ["cat"]),
        ("東京", [["東京"]], []),
        ("東京都", [["東京 京都"]], []),
        ("東京都庁舎", [["東京"], ["京都"], ["都庁"], ["庁舎"]], []),
        ('"東京都庁舎"', [['"東京 京都 都庁 庁舎"']], []),
        ("猫", [["猫"]], []),
        ("iPhone用", [["iphone"], ["用"]], []),
        (f"cat {'x' * 1900}{'y' * 90}", [["cat"], ["x" * 1900 + "y" * 90]], []),
        ("cat " + "é" * 1500, [["cat"]], []),
    ],
)
def test_queries_are_understood(text: str, clauses: list[list[str]], excluded: list[str]):
    assert understood(text) == (clauses, excluded)


def test_a_lone_character_looks_for_all_that_begins_with_it():
    assert parse("猫").clauses[0][0].operand(("猫",)) == "'猫':*"
    assert parse("黒猫").clauses[0][0].operand(("黒猫",)) == "'黒猫'"
    assert parse('"東京 の"').clauses[0][0].operand(("東京", "京", "の")) == "'東京' <-> '京' <-> 'の':*"


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "query_empty"), ("?!", "query_empty"), ("-cat", "query_only_excludes"), ("x" * 2001, "query_too_long")],
)
def test_some_are_refused(text: str, code: str):
    with pytest.raises(Invalid) as refusal:
        parse(text)
    assert refusal.value.code == code


@given(st.text())
def test_operands_hold_nothing_but_words(text: str):
    try:
        query = parse(text)
    except Invalid:
        return
    for atom in [*(atom for clause in query.clauses for atom in clause), *query.excluded]:
        assert atom.words
        for word in atom.words:
            assert word
            assert not set(word) & set("'\\\0 &|!<>():*")
