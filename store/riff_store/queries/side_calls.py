"""Read the calls of both sides of a comparison as columns, and pair those that are of the same task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.database import Store
from riff_store.filters.dimensions import DIMENSIONS, Grouping, names_of
from riff_store.filters.predicates import Predicate
from riff_store.metrics import OF_CALLS
from riff_store.queries.sides import Side, calls_of_side
from riff_store.queries.sums import call_counts
from riff_store.statistics import pairing

if TYPE_CHECKING:
    from riff_store.arrays.reading import CallReader
    from riff_store.statistics.pairing import Flags, Floats, Keys, Places

_COLUMNS = ("errored", "flow", "agent", "run", "caller", "scenario", "persona", "trial")


def side_reader(store: Store) -> CallReader:
    """Return what reads the calls of both sides, within one snapshot of the store."""
    from riff_store.arrays.reading import CallReader

    kept = (metric.of_call for metric in OF_CALLS.values())
    return CallReader(store, (*_COLUMNS, *dict.fromkeys(column for column in kept if column)))


class SideCalls:
    """Hold the calls of one side that count, as columns, and by flow the number of errored ones."""

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
        """Say which calls are among the others."""
        return pairing.among(self.keys, other.keys)

    def kept(self, column: str) -> Floats:
        """Return what the store keeps with each call under this name; nan where it is not known."""
        return self._columns.values(column)

    def judged(self) -> list[tuple[int, int]]:
        """Return the (aspect, judge) that may have values, computed ones included."""
        return self._columns.judged()

    def values(self, aspect: int, judge: int) -> Floats:
        """Return the values that a judge gave an aspect; nan where there is none."""
        return self._columns.scores(aspect, judge)

    def interactions(self) -> Mapping[str, Floats]:
        """Return how the sides of each call shared the line, by the name of the sum; nan where that is not known."""
        from riff_store.arrays.reading import read_interactions

        return read_interactions(self._store, self.keys)

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
    The persona tells tasks apart only where a side has several calls of one scenario and trial, or none is known: a
    benchmark may draw the voice of a scenario anew in each run. Two agents are paired within the runs in which both
    led calls.
    """
    runs = pairing.shared(a.runs(), b.runs()) if a.side.kind == "agent" else None
    return pairing.paired(a.tasks(runs), b.tasks(runs))
