"""What a screen is for, its keys and its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from riff_tui.actions import ACTIONS, Action, Situation
from riff_tui.catalog import resolve
from riff_tui.safe_text import cell_width, padded
from riff_tui.table import Column, Table
from riff_tui.tui.columns import for_screen, shown, title
from riff_tui.tui.lines import Line, wrapped
from riff_tui.tui.widgets.pages import Pages

if TYPE_CHECKING:
    from riff_tui.tui.app import Explorer

_IN_STATE = (
    "Below stand the conversations behind the state, those that stalled in it first.",
    "v puts the cursor into the graph: there Enter on a neighbour walks on to it.",
)
_GRAMMAR = (
    "dent            any name that holds these letters",
    "flow:dent  flow=dental_clinic       a field that holds, a field that is",
    "stall>0.3  slot_fill_rate=·         a number; not measured",
    "!x   a | b   (a b)   /re/           not, or, together, a regular expression",
)


class Help(ModalScreen[None], inherit_bindings=False):
    """The help of one place; any of its closing keys goes back."""

    DEFAULT_CSS = """
    Help { background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,backspace,enter", "dismiss", show=False),
        Binding("j,down", "turn(1)", show=False),
        Binding("k,up", "turn(-1)", show=False),
        Binding("pagedown,space", "turn(20)", show=False),
        Binding("pageup", "turn(-20)", show=False),
        Binding("g,home", "turn(-9999)", show=False),
        Binding("G,end", "turn(9999)", show=False),
        Binding("Q", "app.quit", show=False),
    ]

    def __init__(self, table: Table | None, situation: Situation, explorer: Explorer) -> None:
        super().__init__()
        self._table = table
        self._situation = situation
        self._explorer = explorer

    def compose(self) -> ComposeResult:
        yield Pages(self._lines)

    def action_turn(self, lines: int) -> None:
        """Scroll by some lines."""
        self.query_one(Pages).turn(lines)

    def _lines(self, width: int) -> list[Line]:
        palette = self._explorer.palette
        lines: list[Line] = [
            ((f" {self._situation.view}", palette.head), ("   Esc closes, j and k scroll", palette.faint))
        ]
        lines += [((f"  {piece}", None),) for line in self._about() for piece in wrapped(line, width - 3)]
        if self._table is not None:
            lines += self._columns(self._table, width)
            lines += self._notes(self._table, width)
        lines += self._keys(width)
        lines += [(), ((" Filter", palette.head),), *(((f"  {line}", None),) for line in _GRAMMAR)]
        return lines

    def _about(self) -> tuple[str, ...]:
        if self._situation.kind == "state":
            return (*resolve("neighbors").help, *_IN_STATE)
        return resolve(self._situation.view).help

    def _columns(self, table: Table, width: int) -> list[Line]:
        on_screen = for_screen(table)
        found = [column for column in (*on_screen, *table.columns) if column.help]
        found = list({column.key: column for column in found}.values())
        if not found:
            return []
        glyphs, palette = self._explorer.glyphs, self._explorer.palette
        names = [_both_titles(column, self._explorer) for column in found]
        room = min(24, max(cell_width(name) for name in names))
        lines: list[Line] = [(), ((" Columns", palette.head),)]
        for name, column in zip(names, found, strict=True):
            unit = f" [{shown(column.unit, glyphs)}]" if column.unit else ""
            good = f" {column.better} is better." if column.better else ""
            pieces = wrapped(f"{shown(column.help, glyphs)}{good}{unit}", width - room - 5)
            lines.append(((f"  {padded(name, room)}  ", palette.accent), (pieces[0], None)))
            lines += [((" " * (room + 4) + piece, None),) for piece in pieces[1:]]
        return lines

    def _notes(self, table: Table, width: int) -> list[Line]:
        glyphs, palette = self._explorer.glyphs, self._explorer.palette
        notes = [piece for note in table.notes for piece in wrapped(shown(note, glyphs), width - 3)]
        dump = wrapped(shown(table.dump, glyphs), width - 3) if table.dump else []
        lines: list[Line] = (
            [(), ((" Notes", palette.head),), *(((f"  {note}", None),) for note in notes)] if notes else []
        )
        if dump:
            lines += [(), ((" Prints the same", palette.head),), *(((f"  {piece}", None),) for piece in dump)]
        return lines

    def _keys(self, width: int) -> list[Line]:
        palette = self._explorer.palette
        lines: list[Line] = []
        group = ""
        room = max(cell_width(_spelled(action)) for action in ACTIONS)
        for action in ACTIONS:
            if action.group != group:
                group = action.group
                lines += [(), ((f" {group}", palette.head),)]
            refusal = action.refuse(self._situation)
            text = f"{action.help} (not now: {refusal})" if refusal else action.help
            pieces = wrapped(shown(text, self._explorer.glyphs), width - room - 5)
            style = palette.faint if refusal else None
            lines.append(((f"  {padded(_spelled(action), room)}  ", palette.accent), (pieces[0], style)))
            lines += [((" " * (room + 4) + piece, style),) for piece in pieces[1:]]
        return lines


def _spelled(action: Action) -> str:
    return " ".join(action.keys)


def _both_titles(column: Column, explorer: Explorer) -> str:
    short, full = (title(column, explorer.glyphs, short=each) for each in (True, False))
    return full if short == full else f"{short} ({full})"
