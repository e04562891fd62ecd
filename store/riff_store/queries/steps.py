"""Count the steps that tasks ask for, and find the state to begin with: the one behind most failed calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names
from riff_store.filters.predicates import Predicate, Term, both, is_of_states, of_calls, terms
from riff_store.filters.sql import STATE_COLUMNS, Scope
from riff_store.measure import THIN, Measure
from riff_store.queries.sums import aspect_sums, call_counts, call_sums, lost_in_states
from riff_store.schema import COMPUTED_JUDGE
from riff_store.scoring import FULL

FIRST_DERIVED = "opening"
"""The state of calls with derived states before the first tool (docs/metrics.md, section 9)."""

_HUMANS = frozenset(("human", "humans", "agent", "agents", "person", "operator", "representative"))


@dataclass(frozen=True, slots=True)
class StepCounts:
    """Count the calls whose task asks for a step of the side `by` (agent or caller), and how they took it.

    Of the `expected` calls `missed` never took the step and `wrong` took it with other arguments than the task's.
    `failed` of them were not correct; of these `missed_failed` and `wrong_failed` did the same.
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
    step, row, score = m.ExpectedStep, m.StateScore, m.AspectScore
    correctness = m.Aspect.select(m.Aspect.id).where(m.Aspect.name == "correctness")
    scored = (score.conversation == step.conversation) & (score.judge == m.COMPUTED_JUDGE)
    query = (
        step.select(
            *columns,
            pw.fn.MIN(step.by).alias("by"),
            _any(step.called).alias("called"),
            _any(step.called & (step.matched == False)).alias("wrong"),  # noqa: E712
            _any(score.value < 10).alias("failed"),
        )
        .join(m.Conversation, on=(m.Conversation.id == step.conversation))
        .join(score, pw.JOIN.LEFT_OUTER, on=(scored & score.aspect.in_(correctness)))
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


def loss_by_step(steps: StepCounts) -> tuple[float, ...]:
    """Return by what steps are ranked: failed calls that missed it, their share, those that took it wrongly."""
    return -float(steps.missed_failed), -(steps.missed_failed_share or 0.0), -float(steps.wrong_failed)


_FLOW = Grouping(("flow",))
_STATES = Grouping(("flow", "state"))
_BY_AGENT = Grouping(("flow", "state", "agent"))
_NO_ROWS = 0, 0
_Ranked: TypeAlias = tuple[tuple[float, ...], Names]
_Losses: TypeAlias = Mapping[str, tuple[int, int]]
"""By agent, its calls in a state and those that the state lost."""


@dataclass(frozen=True, slots=True)
class FirstToMend:
    """Name the state behind most failed calls, and what mending it could bring.

    It lost `lost` of the `n` calls of its flow; `completion` is the share of these that were complete, and
    `completion_at_most` what it could be without the loss. Of the `agents` that led calls through the state
    `losing` lost some.

    With `steps` it is a step that tasks ask for: `agents` led calls that had to take it, failed ones of those that are
    `losing` missed it. Mended, `success_rate` could rise to `success_rate_at_most`; of completion nothing is known.
    """

    flow: str
    state: str
    lost: int
    n: int
    completion: float | None
    completion_at_most: float | None
    agents: Sequence[str]
    losing: Sequence[str]
    steps: StepCounts | None = None
    success_rate: float | None = None
    success_rate_at_most: float | None = None


def first_to_mend(store: Store, calls: Predicate | None = None) -> FirstToMend | None:
    """Return the state behind most failed calls, `None` where there is none; states of few calls come after all others.

    That is the state that lost most calls or, in a flow whose tasks ask for steps, the step that most failed calls
    missed: the state that a call ended in says nothing there of why it failed.
    """
    calls = None if calls is None else of_calls(calls)
    with store.snapshot():
        asking = flows_with_steps(store)
        by_agent: dict[Names, dict[str, tuple[int, int]]] = {}
        for (flow, state, agent), counted in lost_in_states(store, calls, _BY_AGENT).items():
            by_agent.setdefault((flow, state), {})[agent or ""] = counted
        states = {names: _all_agents(losses) for names, losses in by_agent.items()}
        steps = expected_steps(store, calls, _STATES) if asking else {}
        ranked: list[_Ranked] = [
            ((n < THIN, -float(lost)), names) for names, (n, lost) in states.items() if lost and names[0] not in asking
        ]
        ranked += [
            ((max(states.get(names, _NO_ROWS)[0], counts.expected) < THIN, *loss_by_step(counts)), names)
            for names, counts in steps.items()
            if (counts.missed_failed or counts.wrong_failed) and not is_handover(names[1] or "")
        ]
        if any(is_handover(names[1] or "") for _, names in ranked):
            # Handing a derived call over is how it ended, and not why.
            derived = derived_flows(store)
            ranked = [each for each in ranked if not (each[1][0] in derived and is_handover(each[1][1] or ""))]
        if not ranked:
            return None
        _, names = min(ranked)
        found, losses = steps.get(names), by_agent.get(names, {})
        return (
            _of_losses(store, calls, names, losses) if found is None else _of_step(store, calls, names, losses, found)
        )


def _all_agents(losses: _Losses) -> tuple[int, int]:
    return sum(n for n, _ in losses.values()), sum(lost for _, lost in losses.values())


def _of_losses(store: Store, calls: Predicate | None, names: Names, losses: _Losses) -> FirstToMend:
    flow, state = names[0] or "", names[1] or ""
    in_flow = both(Term("flow", "=", flow), calls)
    _, lost = _all_agents(losses)
    completion = _completion(store, in_flow)
    share = None if completion is None or completion.mean is None else completion.mean / FULL
    return FirstToMend(
        flow=flow,
        state=state,
        lost=lost,
        n=sum(n for n, _ in call_counts(store, in_flow, _FLOW).values()),
        completion=share,
        completion_at_most=None if share is None or completion is None else min(1.0, share + lost / completion.n),
        agents=sorted(losses),
        losing=sorted(agent for agent, (_, losses_there) in losses.items() if losses_there),
    )


def _of_step(store: Store, calls: Predicate | None, names: Names, losses: _Losses, steps: StepCounts) -> FirstToMend:
    """Return the step with what the share of successful calls could be, had no failed call missed it."""
    flow, state = names[0] or "", names[1] or ""
    in_flow = both(Term("flow", "=", flow), calls)
    (whole,) = call_sums(store, in_flow, _FLOW).values()
    by_agent = expected_steps(store, both(Term("state", "=", state), in_flow), Grouping(("agent", "state")))
    completion, success = _completion(store, in_flow), whole.success_measure()
    mended = steps.missed_failed or steps.wrong_failed
    return FirstToMend(
        flow=flow,
        state=state,
        lost=_all_agents(losses)[1],
        n=whole.n,
        completion=None if completion is None or completion.mean is None else completion.mean / FULL,
        completion_at_most=None,
        agents=sorted(agent or "" for agent, _ in by_agent),
        losing=sorted(
            agent or "" for (agent, _), counts in by_agent.items() if counts.missed_failed or counts.wrong_failed
        ),
        steps=steps,
        success_rate=success.mean,
        success_rate_at_most=None if success.mean is None else min(1.0, success.mean + mended / success.n),
    )


def _completion(store: Store, calls: Predicate | None) -> Measure | None:
    """Return how complete calls of a flow are, `None` where none was scored for it."""
    for sums in aspect_sums(store, calls, _FLOW, ("completion",)).values():
        for (_, judge), found in sums.items():
            if judge == COMPUTED_JUDGE:
                return found.measure()
    return None
