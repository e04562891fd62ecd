"""Name calls as people do, give examples of those behind a count, and read long lists of them piece by piece."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.conditions import one_of
from riff_store.filters.dimensions import Grouping, Names, run_order
from riff_store.filters.predicates import Predicate, Term, all_of, conjuncts
from riff_store.filters.sql import Scope, needs
from riff_store.queries.sums import call_counts, reads_columns
from riff_store.write.names import CallNames

if TYPE_CHECKING:
    from riff_store.arrays.failures import FailureGroups


_CHUNK = 500
_BY_ID = ("conversation", "=")


def told_by(store: Store, keys: Sequence[int]) -> dict[int, Mapping[str, str]]:
    """Return of the calls whose id others of their run have: flow, agent and trial, as many of them as it takes."""
    call = m.Conversation
    query = (
        call.select(call.id, m.Flow.name, m.Agent.name, call.trial, *differing())
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
    )
    found: dict[int, Mapping[str, str]] = {}
    for start in range(0, len(keys), _CHUNK):
        for key, *row in store.execute(query.where(call.id.in_(keys[start : start + _CHUNK]))):
            if any(row[3:]):
                found[key] = names_needed(row[:3], row[3:])
    return found


_TELLING = ("flow", "agent", "trial")


def differing() -> list[Any]:
    """Return whether others of the id of a call, in its run, have another flow; agent; or trial alone."""
    call, other = m.Conversation, m.Conversation.alias()
    alike = [(other.run == call.run), (other.name == call.name)]
    found = []
    for name in _TELLING:
        there = other.select(pw.SQL("1")).where(*alike, getattr(other, name) != getattr(call, name))
        found.append(pw.fn.EXISTS(there))
        alike.append(getattr(other, name) == getattr(call, name))
    return found


def names_needed(names: Sequence[Any], differs: Sequence[bool]) -> dict[str, str]:
    """Return as many of flow, agent and trial of a call as distinguish it."""
    found = zip(_TELLING, names, differs, strict=True)
    return {each: str(name) for each, name, is_needed in found if is_needed}


def names_of_calls(store: Store, keys: Sequence[int]) -> list[CallNames]:
    """Return run, flow, agent, id and trial of calls by their keys; of those that are gone nothing."""
    call = m.Conversation
    query = (
        call.select(m.Run.name, m.Flow.name, m.Agent.name, call.name, call.trial)
        .join(m.Run, on=(m.Run.id == call.run))
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
    )
    found: list[CallNames] = []
    for start in range(0, len(keys), _CHUNK):
        rows = store.execute(query.where(call.id.in_(keys[start : start + _CHUNK])))
        found += map(CallNames._make, rows)
    return found


@dataclass(frozen=True, slots=True)
class Example:
    """Name the shortest call of several; `told_by` is as in `Call`."""

    run: str
    conversation: str
    told_by: Mapping[str, str] = field(default_factory=dict)


def turns_aspect(store: Store) -> int:
    """Return the key of the aspect that shows how many turns a call has, 0 if no call was scored for it."""
    rows = store.execute(m.Aspect.select(m.Aspect.id).where(m.Aspect.name == "turn_count"))
    return int(rows[0][0]) if rows else 0


def examples_of(store: Store, keys: Sequence[int]) -> dict[int, Example]:
    """Return how people name calls, by their keys."""
    call, named = m.Conversation, told_by(store, keys)
    query = call.select(call.id, m.Run.name, call.name).join(m.Run, on=(m.Run.id == call.run))
    found: dict[int, Example] = {}
    for start in range(0, len(keys), _CHUNK):
        for key, run, name in store.execute(query.where(call.id.in_(keys[start : start + _CHUNK]))):
            found[key] = Example(run, name, named.get(key, {}))
    return found


def first_calls(store: Store, calls: Predicate | None, group: Grouping) -> dict[Names, int]:
    """Return the key of the first call of each cell that failed, if none did of its first; errored ones are none."""
    if reads_columns(store, calls):
        from riff_store.arrays.sums import first_call_rows

        rows: Iterable[tuple[Any, ...]] = first_call_rows(store, calls, group.keys)
    else:
        call = m.Conversation
        by, failed = group.columns(call, {}), pw.Case(None, [(call.success == False, 0)], 1)  # noqa: E712
        query = call.select(*by, failed, pw.fn.MIN(call.id)).where(~call.errored, Scope(store).condition(calls))
        rows = store.execute(query.group_by(*by, failed))
    names, found = group.namer(store), dict[Names, tuple[int, int]]()
    for *keys, is_good, key in rows:
        cell = names(tuple(keys))
        found[cell] = min(found.get(cell, (2, 0)), (is_good, key))
    return {cell: key for cell, (_, key) in found.items()}


def first_runs(store: Store, calls: Predicate | None, group: Grouping) -> dict[Names, int]:
    """Return the place in time of the first run that has a call of each cell; errored ones are none."""
    order = run_order(store)
    places = {key: order[name] for key, name in store.execute(m.Run.select(m.Run.id, m.Run.name)) if name in order}
    if reads_columns(store, calls):
        from riff_store.arrays.sums import first_run_rows

        rows: Iterable[tuple[Any, ...]] = first_run_rows(store, calls, group.keys, places)
    else:
        by = group.columns(m.Conversation, {})
        query = m.Conversation.select(*by, m.Conversation.run).distinct().where(~m.Conversation.errored)
        found_in = store.execute(query.where(Scope(store).condition(calls)))
        rows = ((*keys, places[run]) for *keys, run in found_in)
    names, found = group.namer(store), dict[Names, int]()
    for *keys, place in rows:
        cell = names(tuple(keys))
        found[cell] = min(found.get(cell, place), place)
    return found


class ReadCall(NamedTuple):
    """Describe a call that people read; `turns` are those of the agent."""

    id: int
    run: int
    flow: str
    agent: str
    name: str
    errored: bool
    turns: float | None
    duration_s: float | None


class Examples:
    """Find the shortest of several calls: the fewest agent turns, then seconds, then the earliest run and the id."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: dict[int, str] = dict(store.execute(m.Run.select(m.Run.id, m.Run.name)))
        self._order = run_order(store)

    def shortest(self, groups: Mapping[str, Iterable[ReadCall]]) -> dict[str, Example]:
        """Return the shortest call of each group."""
        found = {key: min(calls, key=self._length) for key, calls in groups.items()}
        named = told_by(self._store, [call.id for call in found.values()])
        return {key: Example(self._runs[call.run], call.name, named.get(call.id, {})) for key, call in found.items()}

    def shortest_of(self, groups: FailureGroups) -> list[Example]:
        """Return the shortest call of each group."""
        candidates = groups.shortest({key: self._place(run)[0] for key, run in self._runs.items()})
        call, names = m.Conversation, dict[int, tuple[str, int]]()
        keys = [key for some in candidates for key in some]
        for start in range(0, len(keys), _CHUNK):
            query = call.select(call.id, call.name, call.run).where(call.id.in_(keys[start : start + _CHUNK]))
            names |= {key: (name, run) for key, name, run in self._store.execute(query)}
        found = [min(some, key=lambda key: (names[key][0], key)) for some in candidates]
        named = told_by(self._store, found)
        return [Example(self._runs[names[key][1]], names[key][0], named.get(key, {})) for key in found]

    def run_spans(self, groups: FailureGroups) -> list[tuple[str, str]]:
        """Return the names of the first and the last run of each group, in time."""
        ordered = sorted(self._runs, key=lambda run: self._place(self._runs[run]))
        ends = groups.ends("run", {run: place for place, run in enumerate(ordered)})
        return [(self._runs[ordered[first]], self._runs[ordered[last]]) for first, last in ends]

    def _place(self, run: str) -> tuple[int, str]:
        return self._order.get(run, len(self._order)), run

    def _length(self, call: ReadCall) -> tuple[float, float, int, str, str]:
        turns, lasted = (float("inf") if value is None else value for value in (call.turns, call.duration_s))
        return turns, lasted, *self._place(self._runs[call.run]), call.name


