"""Load another location, what was left for later, the pages of long lists, and what comes before something opens.

Keys that come right after the one that leads to another location wait for it. Once it takes longer than one waits
without wondering, those that come then are about the location that is shown.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.errors import StoreBusy
from riff_tui.errors import FilterError, UsageError, describe
from riff_tui.table import Row, Table
from riff_tui.tui.data.lists import PAGE, PagedRows
from riff_tui.tui.data.loader import LoadedView, ResultCache, load, load_again, load_list
from riff_tui.tui.data.query_worker import Work
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import START, CacheKey, Location, noun

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

    from riff_tui.tui.data.backend import StoreWatcher
    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.bars import BottomLine
    from riff_tui.tui.widgets.field import Prompt
    from riff_tui.tui.widgets.header import Header


# Words that change more often than this cannot be read, but must be sent.
_MIN_INTERVAL_S = 0.25


class DeferredLoad:
    """Load the rest of what a screen shows step by step, and report how far it is."""

    def __init__(self, host: Host, header: Header, bottom: BottomLine) -> None:
        self._host = host
        self._header = header
        self._bottom = bottom
        self._worker: Worker[Any] | None = None
        self._loaded: LoadedView | None = None
        self._left: LoadedView | None = None
        self._begun: Table | None = None
        self._is_due = False
        self._step = ""
        self._said = ""
        self._said_at = 0.0

    def begin(self, loaded: LoadedView) -> None:
        """Load what a view left for later, if anything, and nothing else any more."""
        if loaded is self._loaded and self.is_loading:
            return  # rows that came on the way
        self.cancel()
        if loaded.deferred is not None:
            self._loaded = loaded
            self._said_at, self._begun = time.monotonic(), None
            self._worker = self._host.run(partial(self._load, loaded), "deferred")
            self._say_later()

    @property
    def is_loading(self) -> bool:
        """Return whether something is being loaded."""
        return self._worker is not None and not self._worker.is_finished

    def cancel(self) -> None:
        """Load no further."""
        self._left = None
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None
            self._step = ""
            self._say("")

    def suspend(self) -> None:
        """Leave the thread that queries to somebody who goes elsewhere."""
        if self.is_loading:
            self.cancel()
            self._left = self._loaded

    def resume(self) -> None:
        """Load what gave way after all, if its location is still the one that is shown."""
        left, self._left = self._left, None
        if left is not None and self._host.loaded is left:
            self.begin(left)

    def stop(self) -> None:
        """Load no further because the user wants that, and report how to load it after all."""
        how_far = self._step
        self.cancel()
        loaded = self._host.loaded
        if loaded is not None and loaded.neighbors is not None:
            missing = (
                "latencies are" if "blast" in loaded.neighbors.extras else "latencies and what is never reached are"
            )
            self._header.set_progress(f"{missing} not read: r reads them")
        counted = f", {how_far}" if any(map(str.isdigit, how_far)) else ""
        self._host.say(f"stopped{counted}; r reads it again")

    async def _load(self, loaded: LoadedView) -> None:
        assert loaded.deferred is not None
        try:
            table = await self._host.worker.follow(loaded.deferred(), self._progress)
        except Exception as error:  # said; what is on the screen stays
            self._host.fail(error)
        else:
            self._say("")
            if self._loaded is not None and self._host.loaded is self._loaded:
                self._host.renew(loaded.completed(table), changed=False)

    def _progress(self, step: str | Table) -> None:
        if not isinstance(step, str):
            self._begun = step
            return
        self._step = step
        if time.monotonic() - self._said_at >= _MIN_INTERVAL_S:
            self._say_step()
        elif not self._is_due:
            self._say_later()

    def _say_later(self) -> None:
        """Show it in a while, whether there is another step by then or not."""
        self._is_due = True
        self._host.set_timer(_MIN_INTERVAL_S, self._say_step)

    def _say_step(self) -> None:
        """Show how far it is, unless all is there by now."""
        self._is_due = False
        if self._step and self.is_loading:
            self._said_at = time.monotonic()
            self._show_begun()
            self._say(f"{self._step} · Esc stops it")
            loaded = self._host.loaded
            if loaded is not None and loaded.neighbors is not None and "blast" in loaded.neighbors.extras:
                self._header.set_progress(self._step)

    def _show_begun(self) -> None:
        """Show the rows that came so far, if their location is still shown."""
        begun, self._begun, before = self._begun, None, self._loaded
        if begun is not None and before is not None and self._host.loaded is before:
            self._loaded = before.completed(begun._replace(deferred=before.deferred))
            self._host.renew(self._loaded, changed=False)

    def _say(self, text: str) -> None:
        """Show something in the bottom line unless something else is there."""
        if self._bottom.said in ("", self._said):
            self._host.say(text)
        self._said = text


class Opening:
    """Run work that ends with something to type into or with another location; call `done` when it has ended."""

    def __init__(self, host: Host, bottom: BottomLine, navigator: Navigator, done: Callable[[], None]) -> None:
        self._host = host
        self._bottom = bottom
        self._navigator = navigator
        self._done = done
        self._worker: Worker[Any] | None = None
        self._number = 0
        self._tell: Callable[[str], None] = self._say
        self._said = ""
        self._has_failed = False
        self.is_for_text = False
        """Whether the work that was begun last ends with something to type into."""

    @property
    def is_loading(self) -> bool:
        """Return whether something is about to open."""
        return self._worker is not None and not self._worker.is_finished

    def begin(
        self, work: Work, reading: str, tell: Callable[[str], None] | None = None, *, is_for_text: bool = True
    ) -> None:
        """Begin the work; where it takes a while, `tell` shows what it is reading, without that in the bottom line."""
        self._tell, self.is_for_text, self._has_failed = tell or self._say, is_for_text, False
        self._number += 1
        self._worker = worker = self._host.run(partial(self._run, work, self._number), "opening", exclusive=True)
        self._host.set_timer(PATIENCE_S, partial(self._ask_for_patience, worker, reading))

    def stop(self) -> bool:
        """Open nothing after all; return whether something was about to open."""
        if self._worker is None or self._worker.is_finished:
            return False
        self._worker.cancel()
        self._worker = None
        self._number += 1
        self._tell("stopped")
        return True

    def take_failure(self) -> bool:
        """Return whether nothing opened in the end, and forget it."""
        has_failed, self._has_failed = self._has_failed, False
        return has_failed

    async def _run(self, work: Work, number: int) -> None:
        before = self._host.location.cache_key
        try:
            await work()
            if self._said and self._bottom.said == self._said:
                self._host.say("")
        finally:
            if number == self._number:
                is_elsewhere = self._host.location.cache_key != before
                self._has_failed = not (self._host.is_typing or self._navigator.is_coming or is_elsewhere)
                self._host.call_later(self._done)

    def _ask_for_patience(self, worker: Worker[Any], reading: str) -> None:
        if worker is self._worker and self.is_loading:
            self._tell(f"reading {reading} … · Esc stops it")

    def _say(self, text: str) -> None:
        self._said = text
        self._host.say(text)


class PageLoader:
    """Load the missing pages of long lists in the background, each once however often it is wanted."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._wanted: set[tuple[int, int]] = set()
        self._loading: set[Worker[Any]] = set()

    def load(self, rows: Sequence[Row], index: int, then: Callable[[], None]) -> None:
        """Load the page that a row is on, and call `then` when it has come."""
        page = index // PAGE
        if isinstance(rows, PagedRows) and (id(rows), page) not in self._wanted:
            self._wanted.add((id(rows), page))
            self._loading = {each for each in self._loading if not each.is_finished}
            self._loading.add(self._host.run(partial(self._load, rows, page, then), "pages"))

    def suspend(self) -> None:
        """Load no more of what is on its way; rows that are drawn without their page ask for it again."""
        for each in self._loading:
            each.cancel()
        self._loading.clear()

    async def _load(self, rows: PagedRows, page: int, then: Callable[[], None]) -> None:
        try:
            await self._host.worker.ask(lambda: rows.load(page))
        except Exception as error:  # said; the rows stay blank and are wanted again when they are drawn
            self._host.fail(error)
        else:
            then()
        finally:
            self._wanted.discard((id(rows), page))


