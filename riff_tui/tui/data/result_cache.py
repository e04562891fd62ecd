"""What was read lately, so that going up and back asks nobody."""

from __future__ import annotations

from collections import OrderedDict

from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.navigation.location import Location, Question, Stack

MOST = 12


class ResultCache:
    """The readings of the places visited last; those above the present one are never forgotten."""

    def __init__(self) -> None:
        self._readings: OrderedDict[Question, LoadedView] = OrderedDict()
        self._stale: Question | None = None

    def recall(self, place: Location) -> LoadedView | None:
        """What was read for a place that asks the same."""
        return self._readings.get(place.question)

    def keep(self, stack: Stack, reading: LoadedView) -> None:
        """Remember what was read for the place on top of a stack."""
        if self._readings.get(stack[-1].question) is not reading:
            self._stale = None if self._stale == stack[-1].question else self._stale
        self._readings[stack[-1].question] = reading
        for place in stack:
            if place.question in self._readings:
                self._readings.move_to_end(place.question)
        while len(self._readings) > max(MOST, len(stack)):
            self._readings.popitem(last=False)

    def is_stale(self, place: Location) -> bool:
        """Whether what is remembered of a place outlived the rest."""
        return place.question == self._stale

    def forget(self, but: Location | None = None) -> None:
        """Forget everything, or everything but one place."""
        kept = self.recall(but) if but is not None else None
        self._stale = but.question if but is not None else None
        self._readings.clear()
        if but is not None and kept is not None:
            self._readings[but.question] = kept
