"""Choose among disputes by what a filter reports of aspect, spread, highest, lowest and scores."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from riff_store.filters.matching import is_version_of, satisfies
from riff_store.filters.predicates import Predicate, Term, Walker, some
from riff_store.vocabulary import split_name

if TYPE_CHECKING:
    from riff_store.statistics import Flags
    from riff_store.statistics.agreement import Scores, Spreads


NAMES_OF_CALL = ("run", "conversation", "flow", "agent")
NAMES_OF_DISPUTE = ("aspect", "highest", "lowest")


class AspectSpreads(NamedTuple):
    """Describe how far those who judged an aspect are apart: the names of the judges, their scores, and the spreads."""

    aspect: str
    judges: Sequence[str]
    scores: Sequence[Scores]
    spreads: Spreads


def holds_of(rows: Predicate, found: AspectSpreads, are_named: Callable[[Term], Flags]) -> Flags:
    """Return for each call whether a filter applies to the dispute on it, if it is one; means what `matches` does.

    `are_named` shows for each call whether a bare word is in its own names.
    """
    return _Disputes(found, are_named).of(rows)


class _Disputes(Walker["Flags"]):
    """Flag the calls whose disputes are as a filter asks."""

    def __init__(self, found: AspectSpreads, are_named: Callable[[Term], Flags]) -> None:
        self._found = found
        self._are_named = are_named

    def both(self, found: Sequence[Flags]) -> Flags:
        return reduce(operator.and_, found)

    def either(self, found: Sequence[Flags]) -> Flags:
        return reduce(operator.or_, found)

    def in_state(self, part: Predicate) -> Flags:
        return self.of(part)

    def term(self, term: Term) -> Flags:
        if term.field is not None:
            return self._of_field(term, term.field)
        return self.either([self._are_named(term), *(self._of_field(term, name) for name in NAMES_OF_DISPUTE)])

    def _of_field(self, term: Term, name: str) -> Flags:
        from riff_store.statistics.agreement import everywhere, flagged

        field, suffix = split_name(name)
        term, spreads = replace(term, field=name), self._found.spreads
        if field == "scores":
            return some(term, lambda wanted: self._scored(wanted, suffix))
        if field == "spread":
            apart = spreads.spreads
            return flagged([satisfies(term, value) for value in apart.values.tolist()], apart.codes)
        if field in ("highest", "lowest"):
            whose = spreads.highest if field == "highest" else spreads.lowest
            return flagged([satisfies(term, judge) for judge in self._found.judges], whose)
        return everywhere(satisfies(term, self._found.aspect if field == "aspect" else None), len(spreads.highest))

    def _scored(self, term: Term, suffix: str | None) -> Flags:
        """Return of each call whether any of its scores is as a term asks, of one judge's where it has a suffix."""
        from riff_store.statistics.agreement import everywhere, flagged

        given = [
            flagged([satisfies(term, value) for value in scores.values.tolist()], scores.codes)
            for judge, scores in zip(self._found.judges, self._found.scores, strict=True)
            if suffix is None or is_version_of(judge, suffix)
        ]
        return self.either([everywhere(False, len(self._found.spreads.highest)), *given])


class Order(NamedTuple):
    """Keep which column to sort disputes by, a name, `spread`, `correctness` or `scores.JUDGE`; `down` begins high."""

    key: str
    down: bool = False
