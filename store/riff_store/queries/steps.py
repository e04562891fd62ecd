"""Count the steps that tasks ask for, and how calls took them."""

from __future__ import annotations

from dataclasses import dataclass

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names
from riff_store.filters.predicates import Predicate, is_of_states, terms
from riff_store.filters.sql import STATE_COLUMNS, Scope

FIRST_DERIVED = "opening"
"""The state of calls with derived states before the first tool (docs/metrics.md, section 9)."""

_HUMANS = frozenset(("human", "humans", "agent", "agents", "person", "operator", "representative"))


@dataclass(frozen=True, slots=True)
class StepCounts:
    """Count the calls whose task asks for a step of the side `by` (agent or caller), and how they took it.

    Of the `expected` calls `missed` never took the step and `wrong` took it with other arguments than the task's.
    `failed` of them failed; of these `missed_failed` and `wrong_failed` did the same.
    """

    by: str
    expected: int
    missed: int
    wrong: int
    failed: int
    missed_failed: int
    wrong_failed: int

    def __add__(self, other: StepCounts) -> StepCounts:
        return StepCounts(
            self.by,
            self.expected + other.expected,
            self.missed + other.missed,
            self.wrong + other.wrong,
            self.failed + other.failed,
            self.missed_failed + other.missed_failed,
            self.wrong_failed + other.wrong_failed,
        )

    @property
    def missed_share(self) -> float:
        """Return the share of the calls that never took the step."""
        return self.missed / self.expected

    @property
    def wrong_share(self) -> float:
        """Return the share of the calls that took the step with other arguments."""
        return self.wrong / self.expected

    @property
    def missed_failed_share(self) -> float | None:
        """Return the share of the failed calls that never took the step, `None` where none failed."""
        return self.missed_failed / self.failed if self.failed else None

    @property
    def wrong_failed_share(self) -> float | None:
        """Return the share of the failed calls that took the step with other arguments, `None` where none failed."""
        return self.wrong_failed / self.failed if self.failed else None


def expected_steps(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, StepCounts]:
    """Return the counts by the names of the group, which holds the state.

    A call missed a state when none of its steps there was taken, and took it wrongly when one was
    taken with arguments that do not match.
    """
    if "state" not in group.keys or not store.execute(m.ExpectedStep.select(pw.SQL("1")).limit(1)):
        return {}
    states = {**STATE_COLUMNS, "state": m.ExpectedStep.state}
    columns = group.columns(m.Conversation, states)
    # Rows of states are slow to join, and only such a filter looks at them.
    asked = {term.field for term in terms(rows) if is_of_states(term)} | set(group.keys)
    one = (
        _by_call(columns, with_rows=bool(asked & (STATE_COLUMNS.keys() - {"state"})))
        .where(Scope(store, m.Conversation, states).condition(rows))
        .alias("one")
    )
    keys = [getattr(one.c, column.column_name) for column in columns]
    counted = (1, 1 - one.c.called, one.c.wrong, one.c.failed, (1 - one.c.called) * one.c.failed,
               one.c.wrong * one.c.failed)  # fmt: skip
    sums = [pw.fn.SUM(each) for each in counted]
    answer = store.execute(pw.Select([one], [*keys, pw.fn.MIN(one.c.by), *sums]).group_by(*keys))
    names = group.namer(store)
    found: dict[Names, StepCounts] = {}
    for row in answer:
        key = names(row[: len(keys)])
        by, *counts = row[len(keys) :]
        counts_there = StepCounts(by, *(int(count) for count in counts))
        found[key] = found[key] + counts_there if key in found else counts_there
    return found


def flows_with_steps(store: Store) -> set[str]:
    """Return the flows of which some call's task asks for steps."""
    if not store.execute(m.ExpectedStep.select(pw.SQL("1")).limit(1)):
        return set()
    call, step = m.Conversation, m.ExpectedStep
    asked = call.select(pw.SQL("1")).join(step, on=(step.conversation == call.id)).where(call.flow == m.Flow.id)
    return {name for (name,) in store.execute(m.Flow.select(m.Flow.name).where(pw.fn.EXISTS(asked)))}


def derived_flows(store: Store) -> set[str]:
    """Return the flows of which some call's states are derived from the tools that were called."""
    state, call = m.State, m.Conversation
    # Derived states begin with this one, so that the calls of other flows are not looked at.
    begun = state.select(pw.SQL("1")).where(state.flow == m.Flow.id, state.name == FIRST_DERIVED)
    derived = call.select(pw.SQL("1")).where(call.flow == m.Flow.id, call.origin == "derived")
    flows = m.Flow.select(m.Flow.name).where(pw.fn.EXISTS(begun), pw.fn.EXISTS(derived))
    return {name for (name,) in store.execute(flows)}


def _by_call(columns: list[pw.Field], *, with_rows: bool) -> pw.ModelSelect[m.ExpectedStep]:
    """Return a row for each call and state: whether it was taken, taken wrongly, and whether the call failed."""
    step, row = m.ExpectedStep, m.StateScore
    query = (
        step.select(
            *columns,
            pw.fn.MIN(step.by).alias("by"),
            _any(step.called).alias("called"),
            _any(step.called & (step.matched == False)).alias("wrong"),  # noqa: E712
            _any(m.Conversation.success == False).alias("failed"),  # noqa: E712
        )
        .join(m.Conversation, on=(m.Conversation.id == step.conversation))
        .where(~m.Conversation.errored)
        .group_by(step.conversation, step.state, *columns)
    )
    there = (row.conversation == step.conversation) & (row.state == step.state)
    return query.join(row, pw.JOIN.LEFT_OUTER, on=there) if with_rows else query


def _any(condition: object) -> pw.Function:
    return pw.fn.MAX(pw.Case(None, ((condition, 1),), 0))


def is_handover(state: str) -> bool:
    """Return whether a derived state hands the call over to a human, by the words of the tool's name."""
    first, *others = state.removeprefix("user:").lower().split("_")
    return first == "transfer" and not _HUMANS.isdisjoint(others)
