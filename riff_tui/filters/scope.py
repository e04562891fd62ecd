"""Split a filter into what it says of calls, of rows, and of judges.

Rows of a matrix are cells over calls. In a view, a metric that its rows have speaks of the row; a name
that its rows have is the same said of either; everything else narrows the calls behind the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Literal, TypeAlias

from riff_store.predicates import And, Predicate, Term, all_of, conjuncts, terms
from riff_store.vocabulary import HOMONYMS, field_of, flag_of_share
from riff_tui.filters.terms import FilterError

TermLevel: TypeAlias = Literal["calls", "rows", "either"]
SCORE_FIELDS = ("aspect", "judge", "model", "prompt_hash", "prompt_version")


def split(predicate: Predicate | None, row_fields: Collection[str]) -> tuple[Predicate | None, Predicate | None]:
    """Split a filter into the parts about calls and about rows; rows of the second come from calls of the first.

    `row_fields` are the keys of the view's records; without any, everything is about calls. Names
    that stand in the second part narrow the calls as well, once other things do. Raises `FilterError`
    where `|` or `!` ties both kinds together, and for a field that only rows of other views have.
    """
    calls: list[Predicate] = []
    rows: list[Predicate] = []
    shared: list[Predicate] = []
    for part in _parts(predicate, row_fields):
        sides = {_side(term, row_fields) for term in terms(part)}
        if "calls" in sides:
            calls.append(part)
        else:
            rows.append(part)
            # A cell's segment is the one that most of its rows have, so not each row's own.
            if sides == {"either"} and not any(term.field == "segment" for term in terms(part)):
                shared.append(part)
    return all_of([*shared, *calls] if calls else []), all_of(rows)


def take_judges(predicate: Predicate | None) -> tuple[Predicate | None, Predicate | None]:
    """Split a filter into what it says of judges, for views that show some of them, and the rest."""
    return _take(predicate, ("judge",), "judges")


def take_scores(predicate: Predicate | None) -> tuple[Predicate | None, Predicate | None]:
    """Split a filter into what it says of single scores, where these are listed, and the rest."""
    return _take(predicate, SCORE_FIELDS, "scores")


def _take(
    predicate: Predicate | None, fields: Collection[str], chosen: str
) -> tuple[Predicate | None, Predicate | None]:
    taken: list[Predicate] = []
    rest: list[Predicate] = []
    for part in conjuncts(predicate):
        about = [term for term in terms(part) if term.field in fields]
        if not about:
            rest.append(part)
        elif len(about) == len(list(terms(part))):
            taken.append(part)
        else:
            raise FilterError(
                f"{about[0].field} chooses among {chosen} here, so it cannot be tied by | or ! to anything else",
                about[0].position,
            )
    return all_of(taken), all_of(rest)


def _parts(predicate: Predicate | None, row_fields: Collection[str]) -> Iterator[Predicate]:
    for part in conjuncts(predicate):
        sides = {term: _side(term, row_fields) for term in terms(part)}
        if {"calls", "rows"} <= set(sides.values()):
            if not isinstance(part, And):
                raise _mixed(sides)
            yield from _parts(part, row_fields)
        else:
            yield part


def _side(term: Term, row_fields: Collection[str]) -> TermLevel:
    if term.field is None:
        return "rows" if row_fields else "calls"
    field = field_of(term.field)
    if field.name in row_fields:
        is_of_both = field.kind == "name" and field.level != "row" and field.name not in HOMONYMS
        return "either" if is_of_both else "rows"
    if field.level == "row":
        near = get_close_matches(field.name, sorted(row_fields), n=1)
        flag = flag_of_share(field.name)
        of_call = f"; of single calls ask {flag}=true or {flag}=false" if flag else ""
        advice = f"; near: {near[0]}" if near else of_call
        raise FilterError(f"rows here have no {field.name}{advice}", term.position)
    return "calls"


def _mixed(sides: dict[Term, TermLevel]) -> FilterError:
    call = next(term for term, side in sides.items() if side == "calls")
    row = next(term for term, side in sides.items() if side == "rows")
    return FilterError(
        f"{_said(row)} speaks of the rows shown, {_said(call)} of the calls behind them:"
        " a blank may stand between them, but | and ! cannot tie them together",
        max(call.position, row.position),
    )


def _said(term: Term) -> str:
    return term.field or f"a bare {'/re/' if term.operator == 'matches' else 'word'}"
