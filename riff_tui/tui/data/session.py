"""Keep what one session of the explorer leaves for the next on the same store, as JSON in a file.

The form is read with care: a file may be damaged, of another version, or written by somebody else.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from pathlib import Path
from typing import Any, TextIO, TypeVar

import msgspec

from riff_tui.errors import FilterError, OutputError, writing
from riff_tui.filters import Filter
from riff_tui.filters.parser import parse
from riff_tui.output.files import write_whole
from riff_tui.settings import store_place
from riff_tui.text.safe_text import file_name, one_line
from riff_tui.tui.navigation.history import is_same
from riff_tui.tui.navigation.location import SIDE_BY_SIDE, Location, Stack
from riff_tui.view_registry import find

FORM = 1
MOST_FILTERS = 50
MOST_MARKS = 2_000
MOST_PLACES = 32
LONGEST = 4_000
BY_VIEW = frozenset({"sorts", "columns", "marks"})

T = TypeVar("T")
StatePart = tuple[str, str]
"""A thing that lasts: the name of its field, and the view that it belongs to, empty where it belongs to none."""


class Unreadable(Exception):
    """Report that a file makes no sense; the message shows why, in the middle of a sentence."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """Keep what lasts of one store.

    `stack` is the location one was at, below those above it, and empty if there is none to go back to. `sorts` (a
    column, `-` before it for downwards), `columns` (keys) and `marks` (ids of rows) go by view. `filters` are those
    that were applied, the latest last. `theme` is the one that was chosen, `preview` shows whether wide screens show
    beside a list what its row leads to, `greeted` that the store was opened before.
    """

    stack: Stack = ()
    sorts: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    filters: tuple[str, ...] = ()
    theme: str | None = None
    preview: bool = True
    greeted: bool = False


NOTHING = SessionState()


class _Form(msgspec.Struct):
    form: int


class _Document(msgspec.Struct):
    form: int
    store: str
    kept: SessionState


def encoded(lasting: SessionState, store: str) -> bytes:
    """Return the file's bytes; `store` shows a reader which store it belongs to."""
    document = _Document(FORM, one_line(store), _bounded(lasting))
    return msgspec.json.format(msgspec.json.encode(document, enc_hook=_plain), indent=1)


def decoded(raw: bytes) -> SessionState:
    """Return what a file has; raise `Unreadable` if that makes no sense."""
    try:
        form = msgspec.json.decode(raw, type=_Form).form
        if form != FORM:
            raise Unreadable(f"it has the form of {'a newer' if form > FORM else 'an older'} riff-tui")
        found = msgspec.json.decode(raw, type=_Document, dec_hook=_filter).kept
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is damaged") from error
    return replace(_bounded(found), stack=found.stack if all(map(_is_sound, found.stack)) else ())


def with_filter(filters: tuple[str, ...], expression: str) -> tuple[str, ...]:
    """Return the filters with one more at the end, each of them once."""
    return (*(each for each in filters if each != expression), expression)[-MOST_FILTERS:]


def overlaid(base: SessionState, mine: SessionState, parts: Collection[StatePart]) -> SessionState:
    """Return what is in the file with these parts of mine instead; filters of both stay."""
    found = base
    for name, view in parts:
        value: Any = getattr(mine, name)
        if name in BY_VIEW:
            value = with_view(getattr(found, name), view, value.get(view))
        elif name == "filters":
            value = reduce(with_filter, value, base.filters)
        found = replace(found, **{name: value})
    return found


def with_view(values: Mapping[str, T], view: str, value: T | None) -> dict[str, T]:
    """Return the values by view with another one for one of them, or none."""
    others = {key: found for key, found in values.items() if key != view}
    return others if value is None else {**others, view: value}


def _plain(value: object) -> str:
    if not isinstance(value, Filter):
        raise NotImplementedError
    return value.text


def _filter(kind: type, value: object) -> Filter:
    if kind is not Filter or not isinstance(value, str):
        raise ValueError("a filter is a text")
    return Filter(value)


def _bounded(lasting: SessionState) -> SessionState:
    """Return the state with no more of anything than a session could want."""
    return SessionState(
        stack=lasting.stack[:MOST_PLACES],
        sorts={view: key for view, key in lasting.sorts.items() if len(view) + len(key) <= LONGEST},
        columns={view: keys[:MOST_MARKS] for view, keys in lasting.columns.items()},
        marks={view: ids[-MOST_MARKS:] for view, ids in lasting.marks.items() if ids},
        filters=tuple(each for each in lasting.filters if len(each) <= LONGEST and _is_filter(each))[-MOST_FILTERS:],
        theme=lasting.theme,
        greeted=lasting.greeted,
    )


def _is_sound(place: Location) -> bool:
    # Two rows side by side are rows of a view.
    paired = place.view == SIDE_BY_SIDE and len(place.pair) == 2
    spec = find(place.of if paired else place.view)
    if spec is None or not spec.listed or paired != bool(place.pair):
        return False
    aspected = not place.aspect or (spec.aspects and not paired)
    values = [*(getattr(place, each.name) for each in fields(Location)), *place.pair, *place.sides]
    texts = [value.text if isinstance(value, Filter) else value for value in values]
    short = all(len(text) <= LONGEST for text in texts if isinstance(text, str))
    filters = (place.scope.text, place.filter.text, *place.pair)
    sided = len(place.sides) == (2 if spec.sides and not paired else 0)
    return short and sided and aspected and place.index >= 0 and all(_is_filter(each) for each in filters)


def _is_filter(expression: str) -> bool:
    try:
        parse(expression)
    except FilterError:
        return False
    return True


FOLDER = "explorer"
LARGEST = 4 << 20


def session_path(location: str, directory: Path) -> Path:
    """Return the file that belongs to a store, by whichever path the store is called."""
    return directory / FOLDER / f"{file_name(store_place(location))}.json"


class SessionFile:
    """Keep the state of a session in a file; without one, for as long as it lives itself.

    `complaint` shows what was wrong with the file. `fresh` ignores what it has, without losing it: only what is changed
    replaces what was kept. The same applies between two explorers on one store, of which each writes no more than what
    was changed in it.
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

    @property
    def shows_preview(self) -> bool:
        """Return whether wide screens show what a row leads to."""
        return self.state.preview

    def set_preview(self, shown: bool) -> None:
        """Keep whether wide screens show what a row leads to."""
        self._change("preview", "", preview=shown)

    def greets(self) -> bool:
        """Return whether nobody opened the store before, which is kept from then on; without a file nobody is new."""
        is_new = self.path is not None and not self.state.greeted
        if is_new:
            self._change("greeted", "", greeted=True)
        return is_new

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

        Raises `OutputError` if it cannot be written; it is tried again with the next change.
        """
        with self._lock:
            parts = set(self._unwritten)
            if self.path is None or not parts:
                return
            self._unwritten -= parts
            try:
                others, complaint = _read(self.path)
                self._write(self.path, overlaid(self.state if complaint else others, self.state, parts))
            except BaseException:
                self._unwritten |= parts
                raise

    def _write(self, path: Path, lasting: SessionState) -> None:
        try:
            text = f"{encoded(lasting, self.store).decode()}\n"
        except UnicodeEncodeError as error:
            raise OutputError(f"{path}: not written, for a name or a filter here is not text") from error
        with writing(str(path)):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)

        def fill(file: TextIO) -> None:
            file.write(text)

        write_whole(path, fill)


def _read(path: Path) -> tuple[SessionState, str]:
    """Return what a file has, nothing if there is none, and why it has nothing."""
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
