"""Say of which calls, and of which of their rows, a filter holds: the meaning of `queries.scope`, on columns.

What no column holds, such as texts, notes and steps, is asked of the store for each term by itself.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeVar

import numpy as np

from riff_store import models as m
from riff_store.columns.blocks import Block, Flags, Keys, packed_scores
from riff_store.columns.encoding import Floats, Places, is_unscored
from riff_store.columns.layout import CALLS, KINDS_OF_FAILURE
from riff_store.database import Store
from riff_store.metrics import POOLED
from riff_store.predicate_eval import satisfies
from riff_store.predicates import And, InState, Not, Or, Predicate, Term
from riff_store.queries.dimensions import (
    DIMENSIONS,
    FAILURE,
    UNNAMED,
    judge_names,
    judges_meant,
    judges_shown,
    names_of,
)
from riff_store.queries.marks import Mark, marks
from riff_store.queries.scope import Scope, asks_states, is_of_states
from riff_store.time_range import time_range
from riff_store.vocabulary import CALL_NAMES, NOTE_FIELDS, STEP_FIELDS, field_of, split_name

_COMPARE: dict[str, Callable[[Floats, float], Flags]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ERRORED = Term("errored", "=", True)
_HELD = 16
"""Of so many terms it is held, for as long as a snapshot lasts, of which calls they hold: a byte for each call."""
Asked = TypeVar("Asked", Term, InState)
_ASKED = frozenset(("conversation", *STEP_FIELDS, *NOTE_FIELDS, "noted", *POOLED))


def masks_of(store: Store) -> Masks:
    """Return what evaluates filters on a store: the same within a snapshot, in which several questions are asked."""
    return store.once(Masks, lambda: Masks(store))


class Masks:
    """Evaluate filters on the blocks of a snapshot of a store; names are looked up once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._scope = Scope(store)
        self._accepted: dict[Term, Flags] = {}
        self._found: dict[Term, Keys] = {}
        self._marks: Mapping[int, Mark] | None = None
        self._scored = packed_scores(store)
        self._aspects = dict(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))
        self._flags: OrderedDict[Predicate, dict[int, Flags]] = OrderedDict()

    def calls(self, predicate: Predicate | None, block: Block) -> Flags:
        """Return of which calls a filter holds; terms about states speak of any row of a call."""
        match predicate:
            case None:
                return np.ones(block.n, np.bool_)
            case Term() if not is_of_states(predicate):
                return self._held(predicate, block, self._term)
            case Term():
                return self._any_row(predicate, block)
            case InState(part):
                return self._any_row(part, block)
            case Not(part):
                return ~self.calls(part, block)
            case And(parts):
                return self._all(parts, block)
            case Or(parts):
                return reduce(operator.or_, (self.calls(part, block) for part in parts))

    def counting(self, predicate: Predicate | None, block: Block) -> Flags:
        """Return of which calls a filter holds that are not errored."""
        chosen = self.calls(predicate, block)
        return chosen & ~self.calls(_ERRORED, block) if chosen.any() else chosen

    def rows_counting(self, predicate: Predicate | None, block: Block) -> tuple[Places, Places]:
        """Return the places of the rows of states that a filter leaves of calls not errored, and those of the calls."""
        if predicate is None or not _speaks_of_rows(predicate):
            return block.rows_of("state", self.counting(predicate, block))
        chosen, calls = self.rows(predicate, block), block.calls_of("state")
        chosen &= self.counting(None, block)[calls]
        rows = np.flatnonzero(chosen)
        return rows, calls[rows]

    def rows(self, predicate: Predicate | None, block: Block) -> Flags:
        """Return of which rows of states a filter holds; what it says of calls speaks of theirs."""
        if predicate is None or not _speaks_of_rows(predicate):
            found: Flags = self.calls(predicate, block)[block.calls_of("state")]
            return found
        match predicate:
            case Term():
                return self._row_term(predicate, block)
            case Not(part):
                return ~self.rows(part, block)
            case And(parts):
                return reduce(operator.and_, (self.rows(part, block) for part in parts))
            case Or(parts):
                return reduce(operator.or_, (self.rows(part, block) for part in parts))
            case InState():
                raise AssertionError("speaks of calls")

    def _all(self, parts: Sequence[Predicate], block: Block) -> Flags:
        """Join parts, of which those about states speak of the same row; once no call is left no more is looked at."""
        rows = [part for part in parts if not isinstance(part, And) and asks_states(part)]
        found = np.ones(block.n, np.bool_)
        for part in parts:
            if part not in rows and found.any():
                found &= self.calls(part, block)
        if not rows or not found.any():
            return found
        return found & self._any_row(rows[0] if len(rows) == 1 else And(tuple(rows)), block)

    def _any_row(self, of_rows: Predicate, block: Block) -> Flags:
        return self._held(InState(of_rows), block, self._in_rows)

    def _in_rows(self, asked: InState, block: Block) -> Flags:
        found = np.zeros(block.n, np.bool_)
        found[block.calls_of("state")[self.rows(asked.part, block)]] = True
        return found

    def _held(self, asked: Asked, block: Block, evaluate: Callable[[Asked, Block], Flags]) -> Flags:
        """Return what was evaluated for a block before, as far as it is held still."""
        of_blocks = self._flags.setdefault(asked, {})
        self._flags.move_to_end(asked)
        if len(self._flags) > _HELD:
            self._flags.popitem(last=False)
        if block.first not in of_blocks:
            of_blocks[block.first] = evaluate(asked, block)
            of_blocks[block.first].flags.writeable = False
        return of_blocks[block.first]

    def _term(self, term: Term, block: Block) -> Flags:
        if term.field is None:
            return reduce(operator.or_, (self._term(replace(term, field=name), block) for name in CALL_NAMES))
        name, suffix = split_name(term.field)
        if name in DIMENSIONS:
            return self._named(name, term, block.keys(DIMENSIONS[name].key))
        if name == "judge":
            return self._judge(term, block)
        if name == "humanness" or (name == "quality" and suffix is not None):
            return self._scores(term, "humanness", judges_meant(self._store, suffix), block)
        if name == "failure" or name in FAILURE:
            return self._failed(name, term, block)
        if name in _ASKED:
            return self._asked(term, block)
        if name in CALLS:
            return self._figure(name, term, block)
        return self._scores(term, name, (m.COMPUTED_JUDGE,), block)

    def _named(self, name: str, term: Term, keys: Keys) -> Flags:
        """Return which keys are of names as the term says."""
        accepted = self._accepted.get(term)
        if accepted is None:
            names = names_of(self._store, DIMENSIONS[name])
            accepted = np.zeros(max(names, default=0) + 1, np.bool_)
            accepted[[key for key, text in names.items() if satisfies(term, text)]] = True
            accepted[0] = term.operator == "missing"
            self._accepted[term] = accepted
        found: Flags = accepted[keys]
        return found

    def _figure(self, name: str, term: Term, block: Block) -> Flags:
        kind = field_of(name).kind
        if kind == "flag" and term.value is not None:
            term = replace(term, value=float(bool(term.value)))
        values = block.figures(name)
        return _in_time(values, term) if kind == "time" else _compared(values, term)

    def _scores(self, term: Term, aspect: str, judges: Iterable[int], block: Block) -> Flags:
        wanted = [pair for pair in self._judged(block) if self._aspects[pair[0]] == aspect and pair[1] in set(judges)]

        def scored(one: Term) -> Flags:
            return _any(block, (_compared(block.scores(*pair), one) for pair in wanted))

        return _some(term, scored)

    def _judge(self, term: Term, block: Block) -> Flags:
        shown, names = judges_shown(self._store), judge_names(self._store)

        def scored(wanted: Term) -> Flags:
            judges = {key for key, name in names.items() if satisfies(wanted, [name, shown[key]])}
            asked = (block.scores(*pair) for pair in self._judged(block) if pair[1] in judges)
            found = _any(block, (~np.isnan(scores) | is_unscored(scores) for scores in asked))
            people = self._scope.judged_by_people(wanted)
            return found | np.isin(block.ids, np.array(sorted(people), np.int64)) if people else found

        return _some(term, scored)

    def _failed(self, name: str, term: Term, block: Block) -> Flags:
        """Return of which calls a term holds on where they first went wrong, as `queries.first_failures` has it."""
        found = np.zeros(block.n, np.bool_)
        found[block.calls_of("failure")[self._failed_as(name, term, block)]] = True
        if term.operator == "missing":
            found = ~found
        if self._marks is None:
            self._marks = marks(self._store)
        if self._marks:
            states = names_of(self._store, DIMENSIONS["state"])
            held = [call for call, mark in self._marks.items() if satisfies(term, mark.told(states)[name])]
            is_marked = np.isin(block.ids, list(self._marks))
            found[is_marked] = np.isin(block.ids[is_marked], held)
        return found

    def _failed_as(self, name: str, term: Term, block: Block) -> Flags:
        """Return of which rows of failures a term holds, or those that tell of it at all where it asks for no more."""
        is_kind = name == "failure"
        keys = block.keys_of("failure", "kind" if is_kind else FAILURE[name].key.removesuffix("_id"))
        if term.operator in ("missing", "measured"):
            return np.full(keys.size, True) if is_kind or name in UNNAMED else keys > 0
        if is_kind:
            return np.isin(keys, [place for place, kind in enumerate(KINDS_OF_FAILURE) if satisfies(term, kind)])
        names = names_of(self._store, FAILURE[name])
        held = [key for key, text in names.items() if satisfies(term, text)]
        return np.isin(keys, [*held, 0] if satisfies(term, UNNAMED.get(name)) else held)

    def _asked(self, term: Term, block: Block) -> Flags:
        """Return of which calls a term holds that the store is asked about."""
        if term.field == "conversation" and term.operator in ("!=", "missing", "measured"):
            every = np.full(block.n, term.operator != "missing")
            return every & ~self.calls(replace(term, operator="="), block) if term.operator == "!=" else every
        keys = self._found.get(term)
        if keys is None:
            call = m.Conversation
            asked = self._store.execute(call.select(call.id).where(self._scope.condition(term)))
            keys = self._found[term] = np.sort(np.array([key for (key,) in asked], np.int64))
        start, end = np.searchsorted(keys, (block.ids[0], block.ids[-1] + 1))
        found = np.zeros(block.n, np.bool_)
        found[np.searchsorted(block.ids, keys[start:end])] = True
        return found

    def _judged(self, block: Block) -> list[tuple[int, int]]:
        return sorted(self._scored | block.judged_rows())

    def _row_term(self, term: Term, block: Block) -> Flags:
        name = str(term.field)
        if name in DIMENSIONS:
            return self._named(name, term, block.keys_of("state", name))
        return _compared(block.figures_of("state", name), term)


