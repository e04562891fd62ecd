"""What becomes of a place that cannot be read: asked again, shown otherwise, left for the first screen, or said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from riff_store.errors import StoreBusy
from riff_tui.errors import UsageError, describe
from riff_tui.filters import FilterError
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import START, Location, noun

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

_AGAIN_AFTER_S = 1.0


class LoadErrors:
    """Meets the errors that a screen's questions end with."""

    def __init__(self, screen: ExplorerScreen) -> None:
        self._screen = screen
        self._again: Timer | None = None

    @property
    def waits(self) -> bool:
        """Whether a place is going to be asked for again."""
        return self._again is not None

    def give_up(self) -> None:
        """Ask for nothing again."""
        if self._again is not None:
            self._again.stop()
            self._again = None

    def meet(self, error: Exception, history: History) -> None:
        """A place could not be read; the keys go on working where one is."""
        screen, place = self._screen, history.here
        if isinstance(error, FilterError) and self._pointed_at(error, place):
            return
        if isinstance(error, StoreBusy):
            screen.say("another process is writing the store; it is asked until it answers, Esc gives up", "warn")
            self._again = screen.set_timer(_AGAIN_AFTER_S, lambda: screen.visit(history))
        elif place.sort is not None and isinstance(error, UsageError) and str(error).startswith("--sort"):
            # The order comes from another place or an earlier session, and its column is not here any more.
            screen.explorer.session.sort(place.view, None)
            screen.notice = f"{noun(place.view)} cannot be sorted by {place.sort.removeprefix('-')} here"
            self._visit(history)
        elif screen.loaded is None and history.stack != START:
            screen.last_error = error
            screen.notice = f"the place to begin at cannot be shown: {describe(error)[1]}"
            self._visit(History((START,)))
        else:
            screen.fail(error)

    def _visit(self, history: History) -> None:
        # Not from within the question that failed, for going elsewhere ends that.
        self._screen.call_later(self._screen.visit, history)

    def _pointed_at(self, error: FilterError, place: Location) -> bool:
        """Show where in the prompt it is wrong, if it is open and the place lies in it."""
        position = error.position - (place.typed_from if place.filter else 0)
        if not self._screen.prompt.is_open or position < 0:
            return False
        self._screen.prompt.complain(FilterError(error.message, position))
        return True
