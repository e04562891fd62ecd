"""Find the run or agent that a side of a comparison means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from riff_store import schema as m
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.filters.dimensions import DIMENSIONS, Grouping, names_of, run_order, run_starts
from riff_store.filters.predicates import Predicate, Term, both
from riff_store.interaction import EVENTS
from riff_store.metrics import OF_CALLS, POOLED, Direction, Metric, plugins
from riff_store.queries.conversations import Call, calls_of
from riff_store.queries.flows import selected_judges
from riff_store.queries.sums import call_counts
from riff_store.statistics import pairing
from riff_store.statistics.significance import SIGNIFICANT

if TYPE_CHECKING:
    from riff_store.arrays.reading import CallReader
    from riff_store.statistics import Flags, Floats, Keys
    from riff_store.statistics.pairing import Places

    MeasuredRow: TypeAlias = tuple["ComparedAspect", str | None, tuple[Floats, Floats]]
    """A kind of row, its judge, and the values of both sides; nan is not measured."""


LISTED = 3
_EMPTY = "the store has no calls; riff-tui ingest PATH... fills it"
_TAKE_OUT = "take something out of it"
_LATELY = {"latest": 1, "previous": 2}


@dataclass(frozen=True, slots=True)
class Side:
    """Describe a run or an agent: `n` of its calls are compared, `excluded` are errored, `led` names agents or runs.

    `led` has a run's agents, and an agent's runs; `called` what played the callers, if that is known.
    """

    kind: Literal["run", "agent"]
    name: str
    n: int = 0
    excluded: int = 0
    led: Sequence[str] = ()
    called: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Count pairs by which of their calls failed; `p` is McNemar's, exact, of those that came out differently."""

    only_a: int
    only_b: int
    both: int
    neither: int
    p: float

    @property
    def pairs(self) -> int:
        """Return the number of all pairs."""
        return self.only_a + self.only_b + self.both + self.neither

    @property
    def solved(self) -> Solved:
        """Return what either side solved of all pairs."""
        n, change = self.pairs, self.only_a - self.only_b
        return Solved(
            self.neither + self.only_b, self.neither + self.only_a, n, n, change / n if n else 0.0, self.p, self
        )


@dataclass(frozen=True, slots=True)
class Solved:
    """Count the calls that either side solved, of so many, over all flows together.

    `change` is by how much more often B did, flow by flow, and `p` that of a difference; of calls in `pairs` there are
    those counts.
    """

    a: int
    b: int
    n_a: int
    n_b: int
    change: float
    p: float
    pairs: PairCounts | None = None

    @property
    def more(self) -> Literal["A", "B"] | None:
        """Return the side that surely solves more, `None` if that may be chance."""
        if self.p > SIGNIFICANT or not self.change:
            return None
        return "B" if self.change > 0 else "A"


class SideError(UsageError):
    """Refuse a side that is not there, represents several, or cannot be compared with the other."""


class NoCallLeft(SideError):
    """Refuse a side of which a filter leaves no call."""


def sides(store: Store, a: str, b: str, within: Predicate | None = None) -> tuple[Side, Side]:
    """Find both sides by name: run ids or the beginning of one, `latest`, `previous`, or `agent:NAME`.

    `run:ID` means a run. `latest` and `previous` are the runs that began last, with a call `within` a filter, and none
    if several began then. Raises `SideError`, with the names that are near.
    """
    first, second = side(store, a, within), side(store, b, within)
    if first.kind != second.kind:
        raise SideError(f"{a} is one {first.kind} and {b} one {second.kind}: compare two runs or two agents")
    if first.name == second.name:
        raise SideError(f"both sides are the {first.kind} {first.name}; a comparison takes two")
    return first, second


def side(store: Store, text: str, within: Predicate | None = None) -> Side:
    """Find one side by name; raises `SideError`."""
    kind, colon, name = text.partition(":")
    if colon and kind == "agent":
        return Side("agent", _named("agent", name, _agents(store)))
    order = run_order(store)
    latest_first = sorted(order, key=order.__getitem__, reverse=True)
    if colon and kind == "run" and text not in order:
        return Side("run", _named("run", name, latest_first))
    if text in _LATELY and text not in order:
        return Side("run", _lately(store, text, within))
    return Side("run", _named("run", text, latest_first, _LATELY))


def calls_of_side(chosen: Side, calls: Predicate | None) -> Predicate | None:
    """Narrow a filter to the calls of a side."""
    return both(Term(chosen.kind, "=", chosen.name), calls)


def _agents(store: Store) -> list[str]:
    cell = m.CALLS.rollup
    query = m.Agent.select(m.Agent.name).distinct().join(cell, on=(cell.agent == m.Agent.id))
    return sorted(name for (name,) in store.execute(query))


