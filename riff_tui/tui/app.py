"""The explorer as a Textual application: colours, signals, and an end that leaves the terminal as it was."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from typing import ClassVar

from rich.console import RenderableType
from textual import events
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.timer import Timer

from riff_tui.errors import ExitCode, OutputError
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.tui.data.loader import NameSource, ShowView
from riff_tui.tui.data.query_worker import QueryWorker
from riff_tui.tui.data.store_watcher import StoreWatcher
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import START, Stack
from riff_tui.tui.render.palette import PALETTES, Palette
from riff_tui.tui.screens.explorer import ExplorerScreen
from riff_tui.tui.session.session_file import SessionFile
from riff_tui.tui.terminal.textual_internals import QuietApp, TerminalDriver, write_sequence

# So much later what was changed is written, together with what is changed meanwhile.
SAVED_AFTER_S = 2.0
_ENDS = {
    signal.SIGINT: int(ExitCode.INTERRUPTED),
    signal.SIGTERM: int(ExitCode.TERMINATED),
    signal.SIGHUP: int(ExitCode.HUNG_UP),
}


class Explorer(QuietApp, inherit_bindings=False):
    """Walks the tables that `show` answers with; `overview` says in a few words how old they are.

    `session` knows what lasts; `watcher` sees the store change, which is shown at once unless `paused`;
    `store` is what a command has to name to find it, `names` tells which names there are in it.
    """

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "riff-tui"
    CSS = """
    * { scrollbar-size: 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupt", show=False, priority=True)]

    def __init__(
        self,
        show: ShowView,
        overview: Callable[[], str] | None = None,
        *,
        start: Stack = START,
        palette: Palette = PALETTES["ansi"],
        glyphs: Glyphs = UNICODE,
        session: SessionFile | None = None,
        watcher: StoreWatcher | None = None,
        paused: bool = False,
        store: str = "",
        names: NameSource | None = None,
    ) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.animation_level = "none"
        self.palette = palette
        self.glyphs = glyphs
        self.session = session or SessionFile()
        self.watcher = watcher
        self.paused = paused
        self.store = store
        self.names = names
        self.unsaved = False
        self._show = show
        self._overview = overview
        self._start = start
        self._to_be_saved: Timer | None = None
        self.worker = QueryWorker()

    def get_driver_class(self) -> type[Driver]:
        """Textual's own, but for the way it finds the size of a terminal."""
        found = super().get_driver_class()
        return TerminalDriver if found.__name__ == "LinuxDriver" else found

    def get_default_screen(self) -> Screen[None]:
        """The one screen."""
        return ExplorerScreen(self._show, self._overview, History((self._start,)), self.worker)

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number, code in _ENDS.items():
            # Where the loop is not the main thread's, signals are somebody else's business.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._end, code)
        self.session.changed = self._save_soon
        # Whoever had the terminal meanwhile drew over it.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))

    def on_resize(self) -> None:
        # A terminal that was another size in between has lost what it showed, also where it is as large as before.
        self.refresh(layout=True)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End, and know the place to come back to."""
        self._note_place()
        super().exit(result, return_code, message)

    def _end(self, code: int) -> None:
        """End by a signal: the terminal may be gone already, so what lasts is written before it is restored."""
        self._note_place()
        with contextlib.suppress(OutputError):
            self.session.write()
        self.exit(None, code)

    def _save_soon(self) -> None:
        if self._to_be_saved is None:
            self._to_be_saved = self.set_timer(SAVED_AFTER_S, self._save)

    def _save(self) -> None:
        self._to_be_saved = None
        self._note_place()
        self.run_worker(self._write(), group="saving", exit_on_error=False)

    async def _write(self) -> None:
        try:
            await self.worker.ask(self.session.write)
        except OutputError as error:
            # Said once: a home that cannot be written stays so.
            if not self.unsaved and self._walk is not None:
                self._walk.say(f"what lasts is not kept: {error}", "warn")
            self.unsaved = True

    def _note_place(self) -> None:
        walk = self._walk
        if walk is not None and walk.loaded is not None:
            walk.settle()
            self.session.be_at(walk.history.stack)

    @property
    def _walk(self) -> ExplorerScreen | None:
        """The screen that everything else lies on."""
        return next((screen for screen in self.screen_stack if isinstance(screen, ExplorerScreen)), None)

    def on_app_blur(self, event: events.AppBlur) -> None:
        # Nothing looks different in a window without focus, so nothing is to be sent again.
        event.prevent_default()

    def on_app_focus(self, event: events.AppFocus) -> None:
        event.prevent_default()

    def action_interrupt(self) -> None:
        """Ctrl-C: leave a list or the prompt, else the explorer."""
        screen = self.screen
        if isinstance(screen, ExplorerScreen) and screen.picker.is_open:
            screen.picker.close()
        elif isinstance(screen, ExplorerScreen) and screen.prompt.is_open:
            screen.prompt_controller.close()
        elif isinstance(screen, ExplorerScreen) and screen.overlay is not None:
            screen.overlay.leave()
        else:
            self.exit(return_code=int(ExitCode.INTERRUPTED))

    def send(self, sequence: str) -> None:
        """Write an escape sequence of our own to the terminal."""
        write_sequence(self, sequence)
