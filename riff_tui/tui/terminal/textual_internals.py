"""Reach into Textual where its public names do not suffice; no other module uses a private name of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
import termios
import threading
import unicodedata
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.errors import NoWidget
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget


class InputParser(XTermParser):
    """Read the keys of a terminal, and take nothing that was pasted for one."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pastes = PasteFilter()

    def feed(self, data: str) -> Iterable[Message]:
        # Without data there is an end of file.
        left = self._pastes.take(data)
        return super().feed(left) if left or not data else ()


class TerminalDriver(LinuxDriver):
    """Ask the terminal that is drawn on for its size, and end when it hangs up.

    Textual draws on stderr but asks the environment and then stdout, which may be a file. It also
    reads on, and does nothing else, where the terminal hung up and no signal came. Escape sequences in what is pasted
    it takes for keys.
    """

    _watched = False

    def run_input_thread(self) -> None:
        linux_driver.XTermParser = InputParser  # type: ignore[attr-defined]
        super().run_input_thread()

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]  # it has no annotations
        if not self._watched:
            self._watched = True
            threading.Thread(target=self._await_hangup, name="riff-tui-hangup", daemon=True).start()

    def close(self) -> None:
        super().close()
        if self._has_hung_up(wait=False):
            # What is left of the last screen can be written nowhere, and the process would end with the error of that.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), 2)

    def _await_hangup(self) -> None:
        """Signal the hang-up to this process: the kernel only signals the leader of the session."""
        if self._has_hung_up(wait=True):
            os.kill(os.getpid(), signal.SIGHUP)

    def _has_hung_up(self, *, wait: bool) -> bool:
        poll = select.poll()
        poll.register(self.fileno, 0)
        return any(event & select.POLLHUP for _, event in poll.poll(None if wait else 0))

    def _get_terminal_size(self) -> tuple[int, int]:
        for descriptor in (2, self.fileno):
            try:
                width, height = os.get_terminal_size(descriptor)
            except (OSError, ValueError):
                continue
            if width and height:
                return width, height
        return super()._get_terminal_size()


_INTERRUPTS = ("escape", "ctrl+c")
_SUSPENDS = "ctrl+z"
_PATIENCE_S = 1.0


async def _drain(widget: Widget) -> None:
    """Wait until a widget, and all that it lies in, handled what is on its way to them.

    What a widget makes of an event comes back to it before it goes on to its parents, so it is asked twice.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_S):
            for each in (widget, *(node for node in widget.ancestors_with_self if isinstance(node, Widget))):
                handled = asyncio.Event()
                if each.call_later(handled.set):
                    await handled.wait()


class QuietApp(App[None]):
    """Answer keys, clicks and pastes one after the other, and end after an unhandled error without a trace.

    A trace would print local variables and so callers' words.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._typed_ahead: deque[events.Key | events.Paste] = deque()

    @property
    def field(self) -> Widget | None:
        """Return what is typed into, `None` where keys are commands."""
        return None

    def type(self, event: events.Key) -> bool:
        """Put a key into the text that is being typed; return whether it belongs there."""
        return False

    def is_opening(self, *, waited: bool) -> bool:
        """Return whether something is about to open that what is typed now is for, or what `waited` for it."""
        return False

    def is_repeated(self, key: str, waiting: Sequence[str]) -> bool:
        """Return whether a key need not wait behind those that are `waiting`, since it says no more than they do."""
        return False

    def cancel_opening(self) -> bool:
        """Open nothing after all; return whether the key that wants that is answered by it."""
        return False

    def has_failed_to_open(self) -> bool:
        """Return whether what was typed was for something that did not open."""
        return False

    async def answer_typed_ahead(self) -> None:
        """Answer what was typed for what has opened; where nothing did, that is forgotten."""
        if self.has_failed_to_open():
            self._typed_ahead.clear()
        while self._typed_ahead and not self.is_opening(waited=True):
            await self._answer_typed(self._typed_ahead.popleft())

    async def on_event(self, event: events.Event) -> None:
        if event.is_forwarded:
            await super().on_event(event)
        elif isinstance(event, events.Key | events.Paste):
            await self._receive(event)
        elif isinstance(event, events.MouseUp | events.MouseScrollDown | events.MouseScrollUp):
            await self._answer(event, self._widget_under(event))
        else:
            await super().on_event(event)

    async def _receive(self, event: events.Key | events.Paste) -> None:
        if isinstance(event, events.Key) and event.key == _SUSPENDS:
            await self._answer_key(event)
            return
        if not self.is_opening(waited=bool(self._typed_ahead)):
            await self.answer_typed_ahead()
        if not self._typed_ahead and not self.is_opening(waited=False):
            await self._answer_typed(event)
        elif isinstance(event, events.Key) and event.key in _INTERRUPTS:
            self._typed_ahead.clear()
            if not self.cancel_opening():
                await self._answer_key(event)
        else:
            waiting = [each.key if isinstance(each, events.Key) else "" for each in self._typed_ahead]
            if isinstance(event, events.Paste) or not self.is_repeated(event.key, waiting):
                self._typed_ahead.append(event)

    async def _answer_typed(self, event: events.Key | events.Paste) -> None:
        if isinstance(event, events.Key):
            await self._answer_key(event)
        else:
            await self._answer(event, self.focused)

    async def _answer_key(self, key: events.Key) -> None:
        if self.type(key):
            return
        field, screen = self.field, self.screen
        if field is not None:
            await _drain(field)
        # Textual sends a key to the focused widget and back before it acts; by then those that came along with it
        # would be on their way to the same widget, and lost for the prompt that the first one opens.
        if not await self._check_bindings(key.key):
            await self._check_bindings(key.key, priority=True)
        if self.screen is not screen:
            await _drain(self.screen)
        elif field is not None:
            await _drain(field)

    def action_suspend_process(self) -> None:
        """Stop what runs in the foreground of this terminal: also what started this process and waits for its end."""
        if self._driver is not None and self._driver.can_suspend:
            os.kill(0, signal.SIGTSTP)

    async def _answer(self, event: events.Event, widget: Widget | None) -> None:
        """Have a widget answer what Textual sends it before the next key is answered."""
        await super().on_event(event)
        if widget is not None:
            await _drain(widget)

    def _widget_under(self, event: events.MouseEvent) -> Widget | None:
        with contextlib.suppress(NoWidget):
            return self.get_widget_at(event.x, event.y)[0]
        return None

    @property
    def failure(self) -> Exception | None:
        """Return the error that ended the application, if one did."""
        return self._exception

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()


