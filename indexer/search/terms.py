"""The terms of a query as PostgreSQL sees them, and how common each is."""

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import or_

from sqlalchemy import Connection, Row, text

from indexer.search.query import Atom, Query
from pipeline.errors import Invalid

MOST_TERMS = 32
"""The rarest are looked up; a document that has only the others could not beat theirs."""

_LOOK_UP = text("""
    SELECT tsquery::text AS tsquery,
           ts_lexize('pg_catalog.english_stem', words) = '{}' AS is_function_word,
           (SELECT min(coalesce(share, 0)) FROM unnest(tsvector_to_array(to_tsvector('fencepost', words))) AS l (lexeme)
            LEFT JOIN search_lexemes USING (lexeme)) AS share
    FROM unnest(CAST(:operands AS text[]), CAST(:words AS text[])) WITH ORDINALITY AS atom (operand, words, i)
    CROSS JOIN LATERAL to_tsquery('fencepost', operand) AS tsquery
    ORDER BY i
""")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for; `share` of all passages have it, 0 when it is not among the common ones."""

    atom: Atom
    tsquery: str
    share: float


@dataclass(frozen=True, slots=True)
class Terms:
    """What to look for, rarest first.

    `clauses` and `required` are sets of terms as bits: of each, a document should, or must, have one.
    """

    terms: tuple[Term, ...]
    clauses: tuple[int, ...]
    required: tuple[int, ...]
    excluded: str | None

    def anyone_of(self, bits: int) -> str:
        """The tsquery for one of the terms in a set."""
        return " | ".join(f"({term.tsquery})" for i, term in enumerate(self.terms) if bits >> i & 1)

    @property
    def together(self) -> str:
        """The tsquery for all clauses in one passage."""
        return " & ".join(f"({self.anyone_of(bits)})" for bits in self.clauses)


def look_up(connection: Connection, query: Query) -> Terms:
    """Asks PostgreSQL for lexemes and shares. Raises Invalid when none of the words can be in an index."""
    atoms = list(dict.fromkeys([*(atom for clause in query.clauses for atom in clause), *query.excluded]))
    parameters = {"operands": [atom.tsquery for atom in atoms], "words": [" ".join(atom.words) for atom in atoms]}
    found = zip(atoms, connection.execute(_LOOK_UP, parameters), strict=True)
    rows = {atom: row for atom, row in found if row.tsquery}
    clauses = [kept for clause in query.clauses if (kept := [atom for atom in clause if atom in rows])]
    if not clauses:
        raise Invalid("query_empty", "The query has no word to look for.")
    excluded = " | ".join(f"({rows[atom].tsquery})" for atom in query.excluded if atom in rows)
    return _terms(_telling(clauses, rows), rows, excluded or None)


def _telling(clauses: list[list[Atom]], rows: dict[Atom, Row[tuple[object, ...]]]) -> list[list[Atom]]:
    """The clauses that are not only function words, or all if there are no others; of at most MOST_TERMS terms."""
    telling = [c for c in clauses if any(atom.quoted or not rows[atom].is_function_word for atom in c)] or clauses
    telling.sort(key=lambda clause: (not _is_required(clause), max(rows[atom].share or 0 for atom in clause)))
    sizes = accumulate(len(clause) for clause in telling)
    return [clause[:MOST_TERMS] for clause, size in zip(telling, sizes, strict=True) if size <= MOST_TERMS] or telling[
        :1
    ]


def _terms(clauses: list[list[Atom]], rows: dict[Atom, Row[tuple[object, ...]]], excluded: str | None) -> Terms:
    place = {atom: i for i, atom in enumerate(dict.fromkeys(atom for clause in clauses for atom in clause))}
    bits = [reduce(or_, (1 << place[atom] for atom in clause)) for clause in clauses]
    required = [mask for mask, clause in zip(bits, clauses, strict=True) if _is_required(clause)]
    terms = tuple(Term(atom, rows[atom].tsquery, float(rows[atom].share or 0)) for atom in place)
    return Terms(terms, tuple(bits), tuple(required), excluded)


def _is_required(clause: list[Atom]) -> bool:
    """A quoted phrase, or one of several, must be there."""
    return all(atom.quoted for atom in clause)
