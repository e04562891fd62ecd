"""Turn what a filter reports of calls into conditions on tables, every value bound.

Names are looked up in the small dimension tables in Python, so that case and regular expressions mean there what
`matching` defines. Every condition is true or false, never null, so that `NOT` is `!`.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.call_terms import CallTerms, Known
from riff_store.filters.conditions import ALWAYS, NEVER, Condition, combined, exists, figure_of_call, one_of
from riff_store.filters.dimensions import FAILURE
from riff_store.filters.matching import compared, fold, satisfies
from riff_store.filters.predicates import InState, Predicate, Term, leaves, of_calls, some, terms
from riff_store.metrics import Pooled
from riff_store.vocabulary import SPELLED, WAYS, field_of

Depth: TypeAlias = Literal["total", "rollup", "base"]
STATE_COLUMNS = (
    "state", "segment", "progress", "stall", "lost", "escalation", "revisit", "dwell_turns", "guard_error",
    "slot_fill_rate",
)  # fmt: skip
_IN_TOTALS = {"flow", "agent", "archetype"}
_IN_ROLLUPS = {"run", "commit", "branch", "label"}


def columns_of_states(rows: Any) -> dict[str, Any]:
    """Return the columns of a table of states, or of a part of one, that filters and groups ask for."""
    return {name: getattr(rows, name) for name in STATE_COLUMNS}


def needs(
    predicate: Predicate | None,
    by: Iterable[str] = (),
    *,
    state_rows: bool = False,
    tool_rows: bool = False,
    sliced: str = "flow",
) -> Depth:
    """Choose the depth of a query: sums over all runs, sums by run, or the calls themselves.

    `by` are the names that rows are grouped by; with `state_rows` the sums are by state as well, with `tool_rows` by
    tool and state, and those of some calls by what they are `sliced` by.
    """
    if any(isinstance(leaf, InState) for leaf in leaves(predicate)):
        # No sum shows whether a call has a row.
        return "base"
    shallow = _IN_TOTALS | {sliced} | ({"state", "tool"} if tool_rows else {"state"} if state_rows else set())
    named = {None if term.field is None else field_of(term.field).name for term in terms(predicate)}
    grouped = {"state" if name == "segment" and state_rows else name for name in by}
    if named | grouped <= shallow:
        return "total"
    return "rollup" if named | grouped <= shallow | _IN_ROLLUPS else "base"


class Scope(CallTerms[Condition]):
    """Make conditions on one table of calls, or on one of their sums.

    `states` are the columns of a state's row that is joined to the call, or of a tool's; terms about states, and about
    the tool that was called, speak of that row then, and of any row of the call otherwise.
    """

    def __init__(
        self,
        store: Store,
        calls: Any = None,
        states: Mapping[str, Any] | None = None,
        known: Known | None = None,
    ) -> None:
        super().__init__(known or Known(store))
        self._calls = m.Conversation if calls is None else calls
        self._states = states

    def condition(self, predicate: Predicate | None) -> Condition:
        """Return the condition of a predicate."""
        if predicate is None:
            return ALWAYS
        self.known.search(predicate)
        return self.of(of_calls(predicate) if self._states is None else predicate)

    def in_state(self, part: Predicate) -> Condition:
        rows = m.StateScore.alias()
        inner = Scope(self.known.store, self._calls, columns_of_states(rows), self.known)
        return exists(rows, inner.of(part) & (rows.conversation == self._calls.id))

    def both(self, found: Sequence[Condition]) -> Condition:
        return combined(operator.and_, found)

    def either(self, found: Sequence[Condition]) -> Condition:
        return combined(operator.or_, found)

    def one_of(self, calls: Collection[int]) -> Condition:
        return one_of(self._calls.id, calls)

    def named(self, key: str, keys: Collection[int], *, or_none: bool) -> Condition:
        states = self._states or {}
        column = states[key] if key in states else getattr(self._calls, key)
        return column.is_null() | one_of(column, keys) if or_none else column.is_null(False) & one_of(column, keys)

    def figure(self, name: str, term: Term) -> Condition:
        field = field_of(name)
        column = (self._states or {})[name] if field.level == "state" else getattr(self._calls, name)
        return _compared(column, term, bool(term.value) if field.kind == "flag" else term.value)

    def scored(self, term: Term, aspects: Collection[int], judges: Collection[int]) -> Condition:
        scores = m.AspectScore.alias()
        kind = one_of(scores.aspect, aspects) & one_of(scores.judge, judges)
        about = (scores.conversation == self._calls.id) & kind
        return exists(scores, about & _compared(scores.value, term, term.value))

    def asked(self, judges: Collection[int]) -> Condition:
        scores = m.AspectScore.alias()
        return exists(scores, (scores.conversation == self._calls.id) & one_of(scores.judge, judges))

    def failed(self, name: str, found: Iterable[int | str] | None, *, or_none: bool) -> Condition:
        row: Any = m.CallFailure.alias()
        column = getattr(row, SPELLED[name][0] if name in SPELLED else FAILURE[name].key)
        wanted = list(found or ())
        if found is None:
            held = ALWAYS if or_none else column.is_null(False)
        elif name in SPELLED:
            held = column.in_(wanted) if wanted else NEVER
        else:
            held = one_of(column, map(int, wanted))
            held = held | column.is_null() if or_none else held
        return exists(row, (row.conversation == self._calls.id) & held)

    def of_tools(self, name: str, term: Term) -> Condition:
        row, states = m.ToolScore.alias(), self._states or {}
        is_of_row = name == "tool" and "tool" in states
        tool, state = (states["tool"], pw.fn.COALESCE(states["state"], 0)) if is_of_row else (row.tool, row.state)
        found = ALWAYS
        if term.operator != "measured":
            asked = (
                one_of(tool, tools) if places is None else one_of(tool, tools) & one_of(state, places)
                for tools, places in self.known.tools(term)
            )
            found = combined(operator.or_, list(asked))
        if is_of_row:
            return found
        counted = row.errors if name == "tool_error" else row.n
        return exists(row, (row.conversation == self._calls.id) & (counted > 0) & found)

    def of_steps(self, name: str, term: Term) -> Condition:
        """Return a condition on the steps of a call's task; a state is missed if none of its steps was taken."""

        def asked(wanted: Term) -> Condition:
            step, taken = m.ExpectedStep.alias(), m.ExpectedStep.alias()
            found = step.conversation == self._calls.id
            if wanted.operator != "measured":
                found &= one_of(step.state, self.known.keys("state", wanted))
            if name == "missed_step":
                same = (taken.conversation == step.conversation) & (taken.state == step.state)
                found &= ~exists(taken, same & taken.called)
            elif name == "wrong_step":
                found &= step.called & (step.matched == False)  # noqa: E712
            return exists(step, found)

        return some(term, asked)

    def stepped(self, name: str, term: Term) -> Condition:
        state = (self._states or {})["state"]
        if term.operator == "missing":
            row: Any = m.StateScore.alias()
            mine = (row.conversation == self._calls.id) & (row.state == state)
            return exists(row, mine & (row.revisit + 1 > steps_of(name, row)))
        step = m.Transition.alias()
        near, far = (getattr(step, end) for end in WAYS[name])
        taken = (step.conversation == self._calls.id) & (near == state)
        return exists(
            step, taken if term.operator == "measured" else taken & one_of(far, self.known.keys("state", term))
        )

    def conversation(self, term: Term) -> Condition:
        column, wanted = self._calls.name, str(term.value)
        if term.operator in ("missing", "measured"):
            return NEVER if term.operator == "missing" else ALWAYS
        if term.operator in ("=", "!="):
            return column == wanted if term.operator == "=" else column != wanted
        if term.operator == "contains" and fold(wanted).isascii() and "\0" not in wanted:
            return column.contains(wanted)
        rows = self.known.store.execute(m.Conversation.select(m.Conversation.id, m.Conversation.name))
        return one_of(self._calls.id, {key for key, name in rows if satisfies(term, name)})

    def pooled(self, figure: Pooled, term: Term) -> Condition:
        row = m.CallInteraction.alias()
        value, mine = figure_of_call(row, figure), row.conversation == self._calls.id
        return some(term, lambda wanted: exists(row, mine & _compared(value, wanted, wanted.value)))


def steps_of(name: str, row: Any) -> Any:
    """Return how many steps a call took from the state of its row, or to it, as `WAYS` has it."""
    step = m.Transition.alias()
    near = getattr(step, WAYS[name][0])
    mine = (step.conversation == row.conversation) & (near == row.state)
    return pw.fn.COALESCE(step.select(pw.fn.SUM(step.n)).where(mine), 0)


def _compared(column: Any, term: Term, wanted: Any) -> Condition:
    # A number is compared as it is: an integer column would cut it to a whole one.
    return compared(column, column.is_null(False), term, pw.Value(wanted, converter=False))
