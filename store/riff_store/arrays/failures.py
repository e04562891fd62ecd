"""Read where calls first went wrong as columns, and count them by what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from riff_store.arrays.blocks import Block, Flags, Keys, blocks
from riff_store.arrays.encoding import Floats, Places
from riff_store.arrays.grouping import count, counted, numbered
from riff_store.arrays.masks import masks_of
from riff_store.chunks import FAILURES, KINDS_OF_FAILURE
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.schema import COMPUTED_JUDGE
from riff_store.vocabulary import CLASSES_OF_FAILURE, DIVIDED_BY_DETAIL, WHO

if TYPE_CHECKING:
    from riff_store.filters.notes import Mark

_ENDS, _PLACED = ("from_state", "to_state"), ("state", "position")
_CLASSES = sorted(set(CLASSES_OF_FAILURE.values()))
OF_CLASS = " of class"
_OF_GROUPS = ("class", f"detail{OF_CLASS}", f"error{OF_CLASS}")
MARKED = 0
"""The place among the kinds of failure of what a person marked."""


class CallsInScope:
    """Keep which calls match and are not errored, block by block; ask within the same snapshot of the store."""

    def __init__(self, store: Store, calls: Predicate | None) -> None:
        masks = masks_of(store)
        self._chosen = [(block, masks.counting(calls, block)) for block in blocks(store)]

    def failed(self, turns: int, marks: Mapping[int, Mark]) -> FailedCalls:
        """Return those that were not served; `turns` is the aspect of how long they are, what people marked counts."""
        return FailedCalls(self._chosen, turns, marks)

    def by_flow(self, name: str) -> dict[tuple[int, ...], int]:
        """Count the calls by flow and another key, 0 if they have none."""
        found: dict[tuple[int, ...], int] = {}
        for (block, calls), flows in zip(self._calls, self._flows, strict=True):
            count(found, flows, block.keys(name, calls))
        return found

    @cached_property
    def _calls(self) -> list[tuple[Block, Places]]:
        return [(block, np.flatnonzero(chosen)) for block, chosen in self._chosen]

    @cached_property
    def _flows(self) -> list[Keys]:
        return [block.keys("flow", calls) for block, calls in self._calls]

    def steps_taken(self) -> dict[tuple[int, ...], int]:
        """Count the calls by flow and step from one state to another, from 0 those that began in a state."""
        found: dict[tuple[int, ...], int] = {}
        for block, chosen in self._chosen:
            block.read_ahead(_ENDS, "transition")
            block.read_ahead(_PLACED, "state")
            flows, calls = block.keys("flow"), block.calls_of("transition")
            rows = chosen[calls]
            ends = (block.keys_of("transition", name)[rows] for name in _ENDS)
            count(found, flows[calls[rows]], *ends)
            calls = block.calls_of("state")
            rows = chosen[calls] & (block.figures_of("state", "position") == 0)
            begun = block.keys_of("state", "state")[rows]
            count(found, flows[calls[rows]], np.zeros_like(begun), begun)
        return found

    def places_of_states(self) -> dict[int, float | None]:
        """Return at which place failed calls first come to each state on average, `None` if no place is known."""
        rows, known, sums = (np.zeros(0, np.int64) for _ in range(3))
        for block, chosen in self._chosen:
            block.read_ahead(_PLACED, "state")
            has_failed = np.zeros(block.n, np.bool_)
            has_failed[block.calls_of("failure")] = True
            mine = (chosen & has_failed)[block.calls_of("state")]
            state, place = block.keys_of("state", "state")[mine], block.figures_of("state", "position")[mine]
            told = ~np.isnan(place)
            rows = _summed(rows, np.bincount(state))
            known = _summed(known, np.bincount(state[told]))
            sums = _summed(sums, np.bincount(state[told], place[told]).astype(np.int64))
        known, sums = _summed(known, np.zeros_like(rows)), _summed(sums, np.zeros_like(rows))
        return {key: int(sums[key]) / int(known[key]) if known[key] else None for key in np.flatnonzero(rows).tolist()}


class FailedCalls:
    """Keep the calls that were not served, each column read when it is asked for.

    `kind` is a place in `KINDS_OF_FAILURE`. Of what a person marked `code` is a place in `codes`; `ending` is the stop
    reason of all others.
    """

    def __init__(self, chosen: Sequence[tuple[Block, Flags]], turns: int, marks: Mapping[int, Mark]) -> None:
        self._turns = turns
        for block, _ in chosen:
            block.read_ahead(tuple(FAILURES), "failure")
        self._parts: list[tuple[Block, Places, Places]] = []
        """Of each block the rows of failures of calls that were chosen, and the places of these calls."""
        for block, flags in chosen:
            calls = block.calls_of("failure")
            rows = np.flatnonzero(flags[calls])
            self._parts.append((block, rows, calls[rows]))
        self._known: dict[str, Keys] = {}
        ids = self.column("id")
        places = np.flatnonzero(np.isin(ids, list(marks))).tolist() if marks else []
        self._marked = {place: marks[int(ids[place])] for place in places}
        self.codes: list[str | None] = [None, *dict.fromkeys(mark.code for mark in self._marked.values() if mark.code)]

    def __len__(self) -> int:
        return self.column("id").size

    def column(self, name: str) -> Keys:
        """Return the keys of the calls; 0 if there is none."""
        if name not in self._known:
            self._known[name] = self._with_marks(name)
        return self._known[name]

    def lengths(self) -> list[Floats]:
        """Return how many turns and seconds the calls took, infinity if that is not measured."""
        turns = [block.scores(self._turns, COMPUTED_JUDGE, calls) for block, _, calls in self._parts if self._turns]
        seconds = [block.figures("duration_s", calls) for block, _, calls in self._parts]
        return [_length(turns) if turns else np.full(len(self), np.inf), _length(seconds)]

    def _with_marks(self, name: str) -> Keys:
        """Read a column, with what people marked in place of what events show."""
        if name == "code":
            column = np.zeros(len(self), np.int64)
        elif name in _OF_GROUPS:
            return self._of_group(name)
        elif name in FAILURES:
            column = _joined([block.keys_of("failure", name, rows) for block, rows, _ in self._parts])
        else:
            of_calls = "stop_reason" if name == "ending" else name
            column = _joined([block.keys(of_calls, calls) for block, _, calls in self._parts])
        for place, mark in self._marked.items() if name != "id" else ():
            told = {
                "kind": MARKED, "who": WHO.index("agent"), "detail": 0, "error": 0, "ending": 0,
                "last_ok": mark.last_ok or 0, "state": mark.first_failed, "code": self.codes.index(mark.code),
            }  # fmt: skip
            column[place] = told.get(name, column[place])
        return column

    def _of_group(self, name: str) -> Keys:
        """Return the class of each kind of failure, or the detail or error where calls are grouped by it."""
        kinds = self.column("kind")
        if name == "class":
            return np.array([_CLASSES.index(CLASSES_OF_FAILURE[kind]) for kind in KINDS_OF_FAILURE])[kinds]
        # What distinguishes one call from the next, such as how it stopped or what it left open, does not divide
        # a group.
        grouped = np.array([CLASSES_OF_FAILURE[kind] in DIVIDED_BY_DETAIL for kind in KINDS_OF_FAILURE])
        return np.where(grouped[kinds], self.column(name.removesuffix(OF_CLASS)), 0)

    def groups(self, *names: str) -> FailureGroups:
        """Return the groups of calls that share these keys."""
        return FailureGroups(self, names)


class FailureGroups:
    """Keep groups of failed calls: their keys, how many calls there are, and what distinguishes them."""

    def __init__(self, failed: FailedCalls, names: Sequence[str]) -> None:
        self._failed = failed
        first, self._group = numbered([failed.column(name) for name in names])
        self.keys: list[dict[str, int]] = [
            dict(zip(names, row, strict=True))
            for row in zip(*(failed.column(name)[first].tolist() for name in names), strict=True)
        ]
        self.sizes: list[int] = np.bincount(self._group, minlength=first.size).tolist()

    def counted(self, name: str, names: Mapping[int, str | None]) -> list[dict[str | None, int]]:
        """Count in each group the calls by the names of another key, the most calls first, then by name.

        A key without a name, as 0 is where a call has none, comes last as `None`.
        """
        ordered: list[str | None] = [*sorted({it for it in names.values() if it is not None}), None]
        place = {it: index for index, it in enumerate(ordered)}
        places = _lookup({key: place[it] for key, it in names.items()}, place[None])
        (groups, named), sizes = counted([self._group, places[self._failed.column(name)]])
        order = np.lexsort((named, -sizes, groups))
        found: list[dict[str | None, int]] = [{} for _ in self.keys]
        for group, at, n in zip(*(column[order].tolist() for column in (groups, named, sizes)), strict=True):
            found[group][ordered[at]] = n
        return found

    def kinds(self) -> list[dict[str, int]]:
        """Count in each group the calls by kind of failure, the most calls first, then by name."""
        counts = self.counted("kind", dict(enumerate(KINDS_OF_FAILURE)))
        return [{kind: n for kind, n in of_group.items() if kind is not None} for of_group in counts]

    def ends(self, name: str, places: Mapping[int, int]) -> list[tuple[int, int]]:
        """Return of each group the first and the last place that keys of its calls have."""
        of_calls = _lookup(places)[self._failed.column(name)]
        first, last = np.full(len(self.keys), len(places)), np.zeros(len(self.keys), np.int64)
        np.minimum.at(first, self._group, of_calls)
        np.maximum.at(last, self._group, of_calls)
        return list(zip(first.tolist(), last.tolist(), strict=True))

    def shortest(self, places: Mapping[int, int]) -> list[list[int]]:
        """Return of each group the keys of the shortest calls, of the earliest run by its place among these.

        Shortest are those of the fewest turns, then seconds; what is not measured is longer than anything.
        """
        failed, rows = self._failed, np.arange(len(self._failed))
        for ranks in (*failed.lengths(), _lookup(places)[failed.column("run")]):
            groups, least = self._group[rows], np.full(len(self.keys), np.inf)
            np.minimum.at(least, groups, ranks[rows])
            rows = rows[ranks[rows] == least[groups]]
        found: list[list[int]] = [[] for _ in self.keys]
        for group, key in zip(self._group[rows].tolist(), failed.column("id")[rows].tolist(), strict=True):
            found[group].append(key)
        return found


class FailureEnds:
    """Match where failed calls of some sides first went wrong: each of `ends` by its last good and first failed state.

    Of each side the keys of all its calls are given in order, and those that failed.
    """

    def __init__(self, sides: Sequence[tuple[Keys, FailedCalls]]) -> None:
        columns = [_joined([calls.column(name) for _, calls in sides]) for name in ("last_ok", "state")]
        first, numbers = numbered(columns)
        self.ends: list[tuple[int, int]] = list(zip(*(column[first].tolist() for column in columns), strict=True))
        self._of_calls: list[Keys] = []
        for keys, calls in sides:
            found = np.full(keys.size, -1)
            found[np.searchsorted(keys, calls.column("id"))] = numbers[: len(calls)]
            numbers = numbers[len(calls) :]
            self._of_calls.append(found)

    def counted(self, side: int, places: Keys) -> list[int]:
        """Count some calls of a side, given by their places, at each of the ends."""
        return self._counts(self._of_calls[side][places])

    def shared(self, places: Sequence[Keys]) -> list[int]:
        """Count the pairs of calls of two sides that have the same end."""
        one, other = (found[at] for found, at in zip(self._of_calls, places, strict=True))
        return self._counts(one[one == other])

    def _counts(self, numbers: Keys) -> list[int]:
        found: list[int] = np.bincount(numbers[numbers >= 0], minlength=len(self.ends)).tolist()
        return found


def _joined(parts: Sequence[Keys]) -> Keys:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _length(parts: Sequence[Floats]) -> Floats:
    values = np.concatenate(parts) if parts else np.zeros(0)
    values[np.isnan(values)] = np.inf
    return values


def _lookup(places: Mapping[int, int], otherwise: int = 0) -> Keys:
    """Return an array that has the place of each key at that key."""
    found = np.full(max(places, default=0) + 1, otherwise)
    found[list(places)] = list(places.values())
    return found


def _summed(counts: Keys, more: Keys) -> Keys:
    if counts.size < more.size:
        counts, more = more, counts
    counts[: more.size] += more
    return counts
