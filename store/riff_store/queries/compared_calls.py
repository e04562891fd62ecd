"""Find which calls of a side a comparison in pairs leaves out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from riff_store.answers.calls import Call
from riff_store.answers.comparison import Side
from riff_store.database import Store
from riff_store.interaction_metrics import FIGURES
from riff_store.predicates import Predicate
from riff_store.queries.comparison import measured
from riff_store.queries.conversations import calls_of
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.flows import selected_judges
from riff_store.queries.sides import SideCalls, paired

ComparedRow: TypeAlias = tuple[str, str | None]
"""An aspect and its judge, `None` for what is computed."""


class ComparedCalls(NamedTuple):
    """Hold the measured calls of B in one flow: those that are compared with a partner, and those `alone`."""

    compared: Sequence[Call]
    alone: Sequence[Call]


def compared_calls(
    store: Store, sides: tuple[Side, Side], calls: Predicate | None, wanted: Collection[tuple[str, ComparedRow]]
) -> Mapping[tuple[str, ComparedRow], ComparedCalls]:
    """Return the calls of B behind rows of a comparison whose calls are compared in pairs, by flow and row."""
    flows = {flow for flow, _ in wanted}
    with store.snapshot():
        first, second = (SideCalls(store, side, calls) for side in sides)
        partner_of = {other: one for pairs in paired(first, second).values() for one, other in pairs}
        names = names_of(store, DIMENSIONS["flow"])
        known = calls_of(store, [call.key for call in second.counted if names[call.flow] in flows])
        rows = _rows(store, first, second, {row for _, row in wanted})
    found: dict[tuple[str, ComparedRow], ComparedCalls] = {}
    for flow, row in wanted:
        on_a, on_b = rows.get(row, ((), ()))
        here = [call for call in known if call.flow == flow and call.id in on_b]
        has_partner = {call.id for call in here if partner_of.get(call.id) in on_a}
        found[flow, row] = ComparedCalls(
            [call for call in here if call.id in has_partner], [call for call in here if call.id not in has_partner]
        )
    return found


def _rows(
    store: Store, first: SideCalls, second: SideCalls, wanted: Collection[ComparedRow]
) -> dict[ComparedRow, tuple[Collection[int], Collection[int]]]:
    """Return the measured calls of both sides, by row."""
    aspects = {aspect for aspect, _ in wanted}
    found: dict[ComparedRow, tuple[Collection[int], Collection[int]]] = {
        (kind.name, judge): (on_a.keys(), on_b.keys())
        for kind, judge, on_a, on_b in measured(store, first, second, selected_judges(store, None), aspects)
        if (kind.name, judge) in wanted
    }
    if aspects & FIGURES.keys():
        heard = first.interactions().keys(), second.interactions().keys()
        found |= {(aspect, None): heard for aspect in aspects & FIGURES.keys()}
    return found
