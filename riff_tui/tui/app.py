"""The explorer as a Textual application: colours, signals, and an end that leaves the terminal as it was."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen

from riff_tui.errors import ExitCode
from riff_tui.glyphs import UNICODE, Glyphs
from riff_tui.tui.asking import Asker
from riff_tui.tui.counting import ago
from riff_tui.tui.palette import PALETTES, Palette
from riff_tui.tui.places import START, Stack, Trail
from riff_tui.tui.reading import Show
from riff_tui.tui.screens.explorer import ExplorerScreen

if TYPE_CHECKING:
    from riff_tui.settings import Settings

_HANGUP = 129
_ENDS = {signal.SIGTERM: int(ExitCode.TERMINATED), signal.SIGHUP: _HANGUP}


class Explorer(App[None], inherit_bindings=False):
    """Walks the tables that `show` answers with; `overview` says in a few words what the store holds."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "riff-tui"
    CSS = """
    * { scrollbar-size: 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupt", show=False, priority=True)]

    def __init__(
        self,
        show: Show,
        overview: Callable[[], str] | None = None,
        *,
        start: Stack = START,
        palette: Palette = PALETTES["ansi"],
        glyphs: Glyphs = UNICODE,
    ) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.animation_level = "none"
        self.palette = palette
        self.glyphs = glyphs
        self._show = show
        self._overview = overview
        self._start = start
        self.asker = Asker()

    def get_driver_class(self) -> type[Driver]:
        """Textual's own, but for the way it finds the size of a terminal."""
        found = super().get_driver_class()
        if found.__name__ != "LinuxDriver":
            return found
        from riff_tui.tui.driver import TerminalDriver

        return TerminalDriver

    def get_default_screen(self) -> Screen[None]:
        """The one screen."""
        return ExplorerScreen(self._show, self._overview, Trail((self._start,)), self.asker)

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number, code in _ENDS.items():
            # Where the loop is not the main thread's, signals are somebody else's business.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.exit, None, code)

    def _on_app_blur(self, event: events.AppBlur) -> None:  # type: ignore[override]  # waits for nothing
        # Nothing looks different in a window without focus, so nothing is to be sent again.
        event.prevent_default()

    def _on_app_focus(self, event: events.AppFocus) -> None:  # type: ignore[override]  # as above
        event.prevent_default()

    def action_interrupt(self) -> None:
        """Ctrl-C: leave the prompt, else the explorer."""
        screen = self.screen
        if isinstance(screen, ExplorerScreen) and screen.prompt.is_open:
            screen.close_prompt()
        else:
            self.exit(return_code=int(ExitCode.INTERRUPTED))

    def send(self, sequence: str) -> None:
        """Write an escape sequence of our own to the terminal."""
        if self._driver is not None:
            self._driver.write(sequence)

    @property
    def failure(self) -> Exception | None:
        """What ended the explorer against its will."""
        return self._exception

    def _fatal_error(self) -> None:
        # Textual would print a trace with local variables, and they hold callers' words.
        self._close_messages_no_wait()


def run_explorer(
    location: str, *, view: str = "flows", where: str = "", fresh: bool = False, settings: Settings | None = None
) -> int:
    """Open the explorer on a store; the exit code says how it ended.

    Raises `FilterError` and the store's errors before the terminal is touched, and afterwards what
    ended the explorer.
    """
    from riff_store.database import open_store
    from riff_tui import catalog
    from riff_tui.tui.places import opened
    from riff_tui.tui.surroundings import look_around

    found = look_around(
        theme=settings.theme if settings else None,
        ascii_only=settings.ascii if settings else None,
        mouse=settings.mouse if settings else None,
    )
    start = opened(view, where)
    store = open_store(location)
    explorer = Explorer(
        lambda name, request: catalog.show(store, name, request),
        partial(_age, store.location),
        start=start,
        palette=found.palette,
        glyphs=found.glyphs,
    )
    explorer.run(mouse=found.mouse)
    # Where a question is still on its way, the process ends without waiting for it; the store was only read.
    if explorer.asker.idle:
        store.close()
    if explorer.failure is not None:
        raise explorer.failure
    return explorer.return_code or 0


def _age(location: str) -> str:
    """When the store was written last, as far as its file tells."""
    try:
        return f"written {ago(time.time() - os.stat(location).st_mtime)}"
    except OSError:
        return ""
