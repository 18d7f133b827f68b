"""The terms of a query: which of its words say something, which must be there, and how common each is.

PostgreSQL knows the function words of a language, whichever backend searches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import Any

from sqlalchemy import Connection, Row, TextClause, text

from indexer.search.query import Atom, Query
from pipeline.errors import Invalid

MOST_TERMS = 32
"""The rarest are looked up; a document that has only the others could not beat theirs."""

_SHARE = """
    (SELECT min(coalesce(share, 0)) FROM unnest(tsvector_to_array(to_tsvector('fencepost', words))) AS l (lexeme)
     LEFT JOIN search_lexemes USING (lexeme))"""


def _statement(share: str) -> TextClause:
    return text(f"""
        SELECT tsquery::text AS tsquery, {share} AS share,
               ts_lexize('pg_catalog.english_stem', words) = '{{}}' AS is_function_word
        FROM unnest(CAST(:operands AS text[]), CAST(:words AS text[])) WITH ORDINALITY AS atom (operand, words, i)
        CROSS JOIN LATERAL to_tsquery('fencepost', operand) AS tsquery
        ORDER BY i
    """)


_LOOK_UP, _LOOK_UP_WITH_SHARES = _statement("0"), _statement(_SHARE)


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for; `share` of all passages have it, 0 when it is not among the common ones."""

    atom: Atom
    tsquery: str
    share: float


@dataclass(frozen=True, slots=True)
class Terms:
    """What to look for, rarest first, and what must not be there.

    `clauses` and `required` are sets of terms as bits: of each, a document should, or must, have one.
    """

    terms: tuple[Term, ...]
    clauses: tuple[int, ...]
    required: tuple[int, ...]
    excluded: tuple[Term, ...]

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
    parameters = {"operands": [atom.tsquery for atom in atoms], "words": [" ".join(atom.words) for atom in atoms]}
    statement = _LOOK_UP_WITH_SHARES if with_shares else _LOOK_UP
    found = zip(atoms, connection.execute(statement, parameters), strict=True)
    rows = {atom: row for atom, row in found if row.tsquery}
    clauses = [kept for clause in query.clauses if (kept := [atom for atom in clause if atom in rows])]
    if not clauses:
        raise Invalid("query_empty", "The query has no word to look for.")
    excluded = tuple(_term(atom, rows) for atom in query.excluded if atom in rows)
    return _terms(_telling(clauses, rows), rows, excluded)


def _telling(clauses: list[list[Atom]], rows: dict[Atom, Row[Any]]) -> list[list[Atom]]:
    """The clauses that are not only function words, or all if there are no others; of at most MOST_TERMS terms."""
    telling = [c for c in clauses if any(atom.quoted or not rows[atom].is_function_word for atom in c)] or clauses
    telling.sort(key=lambda clause: (not _is_required(clause), max(rows[atom].share or 0 for atom in clause)))
    sizes = accumulate(len(clause) for clause in telling)
    fitting = [clause for clause, size in zip(telling, sizes, strict=True) if size <= MOST_TERMS]
    return fitting or [telling[0][:MOST_TERMS]]


def _terms(clauses: list[list[Atom]], rows: dict[Atom, Row[Any]], excluded: tuple[Term, ...]) -> Terms:
    place = {atom: i for i, atom in enumerate(dict.fromkeys(atom for clause in clauses for atom in clause))}
    bits = [reduce(or_, (1 << place[atom] for atom in clause)) for clause in clauses]
    required = [mask for mask, clause in zip(bits, clauses, strict=True) if _is_required(clause)]
    return Terms(tuple(_term(atom, rows) for atom in place), tuple(bits), tuple(required), excluded)


def _term(atom: Atom, rows: dict[Atom, Row[Any]]) -> Term:
    return Term(atom, rows[atom].tsquery, float(rows[atom].share or 0))


def _is_required(clause: list[Atom]) -> bool:
    """A quoted phrase, or one of several, must be there."""
    return all(atom.quoted for atom in clause)
