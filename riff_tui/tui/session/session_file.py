"""Keep the state of a session in a file: read once, written whole and seldom."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from riff_tui.errors import OutputError, writing
from riff_tui.output.files import write_whole
from riff_tui.settings import store_place
from riff_tui.text.safe_text import file_name
from riff_tui.tui.navigation.history import is_same
from riff_tui.tui.navigation.location import Stack
from riff_tui.tui.session.session_state import (
    NOTHING,
    SessionState,
    StatePart,
    Unreadable,
    decoded,
    encoded,
    overlaid,
    with_filter,
    with_view,
)

FOLDER = "explorer"
LARGEST = 4 << 20


def session_path(location: str, directory: Path) -> Path:
    """Return the file that belongs to a store, by whichever path the store is called."""
    return directory / FOLDER / f"{file_name(store_place(location))}.json"


class SessionFile:
    """Keep the state of a session in a file; without one, for as long as it lives itself.

    `complaint` says what was wrong with the file. `fresh` ignores what it holds, without losing it: only what is
    changed replaces what was kept. The same holds between two explorers on one store, of which each writes no more
    than what was changed in it.
    """

    def __init__(self, path: Path | None = None, store: str = "", *, fresh: bool = False) -> None:
        self.path = path
        self.store = store
        self.state: SessionState = NOTHING
        self.complaint = ""
        self.changed: Callable[[], None] = lambda: None
        self._unwritten: set[StatePart] = set()
        self._lock = threading.Lock()
        self._opened_at: Stack = ()
        if path is not None and not fresh:
            self.state, self.complaint = _read(path)

    # What is changed

    def opened(self, stack: Stack) -> None:
        """Open elsewhere than at the last location, which is kept until the user goes somewhere."""
        self._opened_at = stack

    def set_stack(self, stack: Stack) -> None:
        """Keep the location that is shown."""
        if self._opened_at and is_same(stack, self._opened_at):
            return
        self._opened_at = ()
        if stack != self.state.stack:
            self._change("stack", "", stack=stack)

    def sort(self, view: str, key: str | None) -> None:
        """Keep the column (`-` before it for downwards) that a view is sorted by, `None` for its own order."""
        self._by_view("sorts", view, key)

    def choose_columns(self, view: str, keys: Collection[str] | None) -> None:
        """Keep the columns that were chosen for a view, `None` for its own."""
        self._by_view("columns", view, tuple(keys) if keys is not None else None)

    def mark(self, view: str, ids: Collection[str]) -> None:
        """Keep the ids of the marked rows of a list."""
        self._by_view("marks", view, tuple(ids) or None)

    def add_filter(self, expression: str) -> None:
        """Keep a filter that was applied."""
        if expression:
            self._change("filters", "", filters=with_filter(self.state.filters, expression))

    def set_theme(self, name: str) -> None:
        """Keep the colours that were chosen."""
        self._change("theme", "", theme=name)

    def _by_view(self, name: str, view: str, value: Any) -> None:
        self._change(name, view, **{name: with_view(getattr(self.state, name), view, value)})

    def _change(self, name: str, view: str, **values: Any) -> None:
        now = replace(self.state, **values)
        if now != self.state:
            self.state = now
            self._unwritten.add((name, view))
            self.changed()

    # The file

    def write(self) -> None:
        """Write what was changed since the last time, if anything was.

        Raises `OutputError` where it cannot be written; it is tried again with the next change.
        """
        with self._lock:
            parts = set(self._unwritten)
            if self.path is None or not parts:
                return
            self._unwritten -= parts
            try:
                self._write(self.path, overlaid(_others(self.path, self.state), self.state, parts))
            except BaseException:
                self._unwritten |= parts
                raise

    def _write(self, path: Path, lasting: SessionState) -> None:
        try:
            text = encoded(lasting, self.store).decode()
        except UnicodeEncodeError as error:
            raise OutputError(f"{path}: not written, for a name or a filter here is no text") from error
        with writing(str(path)):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, partial(_fill, f"{text}\n"))


def _fill(text: str, file: TextIO) -> None:
    file.write(text)


def _others(path: Path, otherwise: SessionState) -> SessionState:
    """Return what the file holds by now."""
    found, complaint = _read(path)
    return otherwise if complaint else found


def _read(path: Path) -> tuple[SessionState, str]:
    """Return what a file holds, nothing where there is none, and why it holds nothing."""
    try:
        raw = _bytes_of(path)
        return (NOTHING if raw is None else decoded(raw)), ""
    except OSError as error:
        reason = "it is a link" if error.errno == errno.ELOOP else (error.strerror or "it cannot be read").lower()
    except Unreadable as error:
        reason = str(error)
    return NOTHING, f"what the last session left is ignored, for {reason}: {path}"


def _bytes_of(path: Path) -> bytes | None:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable("it is not a plain file")
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise Unreadable("it is too large")
    return raw