def _lately(store: Store, word: str, within: Predicate | None) -> str:
    order, started = run_order(store), run_starts(store)
    here = list(order)
    if within is not None:
        left = {run for (run,), counts in call_counts(store, within, Grouping(("run",))).items() if any(counts)}
        here = [name for name in order if name in left]
    timed = [name for name in here if started[name] is not None] or here
    if not timed:
        if order:
            raise NoCallLeft(f"there is no {word} run: the filter leaves no call of any run", _TAKE_OUT)
        raise SideError(f"there is no {word} run: {_EMPTY}")
    if len(timed) < _LATELY[word]:
        where = "the store has" if within is None or len(order) == 1 else "the filter leaves calls of"
        more = "ingest another one with riff-tui ingest PATH..." if len(order) == 1 else "use a filter that keeps more"
        raise SideError(f"there is no {word} run: {where} one run alone, {timed[0]}; {more}")
    found = timed[-_LATELY[word]]
    same = [name for name in timed if started[name] == started[found]]
    if len(same) > 1:
        when = "have no time" if started[found] is None else "began at the same time"
        raise SideError(f"which is the {word} run is not known: {_listed(same)} {when}; name the one that is meant")
    return found


def _named(kind: str, text: str, known: Sequence[str], words: Iterable[str] = ()) -> str:
    """Return the name that a text is, or is the beginning of; `words` are what could have been meant beside names."""
    if text in known:
        return text
    begun = [name for name in known if text and name.startswith(text)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise SideError(f"several {kind}s begin with {text}: {_listed(begun)}")
    if not known:
        raise SideError(f"there is no {kind} {text}: {_EMPTY}")
    near = get_close_matches(text, [*words, *known], n=LISTED)
    there = f"the only one is {known[0]}" if len(known) == 1 else f"there are {_listed(known)}"
    meant = f"did you mean {_listed(near)}?" if near else there
    raise SideError(f"there is no {kind} {text or '(without a name)'}; {meant}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join([*names[:LISTED], *([f"{more} more"] if more > 0 else [])])


_COLUMNS = ("errored", "flow", "agent", "run", "caller", "scenario", "persona", "trial")


def side_reader(store: Store) -> CallReader:
    """Return what reads the calls of both sides, within one snapshot of the store."""
    from riff_store.arrays.reading import CallReader

    kept = (metric.of_call for metric in OF_CALLS.values())
    return CallReader(store, (*_COLUMNS, *dict.fromkeys(column for column in kept if column)))


class SideCalls:
    """Keep the calls of one side that count, as columns, and by flow the number of errored ones."""

    def __init__(self, store: Store, reader: CallReader, side: Side, calls: Predicate | None) -> None:
        of_side = calls_of_side(side, calls)
        self._store = store
        self._columns = reader.read(of_side)
        counts = call_counts(store, of_side, Grouping(("flow",)))
        self.errored = {flow: excluded for (flow,), (_, excluded) in counts.items() if flow is not None and excluded}
        self.side = replace(
            side,
            n=self._columns.n,
            excluded=sum(self.errored.values()),
            led=self._names("agent" if side.kind == "run" else "run"),
            called=self._names("caller"),
        )

    @property
    def keys(self) -> Keys:
        """Return the keys of the calls."""
        return self._columns.keys("id")

    def flows(self) -> Keys:
        """Return the flow of each call."""
        return self._columns.keys("flow")

    def by_flow(self) -> dict[int, Keys]:
        """Return the places of the calls of each flow."""
        return pairing.by_key(self.flows())

    def also_in(self, other: SideCalls) -> Flags:
        """Return which calls are among the others."""
        return pairing.among(self.keys, other.keys)

    def kept(self, column: str) -> Floats:
        """Return what the store keeps with each call under this name; nan if it is not known."""
        return self._columns.values(column)

    def judged(self) -> list[tuple[int, int]]:
        """Return the (aspect, judge) that may have values, computed ones included."""
        return self._columns.judged()

    def values(self, aspect: int, judge: int) -> Floats:
        """Return the values that a judge gave an aspect; nan if there is none."""
        return self._columns.scores(aspect, judge)

    def interactions(self) -> Mapping[str, Floats]:
        """Return how the sides of each call shared the line, by the name of the sum; nan if that is not known."""
        from riff_store.arrays.reading import read_interactions

        return read_interactions(self._store, self.keys)

    def latencies(self) -> Sequence[Sequence[float]]:
        """Return the latencies in seconds of the agent's turns in each call, as far as transcripts are kept."""
        from riff_store.queries.latencies import latencies_by_call

        return latencies_by_call(self._store, self.keys.tolist())

    def tasks(self, runs: Keys | None) -> pairing.Tasks:
        """Return the tasks of the calls, which are of one agent, or in one of these runs where these are given."""
        columns = self._columns
        within = columns.keys("agent") if runs is None else pairing.within(columns.keys("run"), runs)
        flow, scenario, trial, persona = (columns.keys(name) for name in ("flow", "scenario", "trial", "persona"))
        return pairing.Tasks(flow, scenario, trial, within, persona)

    def runs(self) -> Keys:
        """Return the run of each call."""
        return self._columns.keys("run")

    def _names(self, dimension: str) -> tuple[str, ...]:
        known = names_of(self._store, DIMENSIONS[dimension])
        return tuple(
            sorted(name for key in pairing.distinct(self._columns.keys(dimension)) if (name := known.get(key)))
        )


def paired(a: SideCalls, b: SideCalls) -> Places:
    """Pair calls of each flow with the same scenario or persona and trial, of the same agent (or in the same run).

    A call takes part where its scenario or persona is known, and where no other call of its side is of the same task.
    The persona distinguishes tasks only if a side has several calls of one scenario and trial, or none is known: a
    benchmark may draw the voice of a scenario again in each run. Two agents are paired within the runs in which both
    led calls.
    """
    runs = pairing.shared(a.runs(), b.runs()) if a.side.kind == "agent" else None
    return pairing.paired(a.tasks(runs), b.tasks(runs))


# Read the values of both sides, a kind of row at a time.
SUCCESS = 10.0


class ComparedAspect(NamedTuple):
    """Describe a kind of row; a rate counts the calls whose `source` is at its `top`, of which `scale` is the whole."""

    name: str
    source: str
    better: Direction | None
    rate: bool = False
    scale: float = 1.0
    top: float = SUCCESS


def _kind(metric: Metric) -> ComparedAspect:
    rate = bool(metric.rate_of)
    source = metric.of_call or metric.rate_of or metric.key
    top = OF_CALLS[source].bounds[1] if source in OF_CALLS else metric.bounds[1]
    return ComparedAspect(metric.key, source, metric.better, rate, metric.bounds[1] if rate else 1.0, top)


KINDS = {
    metric.key: _kind(metric)
    for metric in sorted(OF_CALLS.values(), key=lambda metric: not metric.rate_of)
    if metric.kind == "call" or metric.of_call
}


def measured(
    store: Store, first: SideCalls, second: SideCalls, judges: dict[int, str], also: Collection[str]
) -> Iterator[MeasuredRow]:
    """Yield each kind of row with the values of both sides, an aspect at a time."""
    for kind in KINDS.values():
        column = OF_CALLS[kind.name].of_call
        if column:
            yield kind, None, (first.kept(column), second.kept(column))
    judged = sorted({*first.judged(), *second.judged()})
    for key, name in sorted(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)), key=lambda row: str(row[1])):
        for aspect, judge in judged:
            kinds = list(_kinds(name, also) if judge == m.COMPUTED_JUDGE else [ComparedAspect(name, name, "higher")])
            if aspect == key and kinds and (judge == m.COMPUTED_JUDGE or judge in judges):
                values = first.values(aspect, judge), second.values(aspect, judge)
                for kind in kinds:
                    yield kind, judges[judge] if judge != m.COMPUTED_JUDGE else None, values


