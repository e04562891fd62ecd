"""Find which calls of a side a comparison in pairs leaves out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.database import Store
from riff_store.interaction import EVENTS
from riff_store.metrics import FIGURES
from riff_store.predicates import Predicate
from riff_store.queries.comparison import measured
from riff_store.queries.conversations import Call, calls_of
from riff_store.queries.flows import selected_judges
from riff_store.queries.side_calls import SideCalls, paired, side_reader
from riff_store.queries.sides import Side
from riff_store.statistics import samples

if TYPE_CHECKING:
    from riff_store.statistics.pairing import Places
    from riff_store.statistics.samples import Flags

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
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides)
        pairs = paired(first, second)
        also = {aspect for aspect, _ in aspects}
        found: dict[ComparedRow, tuple[Flags, Flags]] = {
            (kind.name, judge): (samples.known(on_a), samples.known(on_b))
            for kind, judge, (on_a, on_b) in measured(store, first, second, selected_judges(store, None), also)
            if (kind.name, judge) in aspects
        }
        if also & FIGURES.keys():
            known = [samples.known(side.interactions()[EVENTS[0]]) for side in (first, second)]
            found |= {(aspect, None): (known[0], known[1]) for aspect in also & FIGURES.keys()}
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