# Longer than most queries take, shorter than one waits without wondering.
PATIENCE_S = 0.25
_LOOKS_EVERY_S = 0.05
_AGAIN_AFTER_S = 1.0


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
        self._prompt = prompt
        self._retry: Timer | None = None

    def go(self, history: History, *, again: bool, other: bool) -> None:
        """Go to another location, from the cache unless it is to be loaded `again`; `other` data empty the cache."""
        self._cancel_retry()
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
        return (self._worker is not None and not self._worker.is_finished) or self._retry is not None

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
        self._cancel_retry()
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
        except Exception as error:  # whatever stops a query is reported and stops nothing else
            self._has_failed = True
            self._handle(error, history)
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
        """Load the list that a conversation is in as well, for one can begin at a conversation."""
        stack = history.stack
        if history.here.kind != "conversation" or self._cache.recall(stack[-2]) is not None:
            return history
        show_view = self._host.show_view
        found = await self._host.worker.ask(lambda: load_list(show_view, stack))
        if found is None:
            return history
        self._cache.keep((*stack[:-2], found[0]), found[1])
        return history.amend((*stack[:-2], found[0], stack[-1]))

    def _cancel_retry(self) -> None:
        if self._retry is not None:
            self._retry.stop()
            self._retry = None

    def _handle(self, error: Exception, history: History) -> None:
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
