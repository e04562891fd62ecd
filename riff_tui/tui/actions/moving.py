"""Move in what is shown, and go from match to match, from call to call of a list, and to the next unread one."""

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
from riff_tui.tui.controllers.search import FindTarget
from riff_tui.tui.data.lists import PAGE, PagedRows, is_loaded
from riff_tui.tui.data.loader import is_begun
from riff_tui.tui.navigation.location import descend
from riff_tui.tui.render.headers import Nearness
from riff_tui.tui.widgets.line_table import LineTable


def _move(controls: Controls, rows: int) -> None:
    if controls.header.focused_graph:
        controls.header.move(rows, 0)
        controls.host.update_lines()
    else:
        controls.host.body.move(rows)


def _sideways(columns: int) -> Run:
    def sideways(controls: Controls) -> None:
        body = controls.host.body
        if controls.header.focused_graph:
            controls.header.move(0, columns)
            controls.host.update_lines()
        elif isinstance(body, LineTable):
            body.sideways(columns)

    return sideways


def _page(controls: Controls, pages: int) -> None:
    (controls.detail.pane if controls.detail.covers else controls.host.body).page(pages)


def _to_end(end: int) -> Run:
    return lambda controls: controls.host.body.to_end(end)


def _to_bad(direction: int) -> Run:
    def to_bad(controls: Controls) -> None:
        body = controls.host.body
        if not body.to_bad(direction):
            then = partial(body.to_bad, direction, whole=True)
            name = "moment of trouble" if controls.is_call else "bad cell"
            controls.finder.find(FindTarget(name, body.is_bad, then), direction)

    return to_bad


def _needs_cells(controls: Controls) -> str:
    return "a conversation has lines, not cells" if controls.is_call else needs_rows(controls)


MOVES: tuple[Action, ...] = (
    Action("down", ("j", "↓"), "down", "Move one row down.", partial(_move, rows=1)),
    Action("up", ("k", "↑"), "up", "Move one row up.", partial(_move, rows=-1)),
    Action("page_down", ("PgDn", "Space"), "page down", "Move one page down.", partial(_page, pages=1)),
    Action("page_up", ("PgUp",), "page up", "Move one page up.", partial(_page, pages=-1)),
    Action("first", ("g", "Home"), "first row", "Move to the first row.", _to_end(-1)),
    Action("last", ("G", "End"), "last row", "Move to the last row.", _to_end(1)),
    Action(
        "left", ("h", "←"), "left", "Move the column cursor to the left.", _sideways(-1), _needs_cells, kinds=IN_LISTS
    ),
    Action(
        "right", ("l", "→"), "right", "Move the column cursor to the right.", _sideways(1), _needs_cells, kinds=IN_LISTS
    ),
    Action(
        "next_bad",
        ("e",),
        "next bad",
        "Go to the next bad cell, however far down; in a call to the next moment of trouble.",
        _to_bad(1),
        needs_rows,
        lambda controls: "next trouble" if controls.is_call else "next bad",
    ),
    Action(
        "previous_bad",
        ("E",),
        "previous bad",
        "Go to the previous bad cell, or moment of trouble.",
        _to_bad(-1),
        needs_rows,
        lambda controls: "previous trouble" if controls.is_call else "previous bad",
    ),
)


def _zoom(*, nearer: bool) -> Run:
    def zoom(controls: Controls) -> None:
        if controls.header.lanes is not None:
            controls.header.lanes.zoom(nearer)
            controls.header.draw()
            controls.host.update_lines()

    return zoom


def _pan(direction: int) -> Run:
    def pan(controls: Controls) -> None:
        if controls.header.lanes is not None:
            controls.header.lanes.pan(direction)
            controls.header.draw()

    return pan


def _turn_pane(lines: int) -> Run:
    return lambda controls: controls.detail.pane.move(lines)


def _needs_pane(controls: Controls) -> str:
    return "" if controls.detail.is_visible else f"the detail pane is closed; {controls.key_of('pane')} opens it"


def _needs_lanes(controls: Controls, unless: Nearness, reason: str) -> str:
    lanes = controls.header.lanes
    if lanes is None:
        return "only a voice call has lanes"
    return reason if lanes.nearness == unless else ""


_needs_farther_lanes = partial(_needs_lanes, unless="nearest", reason="this is as near as it goes")
_needs_part_of_lanes = partial(_needs_lanes, unless="all", reason="the whole call is shown; > goes nearer")


PANES: tuple[Action, ...] = (
    Action(
        "pane",
        ("p",),
        "details",
        "In a list, show what the row under the cursor leads to, and all of its figures, beside the list or below it.",
        lambda controls: controls.detail.toggle(),
        lambda controls: "" if controls.detail.is_visible else needs_rows(controls),
        lambda controls: "close details" if controls.detail.is_visible else "details",
        kinds=IN_LISTS,
    ),
    Action("pane_down", ("J",), "pane down", "Scroll the pane down.", _turn_pane(3), _needs_pane),
    Action("pane_up", ("K",), "pane up", "Scroll the pane up.", _turn_pane(-3), _needs_pane),
    Action(
        "zoom_in", (">",), "nearer", "Go nearer to the lanes of a voice call.", _zoom(nearer=True), _needs_farther_lanes
    ),
    Action("zoom_out", ("<",), "farther", "Show more of the lanes.", _zoom(nearer=False), _needs_part_of_lanes),
    Action("pan_left", (",",), "earlier", "Show an earlier part of the lanes.", _pan(-1), _needs_part_of_lanes),
    Action("pan_right", (".",), "later", "Show a later part of the lanes.", _pan(1), _needs_part_of_lanes),
)


def _sibling(controls: Controls, direction: int) -> None:
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


def _match(controls: Controls, direction: int) -> None:
    if not controls.is_call:
        controls.search.step(direction)
    elif not controls.search.step_within(direction):
        if direction < 0:
            controls.search.begin_at_end()
        _sibling(controls, direction)


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
        "In a call, the next one of the same list; with a search its next match, as long as one follows.",
        partial(_match, direction=1),
        lambda controls: "" if controls.searched else needs_siblings(controls),
        lambda controls: "next match" if controls.searched else "next",
        kinds=IN_CALLS,
    ),
    Action(
        "previous",
        ("p",),
        "previous",
        "The previous conversation of the same list.",
        partial(_sibling, direction=-1),
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
        partial(_match, direction=1),
        _needs_words,
        kinds=IN_LISTS,
    ),
    Action(
        "previous_match",
        ("N",),
        "previous match",
        "The previous match; in a conversation with a search the same, and then the previous conversation.",
        partial(_match, direction=-1),
        _needs_words,
    ),
)


def _next_unread(controls: Controls) -> None:
    """Go to the next call of the list that the person who reads has noted nothing on; report it if none follows."""
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
        host.say(f"no unread call after this one; before it there are: {controls.key_of('previous')} goes back", "warn")
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
    _next_unread,
    lambda controls: needs_notebook(controls) or needs_siblings(controls),
    kinds=IN_CALLS,
)