def _speaks_of_rows(predicate: Predicate) -> bool:
    """Say whether any part that is not about calls is about rows of states."""
    match predicate:
        case Term():
            return is_of_states(predicate)
        case Not(part):
            return _speaks_of_rows(part)
        case And(parts) | Or(parts):
            return any(_speaks_of_rows(part) for part in parts)
        case InState():
            return False


def _compared(values: Floats, term: Term) -> Flags:
    """Compare figures; what was not measured is neither equal nor unequal to anything."""
    known = ~np.isnan(values)
    if term.operator in ("missing", "measured"):
        return known if term.operator == "measured" else ~known
    return known & _COMPARE[term.operator](values, float(term.value or 0))


def _in_time(values: Floats, term: Term) -> Flags:
    """Compare moments with the moment, day or month that a term names."""
    if term.operator in ("missing", "measured"):
        return _compared(values, term)
    start, end = time_range(str(term.value))
    if term.operator in ("=", "!="):
        inside: Flags = (values >= start) & (values < end)
        return inside if term.operator == "=" else ~np.isnan(values) & ~inside
    bound = start if term.operator in ("<", ">=") else end - 1
    return ~np.isnan(values) & _COMPARE[term.operator](values, bound)


def _some(term: Term, scored: Callable[[Term], Flags]) -> Flags:
    """Hold where a call has a value as the term says; `!=` where it has values and none is equal."""
    measured = replace(term, operator="measured", value=None)
    if term.operator == "missing":
        return ~scored(measured)
    if term.operator == "!=":
        return scored(measured) & ~scored(replace(term, operator="="))
    return scored(term)


def _any(block: Block, flags: Iterable[Flags]) -> Flags:
    return reduce(operator.or_, flags, np.zeros(block.n, np.bool_))
