"""Show a box of items to tick over the screen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip

from riff_tui.text.column_fit import fitted
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width, fit, padded
from riff_tui.tui.render.styled_lines import PALETTES, Line, Palette, strip_of
from riff_tui.tui.widgets.overlay import Overlay

_FRAME = 2
_FAR = 10_000
_KEYS = "Space shows or hides · Enter applies · r resets · Esc cancels"


@dataclass(frozen=True, slots=True)
class CheckItem:
    """Hold an item to tick: its key, and safe words about it; a `faint` one makes no difference here."""

    key: str
    title: str
    about: str
    faint: bool = False


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Hold the box's safe title and items, what is ticked, what is `usual`, and what to call with the choice."""

    title: str
    items: Sequence[CheckItem]
    ticked: Collection[str]
    usual: Collection[str]
    on_apply: Callable[[Collection[str]], None]


_NOTHING = CheckRequest("", (), (), (), lambda ticked: None)


class CheckList(Overlay, can_focus=True):
    """Let items be ticked by key, as `[x]` or `[ ]`; the lines scroll if they do not fit."""

    DEFAULT_CSS = """
    CheckList { dock: right; width: 90; max-width: 100%; max-height: 100%; margin: 1 0 1 0; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("g,home", f"move({-_FAR})", show=False),
        Binding("G,end", f"move({_FAR})", show=False),
        Binding("space,x", "tick", show=False),
        Binding("r", "restore", show=False),
        Binding("enter", "apply", show=False),
        Binding("escape,q,backspace,c", "leave", show=False),
    ]
    cursor: reactive[int] = reactive(0, repaint=False)

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self.ticked: set[str] = set()
        self._request = _NOTHING
        self._room = 0

    def ask(self, request: CheckRequest) -> None:
        """Show what there is to tick."""
        self._request, self.ticked = request, set(request.ticked)
        self._room = max((cell_width(item.title) for item in request.items), default=0)
        self.set_reactive(CheckList.cursor, 0)
        self.styles.height = len(request.items) + _FRAME
        self.open()

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.cursor += rows

    def action_tick(self) -> None:
        """Tick or untick the item under the cursor."""
        self.ticked ^= {self._request.items[self.cursor].key}
        self._refresh_item(self.cursor)

    def action_restore(self) -> None:
        """Tick the usual items and no others."""
        self.ticked = set(self._request.usual)
        self.refresh()

    def action_apply(self) -> None:
        """Take what is ticked."""
        self.close()
        self._request.on_apply(self.ticked)

    def action_leave(self) -> None:
        """Close without a change."""
        self.leave()

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._request.items) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        if self._top(old) != self._top(new):
            self.refresh()
        else:
            self._refresh_item(old)
            self._refresh_item(new)

    def render_line(self, y: int) -> Strip:
        width, box = self.size.width, self.glyphs.box
        if y == 0:
            return self._edge(self._request.title, box["es"], box["sw"])
        if y == self.size.height - 1:
            return self._edge(_KEYS if not self.glyphs.ascii_only else _KEYS.replace("·", "-"), box["ne"], box["nw"])
        index = self._top(self.cursor) + y - 1
        if index >= len(self._request.items):
            return strip_of(((box["ns"] + " " * (width - 2) + box["ns"], None),), width)
        item = self._request.items[index]
        text = fitted(self._item_text(item), width - 4, self.glyphs.ellipsis)
        style = self.palette.faint if item.faint else None
        style = self.palette.cursor if index == self.cursor else style
        return strip_of(((box["ns"], None), (f" {text} ", style), (box["ns"], None)), width)

    def on_click(self, event: events.Click) -> None:
        index = self._top(self.cursor) + event.y - 1
        if 0 < event.y < self.size.height - 1 and index < len(self._request.items):
            self.cursor = index
            self.action_tick()

    def on_resize(self) -> None:
        self.refresh()

    def _top(self, cursor: int) -> int:
        """Return the first item in view, with the cursor in the middle if it can be."""
        inside = max(1, self.size.height - _FRAME)
        return max(0, min(cursor - inside // 2, len(self._request.items) - inside))

    def _refresh_item(self, index: int) -> None:
        self.refresh(Region(0, index - self._top(self.cursor) + 1, self.size.width, 1))

    def _item_text(self, item: CheckItem) -> str:
        tick = "[x]" if item.key in self.ticked else "[ ]"
        return f"{tick} {padded(item.title, self._room)}  {item.about}"

    def _edge(self, text: str, left: str, right: str) -> Strip:
        rule, width = self.glyphs.box["ew"], self.size.width
        said = fit(f" {text} ", width - 4, self.glyphs.ellipsis)
        line: Line = (
            (left + rule, None),
            (said, self.palette.head if left == self.glyphs.box["es"] else self.palette.faint),
            (rule * (width - 3 - cell_width(said)) + right, None),
        )
        return strip_of(line, width)
