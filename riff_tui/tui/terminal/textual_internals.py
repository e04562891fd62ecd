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
from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment
from textual import events
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.errors import NoWidget
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from riff_tui.text.safe_text import PasteFilter, cell_width


class InputParser(XTermParser):
    """Read the keys of a terminal, and take nothing that was pasted for one."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pastes = PasteFilter()

    def feed(self, data: str) -> Iterable[Message]:
        # Without data there is an end of file.
        left = self._pastes.take(data)
        return super().feed(left) if left or not data else ()


class TerminalWriter(WriterThread):
    """Write to a terminal, and take what is still written for one that hung up: nobody waits for room in the queue."""

    def run(self) -> None:
        try:
            super().run()
        except OSError:
            while self._queue.get() is not None:
                pass


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
        linux_driver.WriterThread = TerminalWriter  # type: ignore[attr-defined]
        super().start_application_mode()  # type: ignore[no-untyped-call]  # it has no annotations
        if not self._watched:
            self._watched = True
            threading.Thread(target=self._await_hangup, name="riff-tui-hangup", daemon=True).start()

    def resume_application_mode(self) -> None:
        # It is also continued after a stop that no process learns of, and on a hang-up. Two threads would read keys.
        if self._key_thread is not None and self._key_thread.is_alive():
            if self._has_hung_up(wait=False):
                return
            self.suspend_application_mode()
            self._must_signal_resume = True
        super().resume_application_mode()

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
        # Until it is told another size, Textual draws in this one; two would follow each other for ever.
        return self._app.console.size


_INTERRUPTS = ("escape", "ctrl+c")
_SUSPENDS = "ctrl+z"
_PATIENCE_S = 1.0


async def _drain(widget: Widget) -> None:
    """Wait until a widget, and all that it is in, handled what is on its way to them.

    What a widget makes of an event comes back to it before it goes on to its parents, so it is asked twice.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_S):
            for each in (widget, *(node for node in widget.ancestors_with_self if isinstance(node, Widget))):
                handled = asyncio.Event()
                if each.call_later(handled.set):
                    await handled.wait()


Cell: TypeAlias = tuple[str, str]
"""What a cell shows and the codes of its style; a text that takes other cells than its letters is in its first one."""
_BLANK: Cell = (" ", "")
_NEAR = 8
"""To write so many cells again takes no more bytes than to go over them."""
_ANYWHERE = -_NEAR - 1
"""Where it is not known that the terminal writes next."""


class SentCells:
    """Know what the terminal shows, and write of what is drawn those cells alone that look different there."""

    def __init__(self) -> None:
        self._lines: dict[int, list[Cell | None]] = {}
        self._width, self._before = 0, ""

    def forget(self) -> None:
        """Take nothing for granted: something else may have drawn there."""
        self._lines.clear()

    def shift(self, first: int, height: int, by: int) -> None:
        """Have the terminal move lines up by some, down where negative, before the next changes.

        It is a scrolling region of these lines and line feeds at its edge; lines that appear are blank.
        """
        edge, feed = (first + height, "\x1bD" * by) if by > 0 else (first + 1, "\x1bM" * -by)
        self._before += f"\x1b[{first + 1};{first + height}r\x1b[{edge};1H{feed}\x1b[r"
        lines = [self._lines.get(y) for y in range(first, first + height)]
        blank: list[list[Cell | None] | None] = [[_BLANK] * self._width for _ in range(abs(by))]
        for y, line in enumerate([*lines[by:], *blank] if by > 0 else [*blank, *lines[:by]], first):
            self._lines[y] = line or [None] * self._width

    def changes(self, update: LayoutUpdate | ChopsUpdate, width: int, color_system: ColorSystem) -> str:
        """Return what makes a terminal of a width show an update, and remember that it does."""
        if width != self._width:
            self.forget()
            self._width = width
        pen, drawn = _Pen(), dict[int, list[Cell | None]]()
        unknown: list[Cell | None] = [None] * width
        for y, x, strip in _drawn(update):
            if (line := drawn.get(y)) is None:
                line = drawn[y] = self._lines.get(y, unknown).copy()
            # The last update of a wider terminal may reach over the edge of this one.
            cells = _cells(strip, color_system)[: max(0, width - x)]
            line[x : x + len(cells)] = cells
        for y, line in drawn.items():
            pen.line(y, self._lines.get(y, unknown), line)
            self._lines[y] = line
        before, self._before = self._before, ""
        return before + pen.written()


def _drawn(update: LayoutUpdate | ChopsUpdate) -> Iterable[tuple[int, int, Strip]]:
    """Yield the strips of an update with the line and the cell at which they begin."""
    if isinstance(update, LayoutUpdate):
        yield from ((y, update.region.x, Strip.join(strips)) for y, strips in enumerate(update.strips, update.region.y))
        return
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x <= last and end > first:
                yield y, x, strip if end <= last else strip.crop(0, last - x)


def _cells(strip: Strip, color_system: ColorSystem) -> list[Cell | None]:
    cells: list[Cell | None] = []
    for text, style, _ in strip:
        codes = Strip.render_ansi(style, color_system) if style else ""
        if text.isascii() or all(cell_width(letter) == 1 for letter in text):
            blank = _BLANK if _leaves_blank(codes) else (" ", codes)
            cells += [(letter, codes) if letter != " " else blank for letter in text]
        else:
            cells += [(text, codes), *[("", codes)] * (Strip([Segment(text)]).cell_length - 1)]
    return cells


