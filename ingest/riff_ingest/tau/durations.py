"""Tell durations that were measured from those that every call of a file has alike, which stand for none."""

from __future__ import annotations

from collections.abc import Iterator

from riff_ingest.conversation import Conversation
from riff_ingest.tau.calls import has_ticks
from riff_ingest.tau.records import Simulation
from riff_store.facts import JudgedScore, Skipped

Item = Conversation | JudgedScore | Skipped

_NOT_MEASURED = 60.0
"""The duration in seconds of every call of a file in which none was measured."""
_ENOUGH = 64
"""The calls of just that duration after which that is taken for granted."""


class Durations:
    """Hold calls back until one of them tells whether the durations of their file were measured."""

    def __init__(self) -> None:
        self._held: list[Item] = []
        self._waiting = 0
        self._measured: bool | None = None

    def take(self, items: list[Item], measured: bool | None) -> Iterator[Item]:
        """Yield what a simulation became, or what is held back; `measured` tells of its duration, where it has one."""
        self._held += items
        if self._measured is None:
            self._waiting += measured is not None
            if measured:
                self._measured = True
            elif self._waiting == _ENOUGH:
                self._measured = False
            else:
                return
        yield from self.rest()

    def rest(self) -> Iterator[Item]:
        """Yield what is held back."""
        held, self._held = self._held, []
        yield from held if self._measured else map(_without_duration, held)


def is_measured(simulation: Simulation) -> bool:
    """Tell whether the duration of a simulation cannot be one that stands for none."""
    return has_ticks(simulation) or simulation.duration not in (None, 0.0, _NOT_MEASURED)


def _without_duration(item: Item) -> Item:
    if isinstance(item, Conversation) and item.duration_s == _NOT_MEASURED:
        item.duration_s = None
    return item