def _kinds(aspect: str, also: Collection[str]) -> Iterator[ComparedAspect]:
    """Yield the kinds of rows that a computed aspect makes."""
    own = [kind for kind in KINDS.values() if kind.source == aspect and not OF_CALLS[kind.name].of_call]
    added = None if own else plugins().metrics.get(aspect)
    for kind in own if added is None else [_kind(added)]:
        metric = added or OF_CALLS[kind.name]
        if metric.compared or metric.key in also:
            yield kind


ComparedRow: TypeAlias = tuple[str, str | None]
"""An aspect and its judge, `None` for what is computed."""


class ComparedCalls(NamedTuple):
    """Describe the measured calls of B in one flow: those that are compared with a partner, and those `alone`."""

    compared: Sequence[Call]
    alone: Sequence[Call]


def compared_calls(
    store: Store, sides: tuple[Side, Side], calls: Predicate | None, wanted: Collection[tuple[str, ComparedRow]]
) -> Mapping[tuple[str, ComparedRow], ComparedCalls]:
    """Return the calls of B behind rows of a comparison whose calls are compared in pairs, by flow and row."""
    aspects = {row for _, row in wanted}
    with store.snapshot():
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides)
        pairs = paired(first, second)
        also = {aspect for aspect, _ in aspects}
        found: dict[ComparedRow, tuple[Flags, Flags]] = {
            (kind.name, judge): (pairing.known(on_a), pairing.known(on_b))
            for kind, judge, (on_a, on_b) in measured(store, first, second, selected_judges(store, None), also)
            if (kind.name, judge) in aspects
        }
        if also & POOLED.keys():
            known = [pairing.known(side.interactions()[EVENTS[0]]) for side in (first, second)]
            found |= {(aspect, None): (known[0], known[1]) for aspect in also & POOLED.keys()}
        return {
            (flow, row): each
            for row, known in found.items()
            for flow, each in _by_flow(store, second, pairs, known).items()
            if (flow, row) in wanted
        }


def _by_flow(store: Store, side: SideCalls, pairs: Places, known: tuple[Flags, Flags]) -> dict[str, ComparedCalls]:
    with_partner = set(side.keys[pairs.second[known[0][pairs.first]]].tolist())
    found: dict[str, tuple[list[Call], list[Call]]] = {}
    for call in calls_of(store, side.keys[known[1]].tolist()):
        found.setdefault(call.flow, ([], []))[call.id not in with_partner].append(call)
    return {flow: ComparedCalls(*both) for flow, both in found.items()}
