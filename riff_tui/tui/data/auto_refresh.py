"""Keep a screen true while its store grows: look seldom, show what changed, move nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from riff_store.errors import StoreBusy
from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.data.reload import changed_rows, read_again
from riff_tui.tui.data.store_watcher import StoreChange, StoreWatcher

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

PERIOD_S = 2.0
# Nobody looks away in the middle of a movement.
CALM_S = 0.7
# What takes long to read is read again seldom, so that keys find the store idle.
REST = 5.0

_WORDS: dict[StoreChange, str] = {
    "same": "",
    "changed": "changed: r reads it",
    "busy": "being written",
    "replaced": "replaced: r opens it",
    "gone": "store gone",
}


class AutoRefresh:
    """Looks after the store for a screen; without a `StoreWatcher` it does nothing.

    While it is `paused`, a change is offered and not shown.
    """

    def __init__(self, screen: ExplorerScreen, live: StoreWatcher | None, *, paused: bool = False) -> None:
        self.watcher = live
        self.paused = paused
        self._screen = screen
        self._found: StoreChange = "same"
        self._looked: StoreChange = "same"
        self._told = ("", "")
        self._looking = False
        self._key_at = 0.0
        self._rests_until = 0.0

    def start(self) -> None:
        """Look every now and then."""
        if self.watcher is not None:
            self._screen.set_interval(PERIOD_S, self.tick)

    def key(self) -> None:
        """A key is being handled: nothing else happens meanwhile, and what had changed has been seen."""
        self._key_at = time.monotonic()
        self._screen.table.highlight(frozenset())

    @property
    def status(self) -> str:
        """What is to be known of the store, in a few words; nothing as long as all is well."""
        return " · ".join(word for word in ("paused" if self.paused else "", _WORDS[self._found]) if word)

    def pause(self) -> None:
        """Show no more changes, or show them again."""
        self.paused = not self.paused
        self._screen.tell()
        if self.paused:
            self._screen.say("live refresh is paused: z goes on, r reads the store once")
        else:
            self._screen.say("live refresh goes on")
            self._begin()

    def refresh(self) -> None:
        """Take in the store as it is now, because somebody asked for it."""
        self._screen.settle()
        if self.watcher is None:
            self._screen.visit(self._screen.history, again=True)
        else:
            self._screen.run_worker(self._refresh(self.watcher), group="live", exit_on_error=False)

    def doubt(self) -> None:
        """What is shown was read before the store changed."""
        if self.watcher is not None:
            self.watcher.distrust()

    def tick(self) -> None:
        """Look, unless somebody is busy."""
        now = time.monotonic()
        if now - self._key_at >= CALM_S and now >= self._rests_until:
            self._begin()

    @property
    def _may_show(self) -> bool:
        """Whether rows may change under the eyes: nothing is on its way, nothing is typed, nothing covers them."""
        screen = self._screen
        typing = screen.focused not in (None, screen.table, screen.transcript)
        return not typing and screen.app.screen is screen and not screen.context.travelling

    def _begin(self) -> None:
        if self.watcher is not None and not self._looking and self._screen.explorer.worker.idle:
            self._screen.run_worker(self._look(self.watcher), group="live", exit_on_error=False)

    async def _look(self, live: StoreWatcher) -> None:
        self._looking = True
        try:
            found = await self._screen.explorer.worker.ask(live.look)
            if found == "changed" and not self.paused and self._may_show:
                found = await self._follow(live)
        finally:
            self._looking = False
        self._became(found)

    async def _follow(self, live: StoreWatcher) -> StoreChange:
        """Show what the store holds now, with everything where it was."""
        screen, began = self._screen, time.monotonic()
        place, before = screen.place, screen.loaded
        if before is None:
            return "same"

        def ask() -> LoadedView:
            live.renew()
            return read_again(live.show, place, before)

        try:
            reading = await screen.explorer.worker.ask(ask)
            if reading.deferred is not None and before.deferred is None:
                # What was there would be missing for a moment.
                rest = await screen.explorer.worker.follow(reading.deferred(), lambda doing: None)
                reading = reading.completed(rest)
        except StoreBusy:
            live.distrust()
            return "busy"
        except Exception as error:  # said; what was read before stays
            live.distrust()
            self._rests_until = time.monotonic() + REST
            screen.fail(error)
            return "changed"
        self._rests_until = time.monotonic() + REST * (time.monotonic() - began)
        if screen.place.question != place.question or not self._may_show:
            live.distrust()
            return self._found
        screen.renew(reading)
        screen.table.highlight(changed_rows(before.main, reading.main))
        return "same"

    async def _refresh(self, live: StoreWatcher) -> None:
        screen = self._screen
        try:
            replaced = await screen.explorer.worker.ask(live.look) == "replaced"
            await screen.explorer.worker.ask(live.renew)
        except Exception as error:  # said; what was read before stays
            screen.fail(error)
            return
        self._found = self._looked = "same"
        screen.visit(screen.history, again=True, other=replaced)

    def _became(self, found: StoreChange) -> None:
        before, self._looked = self._looked, found
        # A writer holds the store for a blink at a time; only one that keeps it is worth a word.
        if found != "busy" or before == "busy":
            self._found = found
        age = self._screen.age
        if (self.status, age) != self._told:
            self._told = (self.status, age)
            self._screen.tell_top()
        if found != before and found in ("replaced", "gone") and self.watcher is not None:
            told = {
                "replaced": f"another file took the place of {self.watcher.location}; r opens it",
                "gone": f"{self.watcher.location} is not there any more; what was read stays on the screen",
            }
            self._screen.say(told[found], "warn")
