"""Go to another location: its tables are loaded on another thread, and errors of that are handled.

Keys that come right after the one that leads there wait for it. Once it takes longer than one waits without wondering,
those that come then are about the location that is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.errors import StoreBusy
from riff_tui.errors import FilterError, UsageError, describe
from riff_tui.tui.data.loader import LoadedView, ResultCache, load, load_again, load_list
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import START, CacheKey, Location, noun

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

    from riff_tui.table import Table
    from riff_tui.tui.data.store_watcher import StoreWatcher
    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.field import Prompt


# Longer than most queries take, shorter than one waits without wondering.
PATIENCE_S = 0.25
_LOOKS_EVERY_S = 0.05


class Navigator:
    """Bring a screen from location to location; one that is cached is shown without a query."""

    def __init__(
        self, host: Host, prompt: Prompt, watcher: StoreWatcher | None, answer_keys: Callable[[], None]
    ) -> None:
        self._host = host
        self._cache = ResultCache()
        self._watcher = watcher
        self._worker: Worker[Any] | None = None
        self._outdated: CacheKey | None = None
        self._answer_keys = answer_keys
        self._coming: Worker[Any] | None = None
        self._is_patient = False
        self._has_failed = False
        self.load_errors = LoadErrors(host, prompt)

    def go(self, history: History, *, again: bool, other: bool) -> None:
        """Go to another location, from the cache unless it is to be loaded `again`; `other` data empty the cache."""
        self.load_errors.cancel_retry()
        session = self._host.session
        history = history.ordered(session.state.sorts)
        if again:
            self.forget(None if other else history)
        cached = self._cache.recall(history.here)
        if cached is not None:
            self._cancel()
            if self._watcher is not None and self._cache.is_stale(history.here):
                self._watcher.mark_stale()
            self._host.show(history, cached)
            if history.here.cache_key == self._outdated:
                self._worker = self._host.run(partial(self._renew, history, cached), "visit", exclusive=True)
        else:
            self._worker = self._host.run(partial(self._load, history, hurry=not again), "visit", exclusive=True)
            self._coming, self._is_patient, self._has_failed = self._worker, True, False

    def forget(self, history: History | None) -> None:
        """Empty the cache, but for the list that a conversation came from: n and p go through it."""
        self._cache.forget(history.stack[-2] if history and history.here.kind == "conversation" else None)

    def outdate(self, history: History) -> None:
        """Empty the cache after a note was written; the list that a conversation came from is read when one returns."""
        self.forget(history)
        self._outdated = history.stack[-2].cache_key if history.here.kind == "conversation" else None

    @property
    def is_loading(self) -> bool:
        """Return whether another location is being loaded, or going to be."""
        return (self._worker is not None and not self._worker.is_finished) or self.load_errors.is_waiting

    @property
    def is_coming(self) -> bool:
        """Return whether another location is on its way."""
        return self._coming is not None and not self._coming.is_finished

    @property
    def is_arriving(self) -> bool:
        """Return whether it has been on its way for so short a time that keys are meant for it."""
        return self._is_patient and self.is_coming

    def take_failure(self) -> bool:
        """Return whether a location could not be loaded, and forget it."""
        has_failed, self._has_failed = self._has_failed, False
        return has_failed

    def give_up(self) -> None:
        """Give up loading another location."""
        self.load_errors.cancel_retry()
        self._cancel()
        self._host.say("stopped; this is where you were")

    def keep(self, history: History, loaded: LoadedView) -> None:
        """Keep what was loaded for the location that is shown."""
        self._cache.keep(history.stack, loaded)

    def cached(self, location: Location) -> Table | None:
        """Return the rows of a location, where they are cached."""
        found = self._cache.recall(location)
        return found.main if found else None

    def list_above(self) -> Table | None:
        """Return the rows of the list that the location shown was opened from."""
        stack = self._host.history.stack
        return self.cached(stack[-2]) if len(stack) > 1 else None

    def position(self) -> tuple[int, int] | None:
        """Return which of how many rows a conversation is in the list that it was opened from."""
        table, stack = self.list_above(), self._host.history.stack
        if table is None or not len(table.rows):
            return None
        return stack[-2].index + 1, len(table.rows)

    def _cancel(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            self._worker = self._coming = None
            self._answer_keys()

    async def _load(self, history: History, *, hurry: bool) -> None:
        host = self._host
        show_view, was_typing = host.show_view, host.is_typing
        patience = host.set_timer(PATIENCE_S, partial(self._ask_for_patience, history.here))
        try:
            loaded = await host.worker.ask(lambda: load(show_view, history.here, hurry=hurry))
            history = await self._with_list(history)
            while host.is_typing and not was_typing:
                # What is typed meanwhile is about the place that is shown, and the keys of another one would take it.
                await asyncio.sleep(_LOOKS_EVERY_S)
        except Exception as error:  # whatever stops a query is said and stops nothing else
            self._has_failed = True
            self.load_errors.handle(error, history)
        else:
            host.show(history, loaded)
        finally:
            patience.stop()
            host.call_later(host.resume_loading)
            host.call_later(self._answer_keys)

    def _ask_for_patience(self, location: Location) -> None:
        self._is_patient = False
        # The timer may have rung just before one stayed where one was.
        if self.is_loading:
            way_out = " · Esc stops it" if self._host.loaded is not None else ""
            self._host.say(f"reading {noun(location.view)} …{way_out}")

    async def _renew(self, history: History, before: LoadedView) -> None:
        """Load a location again that is shown from the cache, and move nothing."""
        host, location = self._host, history.here
        try:
            loaded = await host.worker.ask(lambda: load_again(host.show_view, location, before))
        except Exception as error:  # said; what was loaded before stays
            host.fail(error)
            return
        self._outdated = None
        if host.location.cache_key == location.cache_key:
            host.renew(loaded, changed=False)

    async def _with_list(self, history: History) -> History:
        """Load the list that a conversation lies in as well, for one can begin at a conversation."""
        stack = history.stack
        if history.here.kind != "conversation" or self._cache.recall(stack[-2]) is not None:
            return history
        show_view = self._host.show_view
        found = await self._host.worker.ask(lambda: load_list(show_view, stack))
        if found is None:
            return history
        self._cache.keep((*stack[:-2], found[0]), found[1])
        return history.amend((*stack[:-2], found[0], stack[-1]))


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
