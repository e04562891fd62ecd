"""What the keys of a voice call do: go nearer to its lanes, along them, and to all that is known of a moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

Listening = Callable[["ExplorerScreen"], None]


def _zoom(*, nearer: bool) -> Listening:
    def zoom(screen: ExplorerScreen) -> None:
        if screen.head.lanes is not None:
            screen.head.lanes.zoom(nearer)
            screen.head.draw()
            screen.tell()

    return zoom


def _pan(direction: int) -> Listening:
    def pan(screen: ExplorerScreen) -> None:
        if screen.head.lanes is not None:
            screen.head.lanes.pan(direction)
            screen.head.draw()

    return pan


LISTENINGS: Mapping[str, Listening] = {
    "zoom_in": _zoom(nearer=True),
    "zoom_out": _zoom(nearer=False),
    "pan_left": _pan(-1),
    "pan_right": _pan(1),
}
