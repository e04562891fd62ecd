"""Compare two runs, or two agents, in where their calls first went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from riff_store.database import Store
from riff_store.filters.dimensions import DIMENSIONS, names_of
from riff_store.filters.notes import marks
from riff_store.filters.predicates import Predicate
from riff_store.queries.examples import turns_aspect
from riff_store.queries.side_calls import SideCalls, paired, side_reader
from riff_store.queries.sides import calls_of_side, sides
from riff_store.statistics import pairing, significance
from riff_store.statistics.pairing import Places
from riff_store.vocabulary import NONE_FOUND, START

if TYPE_CHECKING:
    from riff_store.arrays.failures import FailureEnds
    from riff_store.queries.sides import Side


@dataclass(frozen=True, slots=True)
class FailureShift:
    """Compare two sides in one cell: `n_a` of `calls_a` calls of the flow first went wrong there, `n_b` of `calls_b`.

    With `pairs` the calls are those of so many pairs, and None means that all calls are compared as they are.
    `difference` is B's share less A's, `p_adjusted` is corrected over all cells.
    """

    flow: str
    last_ok: str
    first_failed: str
    n_a: int
    calls_a: int
    n_b: int
    calls_b: int
    pairs: int | None
    difference: float
    test: str
    p: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class FailureShifts:
    """Hold both sides and the cells of the flows that both called, the surest differences first."""

    a: Side
    b: Side
    cells: Sequence[FailureShift]


def failure_shifts(store: Store, a: str, b: str, calls: Predicate | None = None) -> FailureShifts:
    """Return every cell of the flows that both sides called, with its test (docs/metrics.md, section 15).

    Calls of the same task are compared in pairs where these are half of the smaller side's calls or more. Raises
    `SideError`.
    """
    from riff_store.arrays.failures import CallsInScope, FailureEnds

    with store.snapshot():
        reader = side_reader(store)
        both = [SideCalls(store, reader, side, calls) for side in sides(store, a, b)]
        turns, marked = turns_aspect(store), marks(store)
        failed = [CallsInScope(store, calls_of_side(side.side, calls)).failed(turns, marked) for side in both]
        ends = FailureEnds([(side.keys, calls) for side, calls in zip(both, failed, strict=True)])
        pairs = pairing.pairs_by_key(both[0].flows(), paired(*both))
        calls_a, calls_b = (side.by_flow() for side in both)
        flows, states = (names_of(store, DIMENSIONS[name]) for name in ("flow", "state"))
    cells = [
        cell
        for flow in sorted(calls_a.keys() & calls_b.keys())
        for cell in _cells(flows[flow] or "", Places(calls_a[flow], calls_b[flow]), pairs.get(flow), ends, states)
    ]
    adjusted = significance.benjamini_hochberg([cell.p for cell in cells])
    found = [replace(cell, p_adjusted=p) for cell, p in zip(cells, adjusted, strict=True)]
    return FailureShifts(both[0].side, both[1].side, sorted(found, key=_surest_first))


def _cells(
    flow: str, calls: Places, pairs: Places | None, ends: FailureEnds, states: Mapping[int, str | None]
) -> Iterator[FailureShift]:
    on_pairs = pairs is not None and 2 * len(pairs.first) >= min(len(calls.first), len(calls.second))
    if pairs is not None and on_pairs:
        calls = pairs
    all_a, all_b = len(calls.first), len(calls.second)
    in_a, in_b = ends.counted(0, calls.first), ends.counted(1, calls.second)
    shared = ends.shared(calls) if on_pairs else [0] * len(ends.ends)
    for (last_ok, first_failed), n_a, n_b, both in zip(ends.ends, in_a, in_b, shared, strict=True):
        if n_a or n_b:
            p = (
                significance.mcnemar(n_a - both, n_b - both)
                if on_pairs
                else significance.fisher(n_a, all_a, n_b, all_b)
            )
            yield FailureShift(
                flow=flow,
                last_ok=states[last_ok] or "" if last_ok else START,
                first_failed=states[first_failed] or "" if first_failed else NONE_FOUND,
                n_a=n_a, calls_a=all_a, n_b=n_b, calls_b=all_b, pairs=all_a if on_pairs else None,
                difference=n_b / all_b - n_a / all_a,
                test="McNemar" if on_pairs else "Fisher", p=p, p_adjusted=p,
            )  # fmt: skip


def _surest_first(cell: FailureShift) -> tuple[float, float, str, str, str]:
    return cell.p_adjusted, -abs(cell.difference), cell.flow, cell.last_ok, cell.first_failed
