"""Keep what was loaded lately, so that going up and back needs no query."""

from __future__ import annotations

from collections import OrderedDict

from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.navigation.location import CacheKey, Location, Stack

MAX_VIEWS = 12


class ResultCache:
    """Hold the views of the locations visited last; those above the present one are never dropped."""

    def __init__(self) -> None:
        self._views: OrderedDict[CacheKey, LoadedView] = OrderedDict()
        self._stale: CacheKey | None = None

    def recall(self, location: Location) -> LoadedView | None:
        """Return what was loaded for a location of the same query, if it is kept."""
        return self._views.get(location.cache_key)

    def keep(self, stack: Stack, loaded: LoadedView) -> None:
        """Keep what was loaded for the location on top of a stack."""
        key = stack[-1].cache_key
        if self._views.get(key) is not loaded and self._stale == key:
            self._stale = None
        self._views[key] = loaded
        for location in stack:
            if location.cache_key in self._views:
                self._views.move_to_end(location.cache_key)
        while len(self._views) > max(MAX_VIEWS, len(stack)):
            self._views.popitem(last=False)

    def is_stale(self, location: Location) -> bool:
        """Return whether what is kept of a location was loaded before the data changed."""
        return location.cache_key == self._stale

    def forget(self, but: Location | None = None) -> None:
        """Drop everything, or everything but one location, which becomes stale."""
        kept = self.recall(but) if but is not None else None
        self._stale = but.cache_key if but is not None else None
        self._views.clear()
        if but is not None and kept is not None:
            self._views[but.cache_key] = kept
