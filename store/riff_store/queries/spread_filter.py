"""Choose among disputes by what a filter says of aspect, spread, highest, lowest and scores."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from riff_store.predicate_eval import is_version_of, satisfies
from riff_store.predicates import And, InState, Not, Or, Predicate, Term
from riff_store.vocabulary import split_name

if TYPE_CHECKING:
    from riff_store.statistics.agreement import Scores
    from riff_store.statistics.spreads import Flags, Spreads


NAMES_OF_CALL = ("run", "conversation", "flow", "agent")
NAMES_OF_DISPUTE = ("aspect", "highest", "lowest")


class AspectSpreads(NamedTuple):
    """Hold how far those who judged an aspect are apart: the names of the judges, their scores, and the spreads."""

    aspect: str
    judges: Sequence[str]
    scores: Sequence[Scores]
    spreads: Spreads


def holds_of(rows: Predicate, found: AspectSpreads, are_named: Callable[[Term], Flags]) -> Flags:
    """Say of each call whether a filter holds of the dispute on it, if it is one; means what `matches` does.

    `are_named` says of each call whether a bare word is in its own names.
    """
    match rows:
        case Not(part):
            return ~holds_of(part, found, are_named)
        case And(parts):
            return reduce(operator.and_, [holds_of(part, found, are_named) for part in parts])
        case Or(parts):
            return reduce(operator.or_, [holds_of(part, found, are_named) for part in parts])
        case InState(part):
            return holds_of(part, found, are_named)
    if rows.field is not None:
        return _term(rows, found)
    return reduce(operator.or_, [_term(replace(rows, field=name), found) for name in NAMES_OF_DISPUTE], are_named(rows))


def _term(term: Term, found: AspectSpreads) -> Flags:
    from riff_store.statistics.spreads import everywhere, flagged

    field, suffix = split_name(term.field or "")
    if field == "scores":
        wanted = (
            scores
            for judge, scores in zip(found.judges, found.scores, strict=True)
            if suffix is None or is_version_of(judge, suffix)
        )
        return _scored(term, list(wanted), found)
    if field == "spread":
        apart = found.spreads.spreads
        return flagged([satisfies(term, value) for value in apart.values.tolist()], apart.codes)
    if field in ("highest", "lowest"):
        whose = found.spreads.highest if field == "highest" else found.spreads.lowest
        return flagged([satisfies(term, judge) for judge in found.judges], whose)
    return everywhere(satisfies(term, found.aspect if field == "aspect" else None), len(found.spreads.highest))


def _scored(term: Term, scores: Sequence[Scores], found: AspectSpreads) -> Flags:
    """Say of each call whether a term holds of any of its scores, for `!=` of all."""
    from riff_store.statistics.spreads import everywhere, flagged

    nowhere = everywhere(False, len(found.spreads.highest))
    known = reduce(operator.or_, [one.codes >= 0 for one in scores], nowhere)
    if term.operator in ("missing", "measured"):
        return known if term.operator == "measured" else ~known
    asked = replace(term, operator="=") if term.operator == "!=" else term
    given = [flagged([satisfies(asked, value) for value in one.values.tolist()], one.codes) for one in scores]
    said = reduce(operator.or_, given, nowhere)
    return known & ~said if term.operator == "!=" else said
