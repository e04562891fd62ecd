"""Count the steps that tasks ask for, and how calls took them; and what of their flows calls touched, and never did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names, run_order
from riff_store.filters.matching import matches
from riff_store.filters.predicates import Predicate, all_of, conjuncts, is_of_states, of_calls, terms
from riff_store.filters.sql import STATE_COLUMNS, Scope, columns_of_states
from riff_store.queries.sums import call_counts, call_sums
from riff_store.schema.sums import CallSums
from riff_store.vocabulary import FIELD_OF_KIND, CoverageKind

if TYPE_CHECKING:
    from riff_store.facts import Item

FIRST_DERIVED = "opening"
"""The state of calls with derived states before the first tool (docs/metrics.md, section 9)."""

_HUMANS = frozenset(("human", "humans", "agent", "agents", "person", "operator", "representative"))


class StepCounts(NamedTuple):
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

    def __add__(self, other: StepCounts) -> StepCounts:  # type: ignore[override]  # counts add up
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
        """Return the share of the failed calls that never took the step, `None` if none failed."""
        return self.missed_failed / self.failed if self.failed else None

    @property
    def wrong_failed_share(self) -> float | None:
        """Return the share of the failed calls that took the step with other arguments, `None` if none failed."""
        return self.wrong_failed / self.failed if self.failed else None


def expected_steps(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, StepCounts]:
    """Return the counts by the names of the group, which has the state.

    A call missed a state when none of its steps there was taken, and took it wrongly when one was
    taken with arguments that do not match.
    """
    if "state" not in group.keys or not store.execute_sql("SELECT 1 FROM expected_step LIMIT 1"):
        return {}
    states = {**columns_of_states(m.StateScore), "state": m.ExpectedStep.state}
    columns = group.columns(m.Conversation, states)
    # Rows of states are slow to join, and only such a filter looks at them.
    asked = {term.field for term in terms(rows) if is_of_states(term)} | set(group.keys)
    one = (
        _by_call(columns, with_rows=bool(asked & set(STATE_COLUMNS) - {"state"}))
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
    if not store.execute_sql("SELECT 1 FROM expected_step LIMIT 1"):
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


# Find what of their flows calls touched, and what not: items that flow files declare, or that earlier runs touched.
_OF_RUNS = frozenset(("run", "commit", "branch", "label"))
"""The names that all calls of a run share: a filter that speaks of no others leaves whole runs."""
_OF_FLOWS = frozenset(("flow", "archetype", None))
_Sums = TypeVar("_Sums", bound=tuple[Any, ...])
"""The sums of calls, their number first."""
_Cells: TypeAlias = dict[tuple[str, str], _Sums]
"""Such sums by run and by what the calls touched."""


class CoveredItem(NamedTuple):
    """Count the calls that touched an item of a flow, those that were served and those that failed.

    One that is `declared` is named by a file of the flow. `last` is the last run of which any call touched it, up to
    the last one in scope, `None` if none did.
    """

    kind: CoverageKind
    item: str
    calls: int
    served: int
    failed: int
    declared: bool
    last: str | None


class Coverage(NamedTuple):
    """Describe the items of a flow, those that the fewest calls touched first.

    `calls` count, and `last` is the last run that has any of them.
    """

    keys: Mapping[str, str | None]
    calls: int
    last: str | None
    items: Sequence[CoveredItem]

    def of_kind(self, kind: CoverageKind) -> list[CoveredItem]:
        """Return the items of a kind."""
        return [each for each in self.items if each.kind == kind]

    @property
    def untouched(self) -> list[CoveredItem]:
        """Return the items that no call touched."""
        return [each for each in self.items if not each.calls]

    @property
    def lapsed(self) -> list[CoveredItem]:
        """Return the items that calls touched, but none of the last run."""
        return [each for each in self.items if each.calls and each.last != self.last]

    @property
    def is_declared(self) -> bool:
        """Return whether a file of the flow declares what there is."""
        return any(each.declared for each in self.items)


def coverage(
    store: Store,
    calls: Predicate | None = None,
    by: Sequence[str] = ("flow",),
    declared: Mapping[str, Collection[Item]] | None = None,
) -> list[Coverage]:
    """Return what calls touched of each flow, and what not, the flows of which most is untouched first.

    Items are those that are `declared`, by flow, else by the flow's files in the store. Of a kind of which nothing is
    declared they are those that any call of the flow touched up to the last run in scope; guards are all of both.
    Earlier runs are the calls that a filter leaves which shows nothing of runs. A flow without calls is there where the
    filter speaks of flows alone. Terms about states choose calls.
    """
    parts = conjuncts(calls)
    apart = tuple(name for name in by if name not in _OF_RUNS)
    others = [part for part in parts if not _OF_RUNS.issuperset(term.field for term in terms(part))]
    with store.snapshot():
        wanted = _declared(store) if declared is None else declared
        items, order = _Items(store), run_order(store)
        here = _by_place(call_sums(store, _chosen(parts), Grouping((*by, "run", "touched"))))
        if len(others) == len(parts) and apart == tuple(by):
            history = {place: items.by_run(cells) for place, cells in here.items()}
        else:
            every = _by_place(call_counts(store, _chosen(others), Grouping((*apart, "run", "touched"))))
            history = {place: items.by_run(cells) for place, cells in every.items()}
        archetypes = dict(store.execute(m.Flow.select(m.Flow.name, m.Flow.archetype)))
    of_flows = _pooled(history, apart.index("flow"))
    found = []
    for place, cells in here.items():
        keys = dict(zip(by, place, strict=True))
        flow, last = keys["flow"] or "", max((run for run, _ in cells), key=order.__getitem__)
        until = [run for run, at in order.items() if at <= order[last]]
        touched = _last_runs(history[tuple(keys[name] for name in apart)], until)
        there = map(items.name_of, _last_runs(of_flows[flow], until))
        counts, named = items.counted(cells), wanted.get(flow, frozenset())
        rows = []
        for item in items.listed(named, flow, there):
            at = items.number(item)
            rows.append(CoveredItem(*item, *counts.get(at, (0, 0, 0)), item in named, touched.get(at)))
        found.append(_coverage(keys, sum(sums.n for sums in cells.values()), last, rows))
    if tuple(by) == ("flow",) and _OF_FLOWS.issuperset(term.field for term in terms(calls)):
        for flow in wanted.keys() - {place[0] for place in here}:
            if calls is None or matches(calls, {"flow": flow, "archetype": archetypes.get(flow)}, ("flow",)):
                rows = [CoveredItem(*item, 0, 0, 0, declared=True, last=None) for item in wanted[flow]]
                found.append(_coverage({"flow": flow}, 0, None, rows))
    return sorted(found, key=lambda each: (-len(each.untouched), *(name or "" for name in each.keys.values())))


def _coverage(keys: Mapping[str, str | None], calls: int, last: str | None, items: Iterable[CoveredItem]) -> Coverage:
    """Return the items in their order: those of the fewest calls first, by kind and name where these are as many."""

    def place(each: CoveredItem) -> tuple[object, ...]:
        outcome, _, guard = each.item.partition(" ")
        name = (guard, outcome) if each.kind == "guard" else (each.item, "")
        return each.calls, _KINDS.index(each.kind), *name

    return Coverage(keys, calls, last, sorted(items, key=place))


def _chosen(parts: Sequence[Predicate]) -> Predicate | None:
    scope = all_of(parts)
    return None if scope is None else of_calls(scope)


def _by_place(cells: Mapping[Names, _Sums]) -> dict[Names, _Cells[_Sums]]:
    """Return the sums of the calls that count by place, then by run and by what they touched."""
    found: dict[Names, _Cells[_Sums]] = {}
    for (*place, run, text), sums in cells.items():
        if sums[0]:
            found.setdefault(tuple(place), {})[run or "", text or ""] = sums
    return found


def _pooled(history: Mapping[Names, Mapping[str, set[int]]], at: int) -> dict[str, dict[str, set[int]]]:
    """Return what calls touched by run, by the flow alone, which has its place in the names."""
    found: dict[str, dict[str, set[int]]] = {}
    for place, runs in history.items():
        of_flow = found.setdefault(place[at] or "", {})
        for run, touched in runs.items():
            of_flow[run] = of_flow.get(run, set()) | touched
    return found


def _last_runs(touched: Mapping[str, Iterable[int]], until: Iterable[str]) -> dict[int, str]:
    """Return the last of some runs, which are in order, that touched each item."""
    found: dict[int, str] = {}
    for run in until:
        found.update(dict.fromkeys(touched.get(run, ()), run))
    return found


class _Items:
    """Number what calls touched, by the fields that name it."""

    def __init__(self, store: Store) -> None:
        ends = m.State.select(m.Flow.name, m.State.name).join(m.Flow, on=(m.Flow.id == m.State.flow))
        self._outcomes = frozenset(store.execute(ends.where(m.State.outcome.is_null(False))))
        self._numbers: dict[tuple[str, str], int] = {}
        self._names: list[tuple[str, str]] = []
        self._of = lru_cache(maxsize=4096)(self._read)
        from riff_store.facts import as_touched

        self._as_touched = as_touched

    def number(self, item: Item) -> int:
        """Return the number of an item."""
        return self._number((FIELD_OF_KIND[item[0]], item[1]))

    def _number(self, name: tuple[str, str]) -> int:
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self._names)
            self._names.append(name)
        return found

    def name_of(self, number: int) -> tuple[str, str]:
        """Return the field that names it and the name."""
        return self._names[number]

    def listed(self, declared: Collection[Item], flow: str, seen: Iterable[tuple[str, str]]) -> Iterator[Item]:
        """Yield the items of a flow: those that are declared, of other kinds those that were seen, guards of both."""
        kinds = {kind for kind, _ in declared} - {"guard"}
        kind_of = {field: kind for kind, field in FIELD_OF_KIND.items() if kind != "terminal"}
        yield from declared
        for field, name in seen:
            kind: CoverageKind = "terminal" if field == "visited" and (flow, name) in self._outcomes else kind_of[field]
            if kind not in kinds and (kind, name) not in declared:
                yield kind, name

    def by_run(self, cells: Iterable[tuple[str, str]]) -> dict[str, set[int]]:
        """Return what the calls of each run touched."""
        found: dict[str, set[int]] = {}
        for run, text in cells:
            found.setdefault(run, set()).update(self._of(text))
        return found

    def counted(self, cells: _Cells[CallSums]) -> dict[int, tuple[int, int, int]]:
        """Return how many calls touched each item, were served and failed."""
        # Of most calls that touched the same there are as many: each of their items is counted once for them all.
        alike: dict[tuple[int, int, int], Counter[int]] = {}
        for (_, text), sums in cells.items():
            alike.setdefault((sums.n, sums.success, sums.failed), Counter()).update(self._of(text))
        found: dict[int, tuple[int, int, int]] = {}
        for (n, served, failed), times in alike.items():
            for number, count in times.items():
                a, b, c = found.get(number, (0, 0, 0))
                found[number] = a + count * n, b + count * served, c + count * failed
        return found

    def _read(self, text: str) -> Sequence[int]:
        if not text:
            return ()
        touched, numbers = self._as_touched(text), self._numbers
        names = [(field, name) for field in _FIELDS for name in touched.of_field(field)]
        return [number if (number := numbers.get(name)) is not None else self._number(name) for name in names]


_KINDS = tuple(FIELD_OF_KIND)
_FIELDS = tuple(dict.fromkeys(FIELD_OF_KIND.values()))


def _declared(store: Store) -> dict[str, frozenset[Item]]:
    """Return what the files of each flow declare."""
    from riff_store.facts import DescribedFlow, DescribedState

    end = m.State.alias()
    of_flow = m.FlowContract.select(m.Flow.name, m.FlowContract.body).join(
        m.Flow, on=(m.Flow.id == m.FlowContract.flow)
    )
    states = (
        m.DescribedState.select(m.Flow.name, m.State.name, m.State.outcome)
        .join(m.State, on=(m.State.id == m.DescribedState.state))
        .join(m.Flow, on=(m.Flow.id == m.State.flow))
    )
    edges = (
        m.DescribedEdge.select(m.Flow.name, m.State.name, end.name)
        .join(m.State, on=(m.State.id == m.DescribedEdge.from_state))
        .join(end, on=(end.id == m.DescribedEdge.to_state))
        .join(m.Flow, on=(m.Flow.id == m.State.flow))
    )
    flows: dict[str, DescribedFlow] = {}
    found: dict[str, set[Item]] = {}
    for flow, body in store.execute(of_flow):
        found.setdefault(flow, set()).update(DescribedFlow(flow, None, [], [], body).items())
    for flow, name, outcome in store.execute(states):
        flows.setdefault(flow, DescribedFlow(flow, None, [], [])).states.append(DescribedState(name, "", outcome))
    for flow, start, to in store.execute(edges):
        flows[flow].edges.append((start, to))
    for flow, described in flows.items():
        found.setdefault(flow, set()).update(described.items())
    return {flow: frozenset(items) for flow, items in found.items()}