@lru_cache(maxsize=256)
def _leaves_blank(codes: str) -> bool:
    """Return whether nothing can be seen of a blank in a style."""
    return all(code in ("", "1", "2", "3", "49") or (len(code) == 2 and code[0] in "39") for code in codes.split(";"))


class _Pen:
    """Write cells of lines with as few moves and changes of style as it takes."""

    def __init__(self) -> None:
        self._written: list[str] = []
        self._codes = ""

    def line(self, y: int, before: Sequence[Cell | None], after: Sequence[Cell | None]) -> None:
        """Write those cells of a line that differ from what was there before."""
        if before == after:
            return
        if not all(cell is not None and len(cell[0]) == 1 for line in (before, after) for cell in line):
            # How many cells some signs take is a guess of each terminal, and a wrong one leaves no rest behind.
            self._style("")
            self._written.append(f"\x1b[{y + 1};1H\x1b[K")
            before = [_BLANK] * len(after)
        filled = next((x for x in range(len(after), 0, -1) if after[x - 1] != _BLANK), 0)
        at = _ANYWHERE
        for x, cell in enumerate(after):
            if cell is None or not cell[0] or cell == before[x]:
                continue
            if 0 < x - at <= _NEAR and all(map(self._suits, after[at:x])):
                self._written += [each[0] for each in after[at:x] if each is not None]
            elif at != x:
                self._written.append(f"\x1b[{y + 1};{x + 1}H")
            if x >= filled and _leaves_blank(self._codes):
                self._written.append("\x1b[K")
                return
            if not self._suits(cell):
                self._style(cell[1])
            self._written.append(cell[0])
            at = x + 1 if len(cell[0]) == 1 else _ANYWHERE

    def _style(self, codes: str) -> None:
        if codes != self._codes:
            begin = "0;" if self._codes and codes else ""
            self._written.append(f"\x1b[{begin}{codes or 0}m")
            self._codes = codes

    def _suits(self, cell: Cell | None) -> bool:
        """Return whether a cell looks as it should in the style that is written in."""
        return cell is not None and (cell[1] == self._codes or (cell == _BLANK and _leaves_blank(self._codes)))

    def written(self) -> str:
        """Return all of it, without a style for what follows."""
        self._style("")
        return "".join(self._written)


class _Written(LayoutUpdate):
    """Give Textual what is written for an update."""

    def __init__(self, written: str) -> None:
        super().__init__([], Region())
        self._written = written

    def render_segments(self, console: Console) -> str:
        return self._written


class QuietApp(App[None]):
    """Draw what changed alone, answer keys, clicks and pastes one after the other, end after an error without a trace.

    That would print local variables and so callers' words.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.sent = SentCells()
        self._typed_ahead: deque[events.Key | events.Paste] = deque()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        is_drawn = not (self._batch_count or self.is_headless or self._closed) and self._running
        if is_drawn and isinstance(renderable, LayoutUpdate | ChopsUpdate):
            colors = self.console._color_system or ColorSystem.TRUECOLOR
            written = self.sent.changes(renderable, self.size.width, colors)
            super()._display(screen, _Written(written) if written else None)
        else:
            super()._display(screen, renderable)

    def draw_anew(self) -> None:
        """Draw all of it, whatever the terminal shows."""
        self.sent.forget()
        self.refresh(layout=True)

    @property
    def field(self) -> Widget | None:
        """Return what is typed into, `None` if keys are commands."""
        return None

    def type(self, event: events.Key) -> bool:
        """Put a key into the text that is being typed; return whether it belongs there."""
        return False

    def is_opening(self, *, waited: bool) -> bool:
        """Return whether something is about to open that what is typed now is for, or what `waited` for it."""
        return False

    def is_repeated(self, key: str, waiting: Sequence[str]) -> bool:
        """Return whether a key need not wait behind those that are `waiting`, since it does no more than they do."""
        return False

    def cancel_opening(self) -> bool:
        """Open nothing after all; return whether the key that wants that is answered by it."""
        return False

    def has_failed_to_open(self) -> bool:
        """Return whether what was typed was for something that did not open."""
        return False

    async def answer_typed_ahead(self) -> None:
        """Answer what was typed for what has opened; if nothing did, that is forgotten."""
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


class SettledScreen(Screen[None], inherit_bindings=False):
    """Draw a new layout once what it resized has drawn itself in its new size, and not before that as well."""

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        with self.app.batch_update():
            super()._refresh_layout(size, scroll)

    def _compositor_refresh(self) -> None:
        # Textual forgets, once it drew, what asked for that since the layout was made.
        self._compositor.update_widgets(self._dirty_widgets)
        super()._compositor_refresh()


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
        # If no shell could continue what is stopped, nothing is stopped.
        stops = signal.SIG_IGN if os.getpgrp() == os.getsid(0) else signal.SIG_DFL
        before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, stops)
        try:
            # If the output goes into a file, the program is still seen: the explorer draws on stderr.
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


def shift_lines(app: QuietApp, widget: Widget, first: int, by: int) -> None:
    """Have the terminal move the lines of a widget from its line `first` on up by some, down where negative.

    What Textual keeps of these lines moves along.
    """
    height = widget.size.height
    app.sent.shift(widget.region.y + first, height - first, by)
    kept = widget._styles_cache._cache
    moved = {y - by: strip for y, strip in kept.items() if y >= first and first <= y - by < height}
    widget._styles_cache._cache = {**{y: strip for y, strip in kept.items() if y < first}, **moved}
