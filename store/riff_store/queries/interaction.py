"""Sum how the sides of voice calls shared the line, from the rollup or from the calls, equal wherever it comes from."""

from __future__ import annotations

from typing import Any, NamedTuple

from riff_store import models as m
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names
from riff_store.filters.predicates import Predicate
from riff_store.interaction import EVENTS, SUMS, TIMED, Interaction
from riff_store.measure import UNIT
from riff_store.queries.sums import rows_of_sums


class InteractionSums(NamedTuple):
    """Hold the sums of the calls that count, and of all; `None` where no such call has a record of both sides."""

    counted: Interaction | None = None
    every: Interaction | None = None


def interaction_sums(store: Store, calls: Predicate | None, group: Grouping) -> dict[Names, InteractionSums]:
    """Return the sums by the names of the group."""
    if not has_interaction(store):
        return {}
    rows = rows_of_sums(store, m.INTERACTION, m.INTERACTION.sums, calls, group, m.INTERACTION.keys)
    names = group.namer(store)
    found: dict[Names, dict[bool, list[int]]] = {}
    for row in rows:
        *keys, errored = row[: -len(SUMS)]
        cell = found.setdefault(names(tuple(keys)), {})
        before = cell.get(bool(errored), [0] * len(SUMS))
        cell[bool(errored)] = [a + b for a, b in zip(before, row[-len(SUMS) :], strict=True)]
    return {cell: _summed(sums) for cell, sums in found.items()}


def has_interaction(store: Store) -> bool:
    """Return whether any call has a record of how its sides shared the line."""
    return bool(store.execute(m.InteractionRollup.select(m.InteractionRollup.calls).limit(1)))


def call_interaction(store: Store, key: int) -> Interaction | None:
    """Return the sums of one call by its key, `None` where there is no record of who spoke when."""
    row = m.CallInteraction
    query = row.select(*(getattr(row, name) for name in EVENTS)).where(row.conversation == key)
    return next((Interaction(1, *found) for found in store.execute(query)), None)


def _summed(cell: dict[bool, list[int]]) -> InteractionSums:
    every = [sum(column) for column in zip(*cell.values(), strict=True)]
    return InteractionSums(_interaction(cell[False]) if False in cell else None, _interaction(every))


def _interaction(sums: list[int]) -> Interaction:
    by_name: dict[str, Any] = dict(zip(SUMS, sums, strict=True))
    return Interaction(**by_name | {name: by_name[name] / UNIT for name in TIMED})