def rebind(screen: Screen[Any], bindings: Iterable[Binding]) -> None:
    """Give a screen other keys than its class has."""
    screen._bindings = BindingsMap(bindings)


def run_in_foreground(app: App[Any], argv: Sequence[str], directory: str | None) -> int:
    """Give the terminal to a program until it ends; return its exit code, negative for the signal that ended it.

    What is typed for it, also Ctrl-C and Ctrl-Z, is its own. A signal that would end this process comes afterwards.
    Raises `OSError` if it cannot be run.
    """
    late: list[int] = []
    terminal = sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
    with app.suspend():
        modes = termios.tcgetattr(terminal) if os.isatty(terminal) else None
        # The event loop does not learn of signals meanwhile; a program starts with those handled that nobody ignores.
        wakes = signal.set_wakeup_fd(-1)
        handled = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, lambda number, frame: late.append(number)) for number in handled}
        # Where no shell could continue what is stopped, nothing is stopped.
        stops = signal.SIG_IGN if os.getpgrp() == os.getsid(0) else signal.SIG_DFL
        before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, stops)
        try:
            # Where the output goes into a file, the program is still seen: the explorer draws on stderr.
            out = None if os.isatty(1) else 2
            return subprocess.run(argv, cwd=directory, stdout=out, check=False).returncode
        finally:
            for number, handler in before.items():
                signal.signal(number, handler or signal.SIG_DFL)
            signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
            if modes is not None:
                termios.tcsetattr(terminal, termios.TCSADRAIN, modes)
            for each in {*late} - {signal.SIGINT, signal.SIGQUIT}:
                os.kill(os.getpid(), each)


def write_sequence(app: App[Any], sequence: str) -> None:
    """Write an escape sequence of our own to the terminal of an application, if it has one."""
    if app._driver is not None:
        app._driver.write(sequence)


def write_meta(app: App[Any], told: dict[str, object]) -> None:
    """Send the server of an application on a page something that is not drawn."""
    driver: Any = app._driver
    if driver is not None and driver.is_web:
        driver.write_meta(told)


def forget_styled_lines(widget: Widget) -> None:
    """Drop the lines that Textual keeps of a widget, without having them drawn again."""
    widget._styles_cache.clear()


_BEGINNING, _END = "\x1b[200~", "\x1b[201~"
_KEPT = "\n\r\t"


class PasteFilter:
    """Let what is typed through as it comes, and of bracketed pastes all but control characters.

    It is fed in pieces, which may be cut anywhere.
    """

    def __init__(self) -> None:
        self._pasting = False
        self._seen = ""

    def take(self, piece: str) -> str:
        """Return what is left of the next piece; the beginning of what may be the end of a paste is held back."""
        return "".join(self._pasted(each) if self._pasting else self._typed(each) for each in piece)

    def _typed(self, character: str) -> str:
        self._seen = (self._seen + character)[-len(_BEGINNING) :]
        if self._seen == _BEGINNING:
            self._pasting, self._seen = True, ""
        return character

    def _pasted(self, character: str) -> str:
        self._seen += character
        if self._seen == _END:
            self._pasting, self._seen = False, ""
            return _END
        if _END.startswith(self._seen):
            return ""
        before, self._seen = self._seen[:-1], ""
        return _without_controls(before) + (self._pasted(character) if before else _without_controls(character))


def _without_controls(text: str) -> str:
    return "".join(each for each in text if each in _KEPT or unicodedata.category(each) != "Cc")
