"""A small list over the table says which of its columns to show."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from riff_tui.glyphs import Glyphs
from riff_tui.table import Column, Table
from riff_tui.tui.choice import AS_IT_IS, INTERVAL, Choice, offered
from riff_tui.tui.columns import every, for_screen, has_values, shown, title
from riff_tui.tui.palette import Palette
from riff_tui.tui.widgets.bars import BottomLine
from riff_tui.tui.widgets.checks import Check, Checks

_HINTS = (("Space", "shows or hides"), ("Enter", "applies"), ("r", "as it was"), ("Esc", "leaves"))
_WIDEST = 90
_FAR = 10_000


class Choosing(ModalScreen[Choice | None], inherit_bindings=False):
    """Asks which columns to show; gives the choice, or nothing where it was left."""

    DEFAULT_CSS = """
    Choosing { background: transparent; align: right top; }
    Choosing Checks { margin: 1 1 1 1; }
    Choosing BottomLine { dock: bottom; background: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("g,home", f"move({-_FAR})", show=False),
        Binding("G,end", f"move({_FAR})", show=False),
        Binding("space,x", "tick", show=False),
        Binding("r", "restore", show=False),
        Binding("enter", "apply", show=False),
        Binding("escape,q,backspace,c", "dismiss", show=False),
        Binding("Q", "app.quit", show=False),
    ]

    def __init__(self, table: Table, hide: frozenset[str], choice: Choice, glyphs: Glyphs, palette: Palette) -> None:
        super().__init__()
        self._table, self._hide, self._choice = table, hide, choice
        self._glyphs, self._palette = glyphs, palette
        self._offered = offering(table, hide)
        self._usual = self._keys(AS_IT_IS)

    def compose(self) -> ComposeResult:
        checks = [self._check(column) for column in self._offered]
        ticked = self._keys(self._choice)
        yield Checks(f"columns of {self._table.view}", checks, ticked, self._glyphs, self._palette)
        yield BottomLine(palette=self._palette, glyphs=self._glyphs)

    def on_mount(self) -> None:
        self.on_resize()
        self.query_one(BottomLine).hint(_HINTS)

    def on_resize(self) -> None:
        checks = self.query_one(Checks)
        checks.styles.width = min(_WIDEST, self.app.size.width - 2)
        checks.styles.height = min(checks.height, self.app.size.height - 3)

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.query_one(Checks).move(rows)

    def action_tick(self) -> None:
        """Show or hide the column under the cursor."""
        self.query_one(Checks).toggle()

    def action_restore(self) -> None:
        """Tick what the view shows by itself."""
        self.query_one(Checks).take(self._usual)

    def action_apply(self) -> None:
        """Take the choice."""
        keys = [column.key for column in self._offered]
        self.dismiss(self._choice.asking(self._usual, self.query_one(Checks).ticked, keys))

    def _keys(self, choice: Choice) -> set[str]:
        return {column.key for column in for_screen(self._table, self._hide, choice)}

    def _check(self, column: Column) -> Check:
        indent = "  " if column.key.startswith(INTERVAL) else ""
        unit = f" [{column.unit}]" if column.unit else ""
        empty = not has_values(self._table, column)
        about = f"{column.help}{unit}{' Nothing of it here.' if empty else ''}"
        return Check(column.key, indent + title(column, self._glyphs, short=False), shown(about, self._glyphs), empty)


def offering(table: Table, hide: frozenset[str]) -> list[Column]:
    """The columns that one can show or hide: not the names that stay, nor those of which the place fixes the value."""
    return [column for column in offered(table, every(table)) if column.key not in hide]
