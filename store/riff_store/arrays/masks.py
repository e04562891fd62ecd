"""Find the calls, and those of their rows, to which a filter applies: what `Scope` makes conditions of, on arrays.

What no column has, such as texts and steps, is asked of the store for each term by itself.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeVar

import numpy as np

from riff_store import schema as m
from riff_store.arrays.blocks import Block, Flags, Keys, packed_scores
from riff_store.arrays.encoding import Floats, Places, is_unscored
from riff_store.database import Store
from riff_store.filters.call_terms import CallTerms, Known
from riff_store.filters.dimensions import DIMENSIONS, FAILURE
from riff_store.filters.matching import compared
from riff_store.filters.predicates import InState, Predicate, Term, Walker, is_of_states, leaves, of_calls
from riff_store.filters.sql import Scope
from riff_store.metrics import Pooled
from riff_store.vocabulary import SAID_FIELDS, SPELLED, WAYS, field_of

_ERRORED = Term("errored", "=", True)
_HELD = 16
"""Of so many terms it is held, for as long as a snapshot lasts, of which calls they hold: a byte for each call."""
Asked = TypeVar("Asked", Term, InState)


def masks_of(store: Store) -> Masks:
    """Return what evaluates filters on a store: the same within a snapshot, in which several questions are asked."""
    return store.once(Masks, lambda: Masks(store))


class Masks:
    """Evaluate filters on the blocks of a snapshot of a store; names are looked up once."""

    def __init__(self, store: Store) -> None:
        self.known = Known(store)
        self._scored = packed_scores(store)
        self._accepted: dict[tuple[frozenset[int], bool], Flags] = {}
        self._found: dict[Term, Keys] = {}
        self._flags: OrderedDict[Predicate, dict[int, Flags]] = OrderedDict()
        self._searched: set[Predicate] = set()

    def calls(self, predicate: Predicate | None, block: Block) -> Flags:
        """Return to which calls a filter applies; terms about states speak of any row of a call."""
        if predicate is None:
            return np.ones(block.n, np.bool_)
        self._search(predicate)
        return _OfCalls(self, block).of(of_calls(predicate))

    def _search(self, predicate: Predicate) -> None:
        if predicate not in self._searched:
            self._searched.add(predicate)
            self.known.search(predicate)

    def counting(self, predicate: Predicate | None, block: Block) -> Flags:
        """Return to which calls that are not errored a filter applies."""
        chosen = self.calls(predicate, block)
        return chosen & ~self.calls(_ERRORED, block) if chosen.any() else chosen

    def rows_counting(self, predicate: Predicate | None, block: Block) -> tuple[Places, Places]:
        """Return the places of the rows of states that a filter leaves of calls not errored, and those of the calls."""
        if not speaks_of_rows(predicate):
            return block.rows_of("state", self.counting(predicate, block))
        chosen, calls = self.rows(predicate, block), block.calls_of("state")
        chosen &= self.counting(None, block)[calls]
        rows = np.flatnonzero(chosen)
        return rows, calls[rows]

    def rows(self, predicate: Predicate | None, block: Block) -> Flags:
        """Return to which rows of states a filter applies; what it reports of calls speaks of theirs."""
        if predicate is None:
            return np.ones(block.calls_of("state").size, np.bool_)
        self._search(predicate)
        return _OfRows(self, block).of(predicate)

    def held(self, asked: Asked, block: Block, evaluate: Callable[[Asked], Flags]) -> Flags:
        """Return what was evaluated for a block before, as far as it is kept still."""
        of_blocks = self._flags.setdefault(asked, {})
        self._flags.move_to_end(asked)
        if len(self._flags) > _HELD:
            self._flags.popitem(last=False)
        if block.first not in of_blocks:
            of_blocks[block.first] = evaluate(asked)
            of_blocks[block.first].flags.writeable = False
        return of_blocks[block.first]

    def accepted(self, keys: Collection[int], *, or_none: bool) -> Flags:
        """Return of each key of a dimension, 0 for none, whether it is among some; the last speaks of all above."""
        names = frozenset(keys), or_none
        found = self._accepted.get(names)
        if found is None:
            found = self._accepted[names] = np.zeros(max(keys, default=0) + 2, np.bool_)
            found[list(keys)] = True
            found[0] = or_none
        return found

    def asked(self, term: Term) -> Keys:
        """Return the keys of the calls to which a term applies; the store is asked once."""
        if term not in self._found:
            call = m.Conversation
            condition = Scope(self.known.store, known=self.known).condition(term)
            found = self.known.store.execute(call.select(call.id).where(condition))
            self._found[term] = np.sort(np.array([key for (key,) in found], np.int64))
        return self._found[term]

    def stepped(self, name: str, term: Term, block: Block) -> Flags:
        """Return from which rows of states a call took a step that is as a term asks, or to which."""
        if term.operator == "missing":
            return block.figures_of("state", "revisit") + 1 > steps_of_rows(block, name)
        if term.operator == "!=":
            equal = self.stepped(name, replace(term, operator="="), block)
            return self.stepped(name, replace(term, operator="measured", value=None), block) & ~equal
        steps = np.ones(block.calls_of("transition").size, np.bool_)
        if term.operator != "measured":
            accepted = self.accepted(self.known.keys("state", term), or_none=False)
            steps = accepted.take(block.keys_of("transition", WAYS[name][1]), mode="clip")
        return steps_of_rows(block, name, steps) > 0

    def judged(self, block: Block, aspects: Collection[int] | None, judges: Collection[int]) -> list[tuple[int, int]]:
        """Return the (aspect, judge) of which a block may have scores, of some judges and aspects or all of these."""
        pairs = sorted(self._scored | block.judged_rows())
        return [pair for pair in pairs if pair[1] in judges and (aspects is None or pair[0] in aspects)]


def steps_of_rows(block: Block, name: str, some: Flags | None = None) -> Floats:
    """Return how many steps, or how many of `some`, calls took from the state of each row, or to it."""
    near = block.keys_of("transition", WAYS[name][0])
    states, calls = block.keys_of("state", "state"), block.calls_of("state")
    radix = int(max(states.max(initial=0), near.max(initial=0))) + 1
    rows, steps = calls * radix + states, block.calls_of("transition") * radix + near
    n = block.figures_of("transition", "n")
    if some is not None:
        steps, n = steps[some], n[some]
    # Rows are in the order of calls and then of states.
    at = np.minimum(np.searchsorted(rows, steps), max(0, rows.size - 1))
    found = rows[at] == steps if rows.size else np.zeros(steps.size, np.bool_)
    counted: Floats = np.bincount(at[found], n[found], rows.size).astype(np.float64)
    return counted


class _Flags(Walker[Flags]):
    """Join flags of the calls of a block, or of their rows."""

    def both(self, found: Sequence[Flags]) -> Flags:
        return reduce(operator.and_, found)

    def either(self, found: Sequence[Flags]) -> Flags:
        return reduce(operator.or_, found)


class _OfCalls(_Flags, CallTerms[Flags]):
    """Flag the calls of a block."""

    def __init__(self, masks: Masks, block: Block) -> None:
        super().__init__(masks.known)
        self._masks = masks
        self._block = block

    def every(self, parts: Sequence[Predicate]) -> Flags:
        """Look at rows of states last; once no call is left no more is looked at."""
        found = np.ones(self._block.n, np.bool_)
        for part in sorted(parts, key=lambda part: isinstance(part, InState)):
            if found.any():
                found &= self.of(part)
        return found

    def term(self, term: Term) -> Flags:
        if term.field in SAID_FIELDS:
            # More calls contain it once another filter has had more of them searched.
            return super().term(term)
        return self._masks.held(term, self._block, super().term)

    def in_state(self, part: Predicate) -> Flags:
        def in_rows(asked: InState) -> Flags:
            found = np.zeros(self._block.n, np.bool_)
            found[self._block.calls_of("state")[self._masks.rows(asked.part, self._block)]] = True
            return found

        return self._masks.held(InState(part), self._block, in_rows)

    def one_of(self, calls: Collection[int]) -> Flags:
        return np.isin(self._block.ids, np.fromiter(calls, np.int64))

    def named(self, key: str, keys: Collection[int], *, or_none: bool) -> Flags:
        return self._masks.accepted(keys, or_none=or_none).take(self._block.keys(key), mode="clip")

    def figure(self, name: str, term: Term) -> Flags:
        wanted = float(bool(term.value)) if field_of(name).kind == "flag" else term.value
        return _compared(self._block.figures(name), term, wanted)

    def scored(self, term: Term, aspects: Collection[int], judges: Collection[int]) -> Flags:
        pairs = self._masks.judged(self._block, aspects, judges)
        return self._any(_compared(self._block.scores(*pair), term, term.value) for pair in pairs)

    def asked(self, judges: Collection[int]) -> Flags:
        scores = (self._block.scores(*pair) for pair in self._masks.judged(self._block, None, judges))
        return self._any(~np.isnan(given) | is_unscored(given) for given in scores)

    def _any(self, flags: Iterable[Flags]) -> Flags:
        return reduce(operator.or_, flags, np.zeros(self._block.n, np.bool_))

    def failed(self, name: str, found: Iterable[int | str] | None, *, or_none: bool) -> Flags:
        column, words = SPELLED.get(name) or (FAILURE[name].key, ())
        keys = self._block.keys_of("failure", column)
        if found is None:
            rows = np.full(keys.size, True) if or_none else keys > 0
        else:
            wanted = [words.index(each) if isinstance(each, str) else each for each in found]
            rows = np.isin(keys, [*wanted, 0] if or_none else wanted)
        flags = np.zeros(self._block.n, np.bool_)
        flags[self._block.calls_of("failure")[rows]] = True
        return flags

    def of_tools(self, name: str, term: Term) -> Flags:
        return self._asked(term)

    def of_steps(self, name: str, term: Term) -> Flags:
        return self._asked(term)

    def stepped(self, name: str, term: Term) -> Flags:
        raise AssertionError("speaks of rows of states")

    def conversation(self, term: Term) -> Flags:
        if term.operator in ("missing", "measured"):
            return np.full(self._block.n, term.operator == "measured")
        # All but a few ids differ from one: the few are asked for.
        return ~self._asked(replace(term, operator="=")) if term.operator == "!=" else self._asked(term)

    def pooled(self, figure: Pooled, term: Term) -> Flags:
        return self._asked(term)

    def _asked(self, term: Term) -> Flags:
        """Return to which calls a term applies that the store is asked about."""
        keys, ids = self._masks.asked(term), self._block.ids
        start, end = np.searchsorted(keys, (ids[0], ids[-1] + 1))
        found = np.zeros(self._block.n, np.bool_)
        found[np.searchsorted(ids, keys[start:end])] = True
        return found


class _OfRows(_Flags):
    """Flag the rows of states of the calls of a block."""

    def __init__(self, masks: Masks, block: Block) -> None:
        self._masks = masks
        self._block = block

    def of(self, predicate: Predicate) -> Flags:
        if speaks_of_rows(predicate):
            return super().of(predicate)
        flags: Flags = self._masks.calls(predicate, self._block)[self._block.calls_of("state")]
        return flags

    def term(self, term: Term) -> Flags:
        name = str(term.field)
        if name in WAYS:
            return self._masks.stepped(name, term, self._block)
        if name in DIMENSIONS:
            accepted = self._masks.accepted(self._masks.known.keys(name, term), or_none=term.operator == "missing")
            return accepted.take(self._block.keys_of("state", name), mode="clip")
        return _compared(self._block.figures_of("state", name), term, term.value)

    def in_state(self, part: Predicate) -> Flags:
        raise AssertionError("speaks of calls")


def speaks_of_rows(predicate: Predicate | None) -> bool:
    """Return whether any part that is not about calls is about rows of states."""
    return any(isinstance(leaf, Term) and is_of_states(leaf) for leaf in leaves(predicate))


def _compared(values: Floats, term: Term, wanted: object) -> Flags:
    found: Flags = compared(values, ~np.isnan(values), term, wanted)
    return found
