"""Turn what a filter says of calls into conditions on tables, every value bound.

Names are looked up in the small dimension tables in Python, so that case and regular expressions
mean there what `matching` says. Every condition is true or false, never null, so that `NOT` is `!`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import peewee as pw

from riff_store import models as m
from riff_store.agreement import PERSON
from riff_store.database import Store
from riff_store.metrics import POOLED, Pooled
from riff_store.predicate_eval import fold, satisfies
from riff_store.predicates import And, InState, Not, Or, Predicate, Term, terms
from riff_store.queries.conditions import (
    ALWAYS,
    NEVER,
    Condition,
    combined,
    compared,
    exists,
    figure_of_call,
    in_time,
    one_of,
    some,
)
from riff_store.queries.dimensions import (
    DIMENSIONS,
    FAILURE,
    judge_names,
    judges_meant,
    judges_shown,
    names_of,
)
from riff_store.vocabulary import CALL_NAMES, NOTE_FIELDS, STEP_FIELDS, field_of, split_name

if TYPE_CHECKING:
    from riff_store.answers.calls import Note
    from riff_store.queries.marks import Mark

Depth: TypeAlias = Literal["total", "rollup", "base"]
STATE_COLUMNS = {
    name: getattr(m.StateScore, name)
    for name in (
        "state", "segment", "progress", "stall", "lost", "escalation", "revisit", "dwell_turns", "guard_error",
        "slot_fill_rate",
    )
}  # fmt: skip
_IN_TOTALS = {"flow", "agent", "archetype"}
_IN_ROLLUPS = {"run", "commit", "branch", "label"}


def needs(predicate: Predicate | None, by: Iterable[str] = (), *, state_rows: bool = False) -> Depth:
    """Choose the depth of a query: sums over all runs, sums by run, or the calls themselves.

    `by` are the names that rows are grouped by; with `state_rows` the sums are by state as well.
    """
    if _looks_into_rows(predicate):
        return "base"
    shallow = _IN_TOTALS | ({"state"} if state_rows else set())
    named = {None if term.field is None else field_of(term.field).name for term in terms(predicate)}
    grouped = {"state" if name == "segment" and state_rows else name for name in by}
    if named | grouped <= shallow:
        return "total"
    return "rollup" if named | grouped <= shallow | _IN_ROLLUPS else "base"


def _looks_into_rows(predicate: Predicate | None) -> bool:
    """Say if any part asks whether a call has a row, which no sum tells."""
    match predicate:
        case InState():
            return True
        case Not(part):
            return _looks_into_rows(part)
        case And(parts) | Or(parts):
            return any(_looks_into_rows(part) for part in parts)
    return False


def of_calls(predicate: Predicate) -> Predicate:
    """Return a filter of calls: each part about states speaks of some row of a call, those side by side of the same."""
    if asks_states(predicate) and not isinstance(predicate, And):
        return InState(predicate)
    match predicate:
        case Not(part):
            return Not(of_calls(part))
        case Or(parts):
            return Or(tuple(of_calls(part) for part in parts))
        case And(parts):
            rows = [part for part in parts if not isinstance(part, And) and asks_states(part)]
            rest = [of_calls(part) for part in parts if part not in rows]
            return And((*([InState(And(tuple(rows)))] if rows else []), *rest))
    return predicate


def asks_states(predicate: Predicate) -> bool:
    """Say if all of a filter speaks of the rows of states."""
    match predicate:
        case And(parts) | Or(parts):
            return all(asks_states(part) for part in parts)
        case Term():
            return is_of_states(predicate)
    return False


def is_of_states(term: Term) -> bool:
    """Say if a term speaks of the rows of states."""
    return term.field is not None and field_of(term.field).level == "state"


class Scope:
    """Make conditions on one table of calls, or on one of their sums.

    `states` are the columns of a state's row that is joined to the call; terms about states speak of
    that row then, and of any row of the call otherwise.
    """

    def __init__(self, store: Store, calls: Any = m.Conversation, states: Mapping[str, Any] | None = None) -> None:
        self._store = store
        self._calls = calls
        self._states = states
        self._known: dict[str, dict[int, str | None]] = {}
        self._notes: Mapping[int, Sequence[Note]] | None = None
        self._marks: Mapping[int, Mark] | None = None

    def condition(self, predicate: Predicate | None) -> Condition:
        """Return the condition of a predicate."""
        match predicate:
            case None:
                return ALWAYS
            case Term():
                return self._any_row([predicate]) if self._asks_rows(predicate) else self._term(predicate)
            case Not(part):
                return ~self.condition(part)
            case And(parts):
                return self._all(parts)
            case Or(parts):
                return combined(operator.or_, [self.condition(part) for part in parts])
            case InState(part):
                return self._any_row([part])

    def _all(self, parts: Sequence[Predicate]) -> Condition:
        """Join parts, of which those about states speak of the same row."""
        rows = [part for part in parts if not isinstance(part, And) and self._asks_rows(part)]
        rest = [self.condition(part) for part in parts if part not in rows]
        return combined(operator.and_, [*([self._any_row(rows)] if rows else []), *rest])

    def _asks_rows(self, predicate: Predicate) -> bool:
        """Say whether all of it is about a row of states that has yet to be found."""
        return self._states is None and asks_states(predicate)

    def _any_row(self, parts: Sequence[Predicate]) -> Condition:
        rows = m.StateScore.alias()
        inner = Scope(self._store, self._calls, {name: getattr(rows, name) for name in STATE_COLUMNS})
        inner._known, inner._notes, inner._marks = self._known, self._notes, self._marks
        found = inner.condition(And(tuple(parts))) & (rows.conversation == self._calls.id)
        return pw.fn.EXISTS(rows.select(pw.SQL("1")).where(found))

    def _term(self, term: Term) -> Condition:
        if term.field is None:
            return combined(operator.or_, [self._term(replace(term, field=name)) for name in CALL_NAMES])
        name, suffix = split_name(term.field)
        field = field_of(name)
        if name in DIMENSIONS:
            return self._named(name, term)
        if name == "failure" or name in FAILURE:
            from riff_store.queries.first_failures import failed_as
            from riff_store.queries.marks import marks

            if self._marks is None:
                self._marks = marks(self._store)
            return failed_as(self._store, self._calls.id, name, term, self._marks)
        if name in STEP_FIELDS:
            return self._step(name, term)
        if name in NOTE_FIELDS or name == "noted":
            return self._noted(name, term)
        if name == "conversation":
            return self._conversation(term)
        if name == "judge":
            return self._judge(term)
        if name == "humanness" or (name == "quality" and suffix is not None):
            return self._humanness(suffix, term)
        if field.level == "state":
            return compared((self._states or {})[name], term)
        if hasattr(self._calls, name):
            column = getattr(self._calls, name)
            if field.kind == "flag" and term.value is not None:
                term = replace(term, value=bool(term.value))
            return in_time(column, term) if field.kind == "time" else compared(column, term)
        return self._pooled(POOLED[name], term) if name in POOLED else self._aspect(name, term)

    def _named(self, name: str, term: Term) -> Condition:
        dimension = DIMENSIONS[name]
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = names_of(self._store, dimension)
        states = self._states or {}
        column = states[dimension.key] if dimension.key in states else getattr(self._calls, dimension.key)
        unnamed = {key for key, text in known.items() if text is None}
        if term.operator == "missing":
            return column.is_null() | one_of(column, unnamed)
        if term.operator == "measured":
            return column.is_null(False) & one_of(column, known.keys() - unnamed)
        return column.is_null(False) & one_of(column, {key for key, text in known.items() if satisfies(term, text)})

    def _step(self, name: str, term: Term) -> Condition:
        """Return a condition on the steps of a call's task; a state is missed where none of its steps was taken."""
        names = names_of(self._store, DIMENSIONS["state"])

        def asked(wanted: Term) -> Condition:
            step, taken = m.ExpectedStep.alias(), m.ExpectedStep.alias()
            found = step.conversation == self._calls.id
            if wanted.operator != "measured":
                found &= one_of(step.state, {key for key, text in names.items() if satisfies(wanted, text)})
            if name == "missed_step":
                same = (taken.conversation == step.conversation) & (taken.state == step.state)
                found &= ~exists(taken, same & taken.called)
            elif name == "wrong_step":
                found &= step.called & (step.matched == False)  # noqa: E712
            return exists(step, found)

        return some(term, asked)

    def _noted(self, name: str, term: Term) -> Condition:
        """Return a condition on what people wrote on a call."""
        notes = self._written()
        if name == "noted":
            found = one_of(self._calls.id, notes)
            wanted = {"measured": True, "missing": False}.get(term.operator, bool(term.value) == (term.operator == "="))
            return found if wanted else ~found
        attribute = "author" if name == "noted_by" else name
        given = {key: [getattr(note, attribute) for note in written] for key, written in notes.items()}
        return some(term, lambda value: one_of(self._calls.id, {k for k, v in given.items() if satisfies(value, v)}))

    def _written(self) -> Mapping[int, Sequence[Note]]:
        if self._notes is None:
            from riff_store.queries.annotations import notes_by_call

            self._notes = notes_by_call(self._store)
        return self._notes

    def _conversation(self, term: Term) -> Condition:
        column, wanted = self._calls.name, str(term.value)
        if term.operator in ("missing", "measured"):
            return NEVER if term.operator == "missing" else ALWAYS
        if term.operator in ("=", "!="):
            return column == wanted if term.operator == "=" else column != wanted
        if term.operator == "contains" and fold(wanted).isascii() and "\0" not in wanted:
            return column.contains(wanted)
        rows = self._store.execute(m.Conversation.select(m.Conversation.id, m.Conversation.name))
        return one_of(self._calls.id, {key for key, name in rows if satisfies(term, name)})

    def _aspect(self, name: str, term: Term) -> Condition:
        """Return a condition on a computed score, of which a call has one for each aspect at most."""
        keys = {key for key, text in self._aspects().items() if text == name}
        return some(term, lambda value: self._scored(value, keys, {m.COMPUTED_JUDGE}))

    def _pooled(self, figure: Pooled, term: Term) -> Condition:
        """Return a condition on a figure over the events of the call alone."""
        row = m.CallInteraction.alias()
        value = figure_of_call(row, figure)
        return some(term, lambda wanted: exists(row, (row.conversation == self._calls.id) & compared(value, wanted)))

    def _humanness(self, suffix: str | None, term: Term) -> Condition:
        keys = {key for key, text in self._aspects().items() if text == "humanness"}
        judges = judges_meant(self._store, suffix)
        return some(term, lambda value: self._scored(value, keys, judges))

    def _scored(self, term: Term, aspects: Iterable[int], judges: Iterable[int]) -> Condition:
        scores = m.AspectScore.alias()
        kind = one_of(scores.aspect, aspects) & one_of(scores.judge, judges)
        return exists(scores, (scores.conversation == self._calls.id) & kind & compared(scores.value, term))

    def _judge(self, term: Term) -> Condition:
        shown, names = judges_shown(self._store), judge_names(self._store)

        def scored(wanted: Term) -> Condition:
            scores = m.AspectScore.alias()
            judges = {key for key, name in names.items() if satisfies(wanted, [name, shown[key]])}
            by_judges = exists(scores, (scores.conversation == self._calls.id) & one_of(scores.judge, judges))
            people = self.judged_by_people(wanted)
            return by_judges | one_of(self._calls.id, people) if people else by_judges

        return some(term, scored)

    def judged_by_people(self, term: Term) -> set[int]:
        """Return the keys of the calls that people gave a verdict on who are called as a term about judges says."""
        if term.operator == "=" and not str(term.value).startswith(PERSON):
            return set()
        from riff_store.queries.annotations import verdicts_of_people

        people = verdicts_of_people(self._written()).items()
        given = (verdicts for author, verdicts in people if satisfies(term, f"{PERSON}{author}"))
        return {call for verdicts in given for call in verdicts}

    def _aspects(self) -> dict[int, str]:
        return dict(self._store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))
