"""Handle the keys that move what is shown: rows and columns, the neighbour graph, lanes and the pane of details."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from riff_tui.tui.actions.controls import Controls
from riff_tui.tui.controllers.search import FindTarget
from riff_tui.tui.widgets.line_table import LineTable

Handler = Callable[[Controls], None]


def _move(rows: int) -> Handler:
    def move(controls: Controls) -> None:
        if controls.header.focused_graph:
            controls.header.move(rows, 0)
        else:
            controls.host.body.move(rows)

    return move


def _sideways(columns: int) -> Handler:
    def sideways(controls: Controls) -> None:
        body = controls.host.body
        if controls.header.focused_graph:
            controls.header.move(0, columns)
        elif isinstance(body, LineTable):
            body.sideways(columns)

    return sideways


def _page(pages: int) -> Handler:
    return lambda controls: (controls.detail if controls.detail.covers else controls.host.body).page(pages)


def _to_end(end: int) -> Handler:
    return lambda controls: controls.host.body.to_end(end)


def _to_bad(direction: int) -> Handler:
    def to_bad(controls: Controls) -> None:
        body = controls.host.body
        if not body.to_bad(direction):
            arrive = partial(body.to_bad, direction, whole=True)
            controls.finder.find(FindTarget("bad cell", body.is_bad, arrive), direction)

    return to_bad


def _zoom(*, nearer: bool) -> Handler:
    def zoom(controls: Controls) -> None:
        if controls.header.lanes is not None:
            controls.header.lanes.zoom(nearer)
            controls.header.draw()
            controls.host.update_lines()

    return zoom


def _pan(direction: int) -> Handler:
    def pan(controls: Controls) -> None:
        if controls.header.lanes is not None:
            controls.header.lanes.pan(direction)
            controls.header.draw()

    return pan


def _turn_pane(lines: int) -> Handler:
    return lambda controls: controls.detail.turn(lines)


CURSOR_HANDLERS: Mapping[str, Handler] = {
    "down": _move(1),
    "up": _move(-1),
    "page_down": _page(1),
    "page_up": _page(-1),
    "first": _to_end(-1),
    "last": _to_end(1),
    "left": _sideways(-1),
    "right": _sideways(1),
    "next_bad": _to_bad(1),
    "previous_bad": _to_bad(-1),
    "zoom_in": _zoom(nearer=True),
    "zoom_out": _zoom(nearer=False),
    "pan_left": _pan(-1),
    "pan_right": _pan(1),
    "pane_down": _turn_pane(3),
    "pane_up": _turn_pane(-3),
}
