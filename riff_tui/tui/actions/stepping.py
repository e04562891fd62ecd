"""Go from match to match, from call to call of the list that one was opened from, and to the next unread one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from riff_store.write.names import CallNames
from riff_tui.table import Row, Table
from riff_tui.tui.actions.action import (
    IN_CALLS,
    IN_LISTS,
    Action,
    Controls,
    Run,
    needs_notebook,
    needs_rows,
    needs_siblings,
)
from riff_tui.tui.data.loader import is_begun
from riff_tui.tui.data.paged_rows import PAGE, PagedRows, is_loaded
from riff_tui.tui.navigation.location import descend

# From call to call


def _sibling(direction: int) -> Run:
    def go(controls: Controls) -> None:
        host, navigator = controls.host, controls.navigator
        table, position = navigator.list_above(), navigator.position()
        if table is None or position is None:
            host.say("nothing further matches here, and no list leads to another conversation", "warn")
            return
        index = position[0] - 1 + direction
        if index < 0:
            host.say("this is the first of the list", "warn")
        elif index >= len(table.rows):
            host.say(f"this is the last of the list{' so far' if is_begun(table) else ''}", "warn")
        elif is_loaded(table.rows, index):
            _visit_sibling(controls, table, index)
        else:
            controls.opening.begin(partial(_load_sibling, controls, table, index), "calls", is_for_text=False)

    return go


async def _load_sibling(controls: Controls, table: Table, index: int) -> None:
    """Load the row of a call and open it, unless one went elsewhere meanwhile."""
    host, before = controls.host, controls.here.cache_key
    if isinstance(table.rows, PagedRows) and not is_loaded(table.rows, index):
        await host.worker.ask(partial(table.rows.load, index // PAGE))
    if host.location.cache_key == before:
        _visit_sibling(controls, table, index)


def _visit_sibling(controls: Controls, table: Table, index: int) -> None:
    host = controls.host
    row, history = table.rows[index], host.history
    above = replace(history.stack[-2], row=row.id, index=index)
    location = descend(above, table, row)
    if location is None:
        host.say("that call is gone from the store", "warn")
    else:
        host.visit(history.go((*history.stack[:-2], above, location)))


# From match to match


def _match(direction: int) -> Run:
    def match(controls: Controls) -> None:
        if not controls.is_call:
            controls.search.step(direction)
        elif not controls.search.step_within(direction):
            if direction < 0:
                controls.search.begin_at_end()
            _sibling(direction)(controls)

    return match


def _needs_words(controls: Controls) -> str:
    if controls.searched:
        return needs_rows(controls)
    if controls.is_call:
        return "no search was typed: / takes one"
    return "no filter was typed yet: / takes one, and once Esc shows all rows again, n goes to those that match"


IN_CALL: tuple[Action, ...] = (
    Action(
        "next",
        ("n",),
        "next",
        "The next match of the search; without one, or where no more follows, the next conversation of the same list.",
        "Go",
        _match(1),
        lambda controls: "" if controls.searched else needs_siblings(controls),
        lambda controls: "next match" if controls.searched else "next",
        kinds=IN_CALLS,
    ),
    Action(
        "previous",
        ("p",),
        "previous",
        "The previous conversation of the same list.",
        "Go",
        _sibling(-1),
        needs_siblings,
        kinds=IN_CALLS,
    ),
)
MATCHES: tuple[Action, ...] = (
    Action(
        "next_match",
        ("n",),
        "next match",
        "The next row that the last filter matches, once Esc shows all rows again.",
        "Find",
        _match(1),
        _needs_words,
        kinds=IN_LISTS,
    ),
    Action(
        "previous_match",
        ("N",),
        "previous match",
        "The previous match; in a conversation with a search the same, and then the previous conversation.",
        "Find",
        _match(-1),
        _needs_words,
    ),
)

# To what is not read


def _next_unread(controls: Controls) -> None:
    """Go to the next call of the list that the person who reads has noted nothing on; say so where none follows."""
    navigator = controls.navigator
    table, position = navigator.list_above(), navigator.position()
    if table is None or position is None:
        controls.host.say("no list leads to another call", "warn")
    else:
        controls.opening.begin(partial(_find_unread, controls, table, position[0]), "calls", is_for_text=False)


async def _find_unread(controls: Controls, table: Table, after: int) -> None:
    host, source, notebook = controls.host, controls.backend.notes, controls.backend.notebook
    if source is None or notebook is None:
        return
    location = host.location

    def search() -> tuple[int | None, bool]:
        read = _ReadCalls(source.read_by(notebook.author))
        found = next(read.unread(table.rows, after, len(table.rows)), None)
        return found, found is None and next(read.unread(table.rows, 0, after), None) is not None

    found, is_one_before = await host.worker.ask(search)
    if host.location.cache_key != location.cache_key:
        return
    if found is not None:
        await _load_sibling(controls, table, found)
    elif is_one_before:
        host.say("no unread call after this one; before it there are: p goes back", "warn")
    else:
        key = controls.actions["view:codes"].keys[0]
        host.say(f"all {len(table.rows):,} of this list are read · q and then {key} shows the codes of them")


class _ReadCalls:
    """Know which calls somebody has read."""

    def __init__(self, calls: Collection[CallNames]) -> None:
        self._known: dict[tuple[str, str], list[CallNames]] = {}
        for call in calls:
            self._known.setdefault((call.run, call.conversation), []).append(call)

    def unread(self, rows: Sequence[Row], start: int, stop: int) -> Iterator[int]:
        """Yield the indices of rows about calls that can be read and were not; it reads the rows page by page."""
        for first in range(start, stop, PAGE):
            last = min(first + PAGE, stop)
            page = rows.read(first, last) if isinstance(rows, PagedRows) else rows[first:last]
            yield from (first + at for at, row in enumerate(page) if row.where and self._is_unread(row.record))

    def _is_unread(self, record: Mapping[str, object]) -> bool:
        run, conversation = record.get("run"), record.get("conversation")
        if not isinstance(run, str) or not isinstance(conversation, str):
            return False
        others = ("flow", "agent", "trial")
        named = self._known.get((run, conversation), ())
        return not any(all(record.get(key) in (None, getattr(call, key)) for key in others) for call in named)


NEXT_UNREAD = Action(
    "next_unread",
    ("l",),
    "next unread",
    "From a call, go to the next one of its list that you have noted nothing on.",
    "Note",
    _next_unread,
    lambda controls: needs_notebook(controls) or needs_siblings(controls),
    kinds=IN_CALLS,
)
