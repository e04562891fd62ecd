"""Handle the errors of loading a location: load it again, in another order, begin elsewhere, or say what is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.errors import StoreBusy
from riff_tui.errors import UsageError, describe
from riff_tui.filters import FilterError
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import START, Location, noun

if TYPE_CHECKING:
    from textual.timer import Timer

    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.prompt import Prompt

_AGAIN_AFTER_S = 1.0


class LoadErrors:
    """Handle the errors that queries for a screen end with."""

    def __init__(self, host: Host, prompt: Prompt) -> None:
        self._host = host
        self._prompt = prompt
        self._retry: Timer | None = None

    @property
    def is_waiting(self) -> bool:
        """Return whether a location is going to be loaded again."""
        return self._retry is not None

    def cancel_retry(self) -> None:
        """Load nothing again."""
        if self._retry is not None:
            self._retry.stop()
            self._retry = None

    def handle(self, error: Exception, history: History) -> None:
        """Handle that a location could not be loaded; the keys go on working where one is."""
        host, location = self._host, history.here
        if isinstance(error, FilterError) and self.point_at(error, location):
            return
        if isinstance(error, StoreBusy):
            host.say("another process is writing the store; waiting until it is done, Esc gives up", "warn")
            self._retry = host.set_timer(_AGAIN_AFTER_S, lambda: host.visit(history))
        elif location.sort and isinstance(error, UsageError) and str(error).startswith("--sort"):
            # The order comes from another location or an earlier session, and its column is not here any more.
            host.session.sort(location.view, None)
            host.notice = f"{noun(location.view)} cannot be sorted by {location.sort.removeprefix('-')} here"
            self._visit(history.alter(replace(location, sort="")))
        elif host.loaded is None and history.stack != START:
            host.last_error = error
            host.notice = f"the view to open at cannot be shown: {describe(error)[1]}"
            self._visit(History((START,)))
        else:
            host.fail(error)

    def point_at(self, error: FilterError, location: Location) -> bool:
        """Show in the prompt where a filter is wrong; return whether it is open and the error is in what was typed."""
        position = error.position - (location.typed_from if location.filter else 0)
        if not self._prompt.is_open or position < 0:
            return False
        self._prompt.complain(FilterError(error.message, position))
        return True

    def _visit(self, history: History) -> None:
        # Not from within the query that failed, for going elsewhere ends that.
        self._host.call_later(self._host.visit, history)
