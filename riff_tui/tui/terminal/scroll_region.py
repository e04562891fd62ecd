"""Let the terminal itself move lines that it already shows, so that scrolling by a line sends a line and not a page."""

from __future__ import annotations

from textual.widget import Widget

FARTHEST = 4
_INDEX = "\x1bD"
_REVERSE_INDEX = "\x1bM"


def can_shift(widget: Widget, by: int, beside: Widget | None = None, *, farthest: int = FARTHEST) -> bool:
    """Whether the terminal's lines below a widget are its own, from edge to edge, and nothing is drawn over them.

    Those `beside` it are shifted as well.
    """
    app = widget.app
    wide = widget.region.width
    if beside is not None and (beside.region.y, beside.region.height) == (widget.region.y, widget.region.height):
        wide += beside.region.width
    return (
        0 < abs(by) <= farthest
        and not app.is_headless
        and widget.screen.is_active
        and widget.screen.get_widget_at(0, widget.region.bottom - 1)[0] is widget
        and widget.region.x == 0
        and wide == app.size.width
    )


def shift(widget: Widget, first: int, height: int, by: int) -> None:
    """Move `height` lines from line `first` of the screen up by some (down where negative); new lines are blank."""
    if widget.app._driver is not None:
        widget.app._driver.write(shifted(first, height, by))


def shifted(first: int, height: int, by: int) -> str:
    """What makes a terminal do that: a scrolling region of these lines, and line feeds at its edge."""
    edge, feed = (first + height, _INDEX * by) if by > 0 else (first + 1, _REVERSE_INDEX * -by)
    return f"\x1b[{first + 1};{first + height}r\x1b[{edge};1H{feed}\x1b[r"