PIECE = 2048
"""So many keys of a long stretch are read at a time."""
AT_ONCE = 20_000
"""A run of more calls than these is read flow by flow, and each of them in pieces."""
_KEPT = 8


class _Stretch(NamedTuple):
    """Describe a run that is read at once or a flow of a longer one, and how many of its calls are listed.

    It is how many could be listed as long as they are not counted.
    """

    run: int
    flow: int | None
    n: int


class CallList(Sequence[int]):
    """Keep the keys of the calls of a filter by run start, run, flow, id, agent and trial; they are read when touched.

    Sums show how many calls a flow has in a run. If they cannot, all calls are counted once that has to be known;
    `is_counted` shows whether it is.
    """

    def __init__(self, store: Store, calls: Predicate | None = None) -> None:
        self._store = store
        self._calls = calls
        self._condition = Scope(store).condition(calls)
        self._pieces: OrderedDict[tuple[int, int], list[int]] = OrderedDict()
        self._ends: dict[tuple[int, int], tuple[Any, ...]] = {}
        self.is_counted = needs(calls) != "base"
        self._stretches: list[_Stretch] = []
        self._named: list[int] | None = None
        if any(isinstance(part, Term) and (part.field, part.operator) == _BY_ID for part in conjuncts(calls)):
            self._lay_out_named()
        else:
            # Sums narrow where to look for the rest.
            self._lay_out(all_of([part for part in conjuncts(calls) if needs(part) != "base"]))

    @property
    def at_most(self) -> int:
        """Return how many calls there could be, as many as there are once they are counted."""
        return self._starts[-1]

    def settle(self) -> None:
        """Count the calls, for which those may have to be looked at that the sums do not distinguish."""
        if not self.is_counted:
            self._pieces.clear()
            self._ends.clear()
            self._lay_out(self._calls)
            self.is_counted = True

    def first(self, limit: int, among: int | None = None) -> list[int]:
        """Return the first keys, also before they are counted; with `among` only those of about so many first calls."""
        found: list[int] = [] if self._named is None else self._named[:limit]
        start, wanted = 0, limit
        while start < len(self._stretches) and len(found) < limit and (among is None or self._starts[start] < among):
            end = self._together(start, self._starts[start] + min(wanted, AT_ONCE), among)
            if end == start + 1:
                found += self._read(start, 0, limit - len(found))
            else:
                found += self._read_runs([stretch.run for stretch in self._stretches[start:end]])
            # Where few calls match, a statement a run would be as many statements as there are runs.
            start, wanted = end, 2 * max(wanted, self._starts[end] - self._starts[start])
        return found[:limit]

    def _together(self, start: int, most: int, among: int | None) -> int:
        """Return where the runs end that are read at once, those of so many calls."""
        if among is not None:
            most = min(most, among)
        end = start + 1
        while (
            end < len(self._stretches)
            and self._stretches[start].flow is None is self._stretches[end].flow
            and self._starts[end] < most
        ):
            end += 1
        return end

    def place_of(self, key: int) -> int | None:
        """Return where a call is, `None` if it is not listed."""
        if self._named is not None:
            return self._named.index(key) if key in self._named else None
        self.settle()
        call = m.Conversation
        query = call.select(call.run, call.flow, call.name, call.agent, call.trial)
        for run, flow, *order in self._store.execute(query.where((call.id == key) & self._condition)):
            for number, stretch in enumerate(self._stretches):
                if stretch.run == run and stretch.flow is None:
                    piece = self._piece(number, 0)
                    return self._starts[number] + piece.index(key) if key in piece else None
                if (stretch.run, stretch.flow) == (run, flow):
                    before = self._within(stretch) & (pw.Tuple(call.name, call.agent, call.trial) < pw.Tuple(*order))
                    counted = self._store.execute(call.select(pw.fn.COUNT(call.id)).where(before))
                    return self._starts[number] + int(counted[0][0])
        return None

    def __len__(self) -> int:
        self.settle()
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return list(self._keys(start, stop)) if step == 1 else [self[place] for place in range(start, stop, step)]
        place = index + len(self) if index < 0 else index
        for key in self._keys(place, place + 1):
            return key
        raise IndexError(index)

    def _keys(self, start: int, stop: int) -> Iterator[int]:
        """Yield the keys from one place to another; fewer where calls are gone since they were counted."""
        yield from (self._named or ())[start:stop]
        number = bisect_right(self._starts, start) - 1
        while start < stop and number < len(self._stretches):
            begin, end = self._starts[number], min(stop, self._starts[number + 1])
            size = self._size(number)
            while start < end:
                piece, offset = divmod(start - begin, size)
                following = min(end, begin + (piece + 1) * size)
                yield from self._piece(number, piece)[offset : offset + following - start]
                start = following
            number += 1

    def _lay_out_named(self) -> None:
        """Read the calls that go by an id at once: they are few, and in few of the runs."""
        call = m.Conversation
        query = call.select(call.id, m.Run.name, m.Flow.name).order_by(call.name, call.agent, call.trial)
        query = query.join(m.Run, on=(m.Run.id == call.run)).join(m.Flow, on=(m.Flow.id == call.flow))
        rows = self._store.execute(query.where(self._condition))
        order = run_order(self._store) if len(rows) > 1 else {}
        self._named = [row[0] for row in sorted(rows, key=lambda row: (order.get(row[1], 0), row[2]))]
        self._starts, self.is_counted = [0, len(self._named)], True

    def _lay_out(self, calls: Predicate | None) -> None:
        """Lay out the stretches of calls that sums, or the calls themselves, show."""
        counts = {cell: sum(n) for cell, n in call_counts(self._store, calls, Grouping(("run", "flow"))).items()}
        runs = dict(self._store.execute(m.Run.select(m.Run.name, m.Run.id)))
        flows = dict(self._store.execute(m.Flow.select(m.Flow.name, m.Flow.id)))
        order = run_order(self._store)
        self._rank = {flows[flow]: place for place, flow in enumerate(sorted(flows))}
        self._stretches.clear()
        for run, cells in groupby(
            sorted(counts, key=lambda cell: (order[str(cell[0])], cell[1])), lambda cell: cell[0]
        ):
            some = [(flows[flow], counts[run, flow]) for _, flow in cells]
            n = sum(n for _, n in some)
            at_once = [_Stretch(runs[run], None, n)]
            self._stretches += at_once if n <= AT_ONCE else [_Stretch(runs[run], flow, n) for flow, n in some]
        self._starts = [0, *accumulate(stretch.n for stretch in self._stretches)]

    def _size(self, number: int) -> int:
        return PIECE if self._stretches[number].flow is not None else AT_ONCE

    def _piece(self, number: int, piece: int) -> list[int]:
        place = number, piece
        keys = self._pieces.get(place)
        if keys is None:
            keys = self._pieces[place] = self._read(number, piece, self._size(number))
            if len(self._pieces) > _KEPT:
                self._pieces.popitem(last=False)
        else:
            self._pieces.move_to_end(place)
        return keys

    def _read(self, number: int, piece: int, limit: int) -> list[int]:
        """Return so many keys from the beginning of a piece on; it is found where the one before it ended."""
        call, stretch = m.Conversation, self._stretches[number]
        order = (call.name, call.agent, call.trial)
        query = call.select(call.id, call.flow, *order).where(self._within(stretch)).order_by(*order)
        if stretch.flow is None:
            rows = self._store.execute(query)
            return [row[0] for row in sorted(rows, key=lambda row: self._rank[row[1]])][:limit]
        before = self._ends.get((number, piece - 1))
        if before is not None:
            query = query.where(pw.Tuple(*order) > pw.Tuple(*before))
        elif piece:
            query = query.offset(piece * PIECE)
        rows = self._store.execute(query.limit(limit))
        if len(rows) == PIECE:
            self._ends[number, piece] = tuple(rows[-1][2:])
        return [row[0] for row in rows]

    def _read_runs(self, runs: Sequence[int]) -> list[int]:
        """Return the keys of some runs, which are in order."""
        call, place = m.Conversation, {run: number for number, run in enumerate(runs)}
        query = call.select(call.id, call.run, call.flow).order_by(call.name, call.agent, call.trial)
        rows = self._store.execute(query.where(one_of(call.run, runs), self._condition))
        return [row[0] for row in sorted(rows, key=lambda row: (place[row[1]], self._rank[row[2]]))]

    def _within(self, stretch: _Stretch) -> Any:
        call = m.Conversation
        place = (
            call.run == stretch.run if stretch.flow is None else (call.run == stretch.run) & (call.flow == stretch.flow)
        )
        return place & self._condition
