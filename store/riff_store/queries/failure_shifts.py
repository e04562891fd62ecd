"""Compare two runs, or two agents, in where their calls first went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from riff_store import models as m
from riff_store.answers.failing import NONE_FOUND, START, FailureShift, FailureShifts
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.failing_calls import failing_calls
from riff_store.queries.side_calls import Pair, SideCalls, keys_of_pairs, side_reader
from riff_store.queries.sides import calls_of_side, sides
from riff_store.statistics import significance


class _Ends(NamedTuple):
    last_ok: int | None
    first_failed: int | None


def failure_shifts(store: Store, a: str, b: str, calls: Predicate | None = None) -> FailureShifts:
    """Return every cell of the flows that both sides called, with its test (docs/metrics.md, section 15).

    Calls of the same task are compared in pairs where these are half of the smaller side's calls or more. Raises
    `SideError`.
    """
    with store.snapshot():
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides(store, a, b))
        pairs = keys_of_pairs(first, second)
        calls_a, calls_b = first.keys_by_flow(), second.keys_by_flow()
        ends = {
            call.id: _Ends(call.last_ok, call.first_failed)
            for side in (first, second)
            for call in failing_calls(store, calls_of_side(side.side, calls))
        }
        flows, states = (
            names_of(store, DIMENSIONS["flow"]),
            dict(store.execute(m.State.select(m.State.id, m.State.name))),
        )
    cells = [
        cell
        for flow in sorted(calls_a.keys() & calls_b.keys())
        for cell in _cells(flows[flow] or "", calls_a[flow], calls_b[flow], pairs.get(flow, []), ends, states)
    ]
    adjusted = significance.benjamini_hochberg([cell.p for cell in cells])
    found = [replace(cell, p_adjusted=p) for cell, p in zip(cells, adjusted, strict=True)]
    return FailureShifts(first.side, second.side, sorted(found, key=_surest_first))


def _cells(
    flow: str,
    calls_a: Sequence[int],
    calls_b: Sequence[int],
    pairs: Sequence[Pair],
    ends: Mapping[int, _Ends],
    states: Mapping[int, str],
) -> Iterable[FailureShift]:
    on_pairs = bool(pairs) and 2 * len(pairs) >= min(len(calls_a), len(calls_b))
    if on_pairs:
        calls_a, calls_b = [one for one, _ in pairs], [other for _, other in pairs]
    for place in dict.fromkeys(ends[call] for call in (*calls_a, *calls_b) if call in ends):
        in_a, in_b = ([ends.get(call) == place for call in calls] for calls in (calls_a, calls_b))
        n_a, n_b = sum(in_a), sum(in_b)
        if on_pairs:
            both = sum(one and other for one, other in zip(in_a, in_b, strict=True))
            p = significance.mcnemar(n_a - both, n_b - both)
        else:
            p = significance.fisher(n_a, len(calls_a), n_b, len(calls_b))
        yield FailureShift(
            flow=flow,
            last_ok=START if place.last_ok is None else states[place.last_ok],
            first_failed=NONE_FOUND if place.first_failed is None else states[place.first_failed],
            n_a=n_a, calls_a=len(calls_a), n_b=n_b, calls_b=len(calls_b), pairs=len(pairs) if on_pairs else None,
            difference=n_b / len(calls_b) - n_a / len(calls_a),
            test="McNemar" if on_pairs else "Fisher", p=p, p_adjusted=p,
        )  # fmt: skip


def _surest_first(cell: FailureShift) -> tuple[float, float, str, str, str]:
    return cell.p_adjusted, -abs(cell.difference), cell.flow, cell.last_ok, cell.first_failed
