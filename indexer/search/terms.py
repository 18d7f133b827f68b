"""The terms of a query: which of its words say something, which must be there, and how common each is.

PostgreSQL knows the function words of languages, whichever backend searches.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, groupby
from operator import or_
from typing import NamedTuple

from sqlalchemy import Connection, TextClause, text

from indexer.extract.language import language_in
from indexer.search.languages import present
from indexer.search.query import Atom, Query
from indexer.search.stems import DEFAULT, forms_of
from pipeline.errors import Invalid

MOST_TERMS = 32
"""The rarest are looked up; a document that has only the others could not beat theirs."""
MOST_FORMS = 96
"""Of all terms together, and as many of those that must not be there; an engine may refuse a query of more than a
thousand clauses."""
_STOP_LISTS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""The languages whose function words PostgreSQL knows."""

_SHARE = """
    (SELECT min(coalesce(share, 0)) FROM unnest(tsvector_to_array(to_tsvector('fencepost', stems))) AS l (lexeme)
     LEFT JOIN search_lexemes USING (lexeme))"""


def _statement(share: str) -> TextClause:
    return text(f"""
        SELECT tsquery::text AS tsquery, {share} AS share, ARRAY(
                   SELECT language
                   FROM unnest(CAST(:languages AS text[]), CAST(:dictionaries AS text[])) AS d (language, dictionary)
                   WHERE ts_lexize(CAST(dictionary AS regdictionary), words) = '{{}}'
               ) AS function_word_in
        FROM unnest(CAST(:operands AS text[]), CAST(:stems AS text[]), CAST(:words AS text[]))
             WITH ORDINALITY AS form (operand, stems, words, i)
        CROSS JOIN LATERAL to_tsquery('fencepost', operand) AS tsquery
        ORDER BY i
    """)


_LOOK_UP, _LOOK_UP_WITH_SHARES = _statement("0"), _statement(_SHARE)


