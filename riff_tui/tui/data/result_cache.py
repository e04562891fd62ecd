"""Keep what was loaded lately, so that going up and back needs no query."""

from __future__ import annotations

from collections import OrderedDict

from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.navigation.location import Location, Question, Stack

MAX_VIEWS = 12


class ResultCache:
    """Hold the views of the locations visited last; those above the present one are never dropped."""

    def __init__(self) -> None:
        self._views: OrderedDict[Question, LoadedView] = OrderedDict()
        self._stale: Question | None = None

    def recall(self, location: Location) -> LoadedView | None:
        """Return what was loaded for a location of the same query, if it is kept."""
        return self._views.get(location.question)

    def keep(self, stack: Stack, loaded: LoadedView) -> None:
        """Keep what was loaded for the location on top of a stack."""
        question = stack[-1].question
        if self._views.get(question) is not loaded and self._stale == question:
            self._stale = None
        self._views[question] = loaded
        for location in stack:
            if location.question in self._views:
                self._views.move_to_end(location.question)
        while len(self._views) > max(MAX_VIEWS, len(stack)):
            self._views.popitem(last=False)

    def is_stale(self, location: Location) -> bool:
        """Return whether what is kept of a location was loaded before the data changed."""
        return location.question == self._stale

    def forget(self, but: Location | None = None) -> None:
        """Drop everything, or everything but one location, which becomes stale."""
        kept = self.recall(but) if but is not None else None
        self._stale = but.question if but is not None else None
        self._views.clear()
        if but is not None and kept is not None:
            self._views[but.question] = kept
