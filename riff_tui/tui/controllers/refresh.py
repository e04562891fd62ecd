"""Keep a screen up to date while its store grows: look seldom, show what changed, move nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riff_store.errors import StoreBusy, StoreError
from riff_tui.tui.data.backend import StoreChange, StoreWatcher
from riff_tui.tui.data.loader import changed_rows, load_again
from riff_tui.tui.data.query_worker import QueryWorker
from riff_tui.tui.terminal.textual_internals import QuietApp

if TYPE_CHECKING:
    from textual.worker import Worker

    from riff_tui.tui.data.backend import Backend
    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.header import Header
    from riff_tui.tui.widgets.line_table import LineTable
    from riff_tui.watching.growing_run import GrowingRun, HeadLine


PERIOD_S = 2.0
HEARING_PERIOD_S = 0.5
# Nobody looks away in the middle of a movement.
QUIET_S = 0.7
# A view that takes long to load is loaded again seldom, so that keys find the worker idle.
PAUSE_PER_LOAD = 5.0
# For so long calls that came are news.
NEWS_S = 6.0

_STATUS: dict[StoreChange, str] = {
    "same": "",
    "changed": "changed: r reads it",
    "busy": "being written",
    "replaced": "replaced: r opens it",
    "gone": "store gone",
    "silent": "no answer: trying again",
}


class AutoRefresh:
    """Refresh a screen when its store changes; without a `StoreWatcher` never.

    While it is `paused`, a change is offered and not shown. `may_show` returns whether rows may change under the eyes.
    """

    def __init__(self, host: Host, table: LineTable, backend: Backend, *, may_show: Callable[[], bool]) -> None:
        self.watcher = backend.watcher
        self.paused = backend.paused
        self._host = host
        self._table = table
        self._age = backend.age
        self._may_show = may_show
        self._reported: StoreChange = "same"
        self._found: StoreChange = "same"
        self._shown = ("", "")
        self._is_looking = False
        self._looking: Worker[Any] | None = None
        self._key_at = 0.0
        self._idle_until = 0.0
        self._news, self._news_at = 0, 0.0

    def note_key(self) -> None:
        """Note that a key is handled: nothing is refreshed meanwhile, and what had changed has been seen."""
        self._key_at = time.monotonic()
        self._table.highlight(frozenset())

    def suspend(self) -> None:
        """Leave the thread that queries to somebody who waits for it; what has changed is shown later."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    @property
    def status(self) -> str:
        """Return what is to be known of the store in a few words, an empty text as long as all is well."""
        writing = self.watcher.writing() if self.watcher is not None else ""
        came = f"+{self._news:,} call{'' if self._news == 1 else 's'} just now" if self._has_news else ""
        words = ("paused" if self.paused else "", _STATUS[self._reported], came, writing)
        return " · ".join(word for word in words if word)

    @property
    def _has_news(self) -> bool:
        return self._news > 0 and time.monotonic() - self._news_at < NEWS_S

    @property
    def period(self) -> float:
        """Return how often the store is looked at, in seconds."""
        return HEARING_PERIOD_S if self.watcher is not None and self.watcher.hears_of_writers else PERIOD_S

    def pause(self) -> None:
        """Show no more changes, or show them again."""
        self.paused = not self.paused
        self._host.update_lines()
        if self.paused:
            self._host.say("live refresh is paused: z resumes it, r reads the store once")
        else:
            self._host.say("live refresh is on again")
            self._begin()

    def refresh(self) -> None:
        """Load the store as it is and draw all of it, because the user wants that."""
        app = self._table.app
        if isinstance(app, QuietApp):
            app.draw_anew()
        if self.watcher is None:
            self._host.visit(self._host.history, again=True)
        else:
            self._host.run(partial(self._refresh, self.watcher), "live")

    def tick(self) -> None:
        """Look at the store, unless somebody is busy."""
        now = time.monotonic()
        if now - self._key_at >= QUIET_S and now >= self._idle_until:
            self._begin()

    def _begin(self) -> None:
        if self.watcher is not None and not self._is_looking and self._host.worker.idle:
            self._looking = self._host.run(partial(self._look, self.watcher), "live")

    async def _look(self, watcher: StoreWatcher) -> None:
        self._is_looking = True
        try:
            found = await self._host.worker.ask(watcher.look)
            if found == "changed" and not self.paused and self._may_show():
                found = await self._follow(watcher)
        finally:
            self._is_looking = False
        if found == "silent":
            self._idle_until = time.monotonic() + PAUSE_PER_LOAD
        self._report(found, watcher)

    async def _follow(self, watcher: StoreWatcher) -> StoreChange:
        """Show what the store has by now, with everything where it was."""
        host, began = self._host, time.monotonic()
        location, before = host.location, host.loaded
        if before is None:
            return "same"

        try:
            await host.worker.do(watcher.renew)
            loaded = await host.worker.ask(lambda: load_again(watcher.show, location, before))
            while loaded.deferred is not None and before.deferred is None:
                # What was there would be missing for a moment.
                loaded = loaded.completed(await host.worker.follow(loaded.deferred(), lambda step: None))
            more = await host.worker.ask(watcher.count_more)
        except StoreBusy:
            watcher.mark_stale()
            return "busy"
        except asyncio.CancelledError:
            watcher.mark_stale()
            raise
        except Exception as error:  # said; what was loaded before stays
            watcher.mark_stale()
            self._idle_until = time.monotonic() + PAUSE_PER_LOAD
            host.fail(error)
            return "changed"
        self._idle_until = time.monotonic() + PAUSE_PER_LOAD * (time.monotonic() - began)
        if host.location.cache_key != location.cache_key or not self._may_show():
            watcher.mark_stale()
            return self._reported
        self._tell_of(more)
        host.renew(loaded)
        self._table.highlight(changed_rows(before.main, loaded.main))
        return "same"

    async def _refresh(self, watcher: StoreWatcher) -> None:
        host = self._host
        try:
            is_replaced = await host.worker.ask(watcher.look) == "replaced"
            await host.worker.do(watcher.renew)
            more = await host.worker.ask(watcher.count_more)
        except Exception as error:  # said; what was loaded before stays
            host.fail(error)
            return
        self._tell_of(0 if is_replaced else more)
        self._reported = self._found = "same"
        host.visit(host.history, again=True, other=is_replaced)

    def _tell_of(self, more: int) -> None:
        """Show for a while how many calls came, together with those that came just before."""
        if more:
            self._news, self._news_at = more + (self._news if self._has_news else 0), time.monotonic()

    def _report(self, found: StoreChange, watcher: StoreWatcher) -> None:
        before, self._found = self._found, found
        # A writer locks the store for a blink at a time; only one that keeps it is worth a word.
        if found != "busy" or before == "busy":
            self._reported = found
        if (self.status, self._age()) != self._shown:
            self._shown = (self.status, self._age())
            self._host.update_lines()
        if found != before and found == "replaced":
            self._host.say(f"another file replaced {watcher.location}; r opens it", "warn")
        elif found != before and found == "gone":
            self._host.say(f"{watcher.location} is not there any more; what was read stays on the screen", "warn")
        elif found != before and found == "silent":
            self._host.say(f"{watcher.location} does not answer; it is tried again every few seconds", "warn")


