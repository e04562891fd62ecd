"""Move in what is shown: rows and columns, the neighbour graph, the lanes of a voice call, the pane of details."""

from __future__ import annotations

from functools import partial

from riff_tui.tui.actions.action import IN_LISTS, Action, Controls, Run, needs_rows
from riff_tui.tui.controllers.search import FindTarget
from riff_tui.tui.widgets.line_table import LineTable


def _move(rows: int) -> Run:
    def move(controls: Controls) -> None:
        if controls.header.focused_graph:
            controls.header.move(rows, 0)
        else:
            controls.host.body.move(rows)

    return move


def _sideways(columns: int) -> Run:
    def sideways(controls: Controls) -> None:
        body = controls.host.body
        if controls.header.focused_graph:
            controls.header.move(0, columns)
        elif isinstance(body, LineTable):
            body.sideways(columns)

    return sideways


def _page(pages: int) -> Run:
    return lambda controls: (controls.detail if controls.detail.covers else controls.host.body).page(pages)


def _to_end(end: int) -> Run:
    return lambda controls: controls.host.body.to_end(end)


def _to_bad(direction: int) -> Run:
    def to_bad(controls: Controls) -> None:
        body = controls.host.body
        if not body.to_bad(direction):
            then = partial(body.to_bad, direction, whole=True)
            controls.finder.find(FindTarget("bad cell", body.is_bad, then), direction)

    return to_bad


def _needs_cells(controls: Controls) -> str:
    return "a conversation has lines, not cells" if controls.is_call else needs_rows(controls)


MOVES: tuple[Action, ...] = (
    Action("down", ("j", "↓"), "down", "Move one row down.", "Move", _move(1)),
    Action("up", ("k", "↑"), "up", "Move one row up.", "Move", _move(-1)),
    Action("page_down", ("PgDn", "Space"), "page down", "Move one page down.", "Move", _page(1)),
    Action("page_up", ("PgUp",), "page up", "Move one page up.", "Move", _page(-1)),
    Action("first", ("g", "Home"), "first row", "Move to the first row.", "Move", _to_end(-1)),
    Action("last", ("G", "End"), "last row", "Move to the last row.", "Move", _to_end(1)),
    Action(
        "left",
        ("h", "←"),
        "left",
        "Move the column cursor to the left.",
        "Move",
        _sideways(-1),
        _needs_cells,
        kinds=IN_LISTS,
    ),
    Action(
        "right",
        ("l", "→"),
        "right",
        "Move the column cursor to the right.",
        "Move",
        _sideways(1),
        _needs_cells,
        kinds=IN_LISTS,
    ),
    Action(
        "next_bad",
        ("e",),
        "next bad",
        "Go to the next bad cell, however far down.",
        "Move",
        _to_bad(1),
        needs_rows,
    ),
    Action("previous_bad", ("E",), "previous bad", "Go to the previous bad cell.", "Move", _to_bad(-1), needs_rows),
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
    return lambda controls: controls.detail.turn(lines)


def _needs_pane(controls: Controls) -> str:
    return "" if controls.detail.is_visible else "the detail pane is closed; p opens it"


def _needs_farther_lanes(controls: Controls) -> str:
    lanes = controls.header.lanes
    if lanes is None:
        return "only a voice call has lanes"
    return "this is as near as it goes" if lanes.nearness == "nearest" else ""


def _needs_part_of_lanes(controls: Controls) -> str:
    lanes = controls.header.lanes
    if lanes is None:
        return "only a voice call has lanes"
    return "the whole call is shown; > goes nearer" if lanes.nearness == "all" else ""


PANES: tuple[Action, ...] = (
    Action(
        "pane",
        ("p",),
        "details",
        "In a list, tell all of the row under the cursor in a pane that follows it, with 95 % intervals and why cells"
        " are marked.",
        "Look",
        lambda controls: controls.detail.toggle(),
        lambda controls: "" if controls.detail.is_visible else needs_rows(controls),
        lambda controls: "close details" if controls.detail.is_visible else "details",
        kinds=IN_LISTS,
    ),
    Action("pane_down", ("J",), "pane down", "Scroll the pane down.", "Look", _turn_pane(3), _needs_pane),
    Action("pane_up", ("K",), "pane up", "Scroll the pane up.", "Look", _turn_pane(-3), _needs_pane),
    Action(
        "zoom_in",
        (">",),
        "nearer",
        "Go nearer to the lanes of a voice call.",
        "Look",
        _zoom(nearer=True),
        _needs_farther_lanes,
    ),
    Action("zoom_out", ("<",), "farther", "Show more of the lanes.", "Look", _zoom(nearer=False), _needs_part_of_lanes),
    Action("pan_left", (",",), "earlier", "Show an earlier part of the lanes.", "Look", _pan(-1), _needs_part_of_lanes),
    Action("pan_right", (".",), "later", "Show a later part of the lanes.", "Look", _pan(1), _needs_part_of_lanes),
)