class Form(NamedTuple):
    """A way in which the words of a term are indexed; `share` of all passages have it, 0 when that is rare."""

    words: tuple[str, ...]
    tsquery: str
    share: float


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for: a form of it, which depends on the language of the document."""

    atom: Atom
    forms: tuple[Form, ...]
    function_word_in: frozenset[str]

    @property
    def tsquery(self) -> str:
        """The tsquery for any of the forms."""
        return " | ".join(form.tsquery if len(self.forms) == 1 else f"({form.tsquery})" for form in self.forms)

    @property
    def share(self) -> float:
        """The share of all passages that have it, 0 when it is not among the common ones."""
        return min(1.0, sum(form.share for form in self.forms))


@dataclass(frozen=True, slots=True)
class Terms:
    """What to look for, rarest first, and what must not be there, in documents of these `languages`.

    `clauses` and `required` are sets of terms as bits: of each, a document should, or must, have one.
    """

    terms: tuple[Term, ...]
    clauses: tuple[int, ...]
    required: tuple[int, ...]
    excluded: tuple[Term, ...]
    languages: tuple[str, ...]

    def of(self, bits: int) -> tuple[Term, ...]:
        """The terms in a set."""
        return tuple(term for i, term in enumerate(self.terms) if bits >> i & 1)

    def anyone_of(self, bits: int) -> str:
        """The tsquery for one of the terms in a set."""
        return any_of(self.of(bits))

    @property
    def together(self) -> str:
        """The tsquery for all clauses in one passage."""
        return " & ".join(f"({self.anyone_of(bits)})" for bits in self.clauses)


def any_of(terms: Sequence[Term]) -> str:
    """The tsquery for one of the terms."""
    return " | ".join(f"({term.tsquery})" for term in terms)


def look_up(connection: Connection, query: Query, *, with_shares: bool) -> Terms:
    """Asks PostgreSQL what the words are. Raises Invalid when none of them can be in an index.

    Only an index in PostgreSQL, which the transaction must have chosen, has shares; without them the order stays.
    """
    atoms = list(dict.fromkeys([*(atom for clause in query.clauses for atom in clause), *query.excluded]))
    languages = _likeliest_first(atoms, present(connection))
    terms = _looked_up(connection, atoms, query.excluded, languages, with_shares=with_shares)
    clauses = [kept for clause in query.clauses if (kept := [terms[atom] for atom in clause if atom in terms])]
    if not clauses:
        raise Invalid("query_empty", "The query has no word to look for.")
    excluded = tuple(terms[atom] for atom in query.excluded if atom in terms)
    return _terms(_telling(clauses, languages), excluded, languages)


def _likeliest_first(atoms: Sequence[Atom], languages: Sequence[str]) -> tuple[str, ...]:
    """The languages, after the default one that in which the query is; of a long query not all forms are asked for."""
    default, *others = languages
    told = language_in(" ".join(word for atom in atoms for word in atom.words))
    return default, *sorted(others, key=lambda code: told is None or code != told.code)


def _forms(atoms: Sequence[Atom], languages: Sequence[str]) -> list[tuple[Atom, tuple[str, ...]]]:
    """The atoms with their forms: of all languages, unless there are many words."""
    most = max(2, MOST_FORMS // max(1, len(atoms)))
    return [(atom, words) for atom in atoms for words in forms_of(atom.words, languages)[:most]]


def _looked_up(
    connection: Connection,
    atoms: Sequence[Atom],
    unwanted: Sequence[Atom],
    languages: Sequence[str],
    *,
    with_shares: bool,
) -> dict[Atom, Term]:
    """The atoms that can be in an index. However many are wanted, what is unwanted shall not be there in any form."""
    wanted = [atom for atom in atoms if atom not in unwanted]
    forms = _forms(wanted, languages) + _forms(unwanted, languages)
    lists = {code: f"pg_catalog.{_STOP_LISTS[code]}_stem" for code in languages if code in _STOP_LISTS}
    parameters = {
        "operands": [atom.operand(words) for atom, words in forms],
        "stems": [" ".join(words) for _, words in forms],
        "words": [" ".join(atom.words) for atom, _ in forms],
        "languages": list(lists),
        "dictionaries": list(lists.values()),
    }
    rows = connection.execute(_LOOK_UP_WITH_SHARES if with_shares else _LOOK_UP, parameters)
    found = [(atom, words, row) for (atom, words), row in zip(forms, rows, strict=True) if row.tsquery]
    terms = {}
    for atom, group in groupby(found, key=lambda one: one[0]):
        those = list(group)
        known = tuple(Form(words, row.tsquery, float(row.share or 0)) for _, words, row in those)
        terms[atom] = Term(atom, known, frozenset(those[0][2].function_word_in))
    return terms


def _telling(clauses: list[list[Term]], languages: Sequence[str]) -> list[list[Term]]:
    """The clauses that are not only function words, or all if there are no others; of at most MOST_TERMS terms."""
    language = _language_of(clauses, languages)
    telling = [
        clause for clause in clauses if any(one.atom.quoted or language not in one.function_word_in for one in clause)
    ] or clauses
    telling.sort(key=lambda clause: (not _is_required(clause), max(term.share for term in clause)))
    sizes = accumulate(len(clause) for clause in telling)
    fitting = [clause for clause, size in zip(telling, sizes, strict=True) if size <= MOST_TERMS]
    return fitting or [telling[0][:MOST_TERMS]]


def _language_of(clauses: Iterable[Iterable[Term]], languages: Sequence[str]) -> str:
    """The language of the query by its function words: one alone is no proof, as `die` may be English."""
    found = Counter(code for clause in clauses for term in clause for code in term.function_word_in)
    best = max(languages, key=lambda code: found[code])  # the default one is the first
    return best if found[best] > 1 else DEFAULT


def _terms(clauses: list[list[Term]], excluded: tuple[Term, ...], languages: tuple[str, ...]) -> Terms:
    place = {term: i for i, term in enumerate(dict.fromkeys(term for clause in clauses for term in clause))}
    bits = [reduce(or_, (1 << place[term] for term in clause)) for clause in clauses]
    required = [mask for mask, clause in zip(bits, clauses, strict=True) if _is_required(clause)]
    return Terms(tuple(place), tuple(bits), tuple(required), excluded, languages)


def _is_required(clause: list[Term]) -> bool:
    """A quoted phrase, or one of several, must be there."""
    return all(term.atom.quoted for term in clause)
