"""What the keys of a voice call do: go nearer to its lanes, along them, and to all that is known of a moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

Handler = Callable[["ExplorerScreen"], None]


def _zoom(*, nearer: bool) -> Handler:
    def zoom(screen: ExplorerScreen) -> None:
        if screen.head.lanes is not None:
            screen.head.lanes.zoom(nearer)
            screen.head.draw()
            screen.tell()

    return zoom


def _pan(direction: int) -> Handler:
    def pan(screen: ExplorerScreen) -> None:
        if screen.head.lanes is not None:
            screen.head.lanes.pan(direction)
            screen.head.draw()

    return pan


LANE_HANDLERS: Mapping[str, Handler] = {
    "zoom_in": _zoom(nearer=True),
    "zoom_out": _zoom(nearer=False),
    "pan_left": _pan(-1),
    "pan_right": _pan(1),
}
