from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.search.backend import Sort
from pipeline.errors import Invalid
from pipeline.sanitise import clean_text
from tests.support.search_index import SearchIndex

PIECES = st.one_of(
    st.text(alphabet=st.characters(), max_size=20),
    st.sampled_from(
        ["lighthouse", "OR", "-", '"', "'", "\\", "&", "|", "!", "<->", "<2>", ":*", ":A", "(", ")", "%", "{scope}",
         ":most", "東京", "猫", "\0", "\ud800", "a" * 1900, "é" * 1000, "1e5", "-5", "the", "''", "$1", "\u200b", "²"]
    ),
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=12).map(" ".join), st.sampled_from(Sort))
def test_no_query_ever_fails(index: SearchIndex, query: str, sort: Sort):
    if not index.ids:
        index.add("a", "The lighthouse of 東京 has a 猫 and 1e5 lamps.", title="Lighthouse")
    with suppress(Invalid):
        page = index.search(query, sort=sort)
        assert page.total == len(page.hits) <= 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200))
def test_every_text_is_found_by_its_own_words(index: SearchIndex, body: str):
    body = clean_text(body)
    index.add("a", body + " lighthouse", version=max(index.version_of("a") or 0, 0) + 1 if index.ids else 1)
    assert index.find("lighthouse") == ["a"]
    words = [word for word in body.split() if any(character.isalpha() for character in word)]
    for word in words[:3]:
        try:
            found = index.find(f'"{word.replace(chr(34), " ")}"')
        except Invalid:
            continue
        assert found == ["a"], word