SHOWN_ABOVE = "flows"


class RunWatch:
    """Watch the latest run of the store; without a `GrowingRun`, and if none grows, nothing is read.

    Files are read on a thread of their own, which begins with the first run that grows.
    """

    def __init__(self, host: Host, header: Header, growing: GrowingRun | None, *, may_look: Callable[[], bool]) -> None:
        self._host = host
        self._header = header
        self._growing = growing
        self._may_look = may_look
        self._asked_of: object = None
        self._directory: Path | None = None
        self._reader: QueryWorker | None = None
        self._is_looking = False

    def tick(self) -> None:
        """Look at the run where its line can be seen, unless somebody is busy."""
        host, growing = self._host, self._growing
        if growing is None or self._is_looking or host.loaded is None or host.location.view != SHOWN_ABOVE:
            return
        is_known = self._asked_of is host.loaded
        if (is_known and self._directory is None) or not host.worker.idle or not self._may_look():
            return
        host.run(partial(self._look, growing, host.loaded, is_known=is_known), "run watch")

    async def _look(self, growing: GrowingRun, loaded: Any, *, is_known: bool) -> None:
        self._is_looking = True
        try:
            if not is_known:
                self._directory = await self._host.worker.ask(growing.find)
                self._asked_of = loaded
            if self._directory is not None:
                self._reader = self._reader or QueryWorker()
                line = await self._reader.ask(partial(growing.look, self._directory, time.time()))
                self._show(line)
            else:
                self._show(None)
        except StoreError:
            return  # the next query of the store shows what is wrong with it
        finally:
            self._is_looking = False

    def _show(self, line: HeadLine | None) -> None:
        if line is None:
            # It has ended: only new calls in the store tell of another one.
            self._directory = None
        self._header.show_run(line)
