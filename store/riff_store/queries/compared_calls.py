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
from riff_store.queries.flows import selected_judges
from riff_store.queries.sides import Pair, SideCalls, paired

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
    aspects = {row for _, row in wanted}
    with store.snapshot():
        first, second = (SideCalls(store, side, calls) for side in sides)
        pairs = [pair for of_flow in paired(first, second).values() for pair in of_flow]
        also = {aspect for aspect, _ in aspects}
        found: dict[ComparedRow, tuple[Collection[int], Collection[int]]] = {
            (kind.name, judge): (on_a.keys(), on_b.keys())
            for kind, judge, on_a, on_b in measured(store, first, second, selected_judges(store, None), also)
            if (kind.name, judge) in aspects
        }
        if also & FIGURES.keys():
            heard = first.interactions().keys(), second.interactions().keys()
            found |= {(aspect, None): heard for aspect in also & FIGURES.keys()}
        return {
            (flow, row): each
            for row, (on_a, on_b) in found.items()
            for flow, each in _by_flow(store, second, pairs, on_a, on_b).items()
            if (flow, row) in wanted
        }


def _by_flow(
    store: Store, side: SideCalls, pairs: Sequence[Pair], on_a: Collection[int], on_b: Collection[int]
) -> dict[str, ComparedCalls]:
    with_partner = {other for one, other in pairs if one in on_a and other in on_b}
    found: dict[str, tuple[list[Call], list[Call]]] = {}
    for call in calls_of(store, [each.key for each in side.counted if each.key in on_b]):
        found.setdefault(call.flow, ([], []))[call.id not in with_partner].append(call)
    return {flow: ComparedCalls(*both) for flow, both in found.items()}
