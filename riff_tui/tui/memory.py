"""What was read lately, so that going up and back asks nobody."""

from __future__ import annotations

from collections import OrderedDict

from riff_tui.tui.places import Place, Stack
from riff_tui.tui.reading import Reading

MOST = 12


class Memory:
    """The readings of the places visited last; those above the present one are never forgotten."""

    def __init__(self) -> None:
        self._readings: OrderedDict[tuple[str, str, str | None], Reading] = OrderedDict()

    def recall(self, place: Place) -> Reading | None:
        """What was read for a place that asks the same."""
        return self._readings.get(place.question)

    def keep(self, stack: Stack, reading: Reading) -> None:
        """Remember what was read for the place on top of a stack."""
        self._readings[stack[-1].question] = reading
        for place in stack:
            if place.question in self._readings:
                self._readings.move_to_end(place.question)
        while len(self._readings) > max(MOST, len(stack)):
            self._readings.popitem(last=False)

    def forget(self, but: Place | None = None) -> None:
        """Forget everything, or everything but one place."""
        kept = self.recall(but) if but is not None else None
        self._readings.clear()
        if but is not None and kept is not None:
            self._readings[but.question] = kept
