"""What actions do with the rows and columns of a list: marks, pairs, columns, the pane and the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from riff_tui.tui.actions.column_dialog import choose_columns
from riff_tui.tui.actions.file_export import FileExport, proposed, target, to_write
from riff_tui.tui.navigation.pairs import pair_ids, pair_location, swapped
from riff_tui.tui.widgets.file_prompt import Document, FilePrompt

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

Handler = Callable[["ExplorerScreen"], None]


def _mark(screen: ExplorerScreen) -> None:
    row, place = screen.table.row, screen.history.here
    if row is None or not row.id:
        screen.say("the row is still being read", "warn")
        return
    screen.list_state.marks.toggle(place, row, screen.table.cursor)
    screen.table.mark(screen.list_state.marks.of(place))
    screen.tell()


def _next_mark(screen: ExplorerScreen) -> None:
    table = screen.table
    index = screen.list_state.marks.next(screen.history.here, table.table.rows, table.cursor)
    if index is None:
        screen.say("no marked row is among those that are shown; Esc clears a filter, x the marks", "warn")
    elif index == table.cursor:
        screen.say("this is the only marked row that is shown", "warn")
    else:
        table.cursor = index


def _clear_marks(screen: ExplorerScreen) -> None:
    count = screen.list_state.marks.clear(screen.history.here)
    screen.table.mark(())
    screen.tell()
    screen.say(f"{count} {'mark' if count == 1 else 'marks'} cleared")


def _compare(screen: ExplorerScreen) -> None:
    here, reading = screen.history.here, screen.loaded
    if reading is None:
        return
    screen.settle()
    if here.sides:
        screen.visit(screen.history.instead(replace(screen.history.here, sides=here.sides[::-1])))
        return
    if here.pair:
        screen.visit(screen.history.alter(swapped(screen.history.here)))
        return
    ids = pair_ids(screen.list_state.marks.of(here), screen.table.row)
    screen.visit(screen.history.down(pair_location(here, reading.main, ids)))


def _wide(screen: ExplorerScreen) -> None:
    before = screen.list_state.choice(screen.history.here)
    choice = replace(before, wide=not before.wide)
    screen.choose(choice)
    screen.say("columns at their full width; h and l scroll" if choice.wide else "columns fitted to the screen")


def _pane(screen: ExplorerScreen) -> None:
    screen.detail.toggle()


def _turn(lines: int) -> Handler:
    return lambda screen: screen.detail.turn(lines)


def _write(screen: ExplorerScreen) -> None:
    reading, place = screen.loaded, screen.history.here
    if reading is None:
        return
    choice, show = screen.list_state.choice(place), screen.show_view

    def write(typed: str, writing: FileExport, over: bool) -> Path:
        path, form = target(typed, reading.source)
        writing.write(to_write(show, place, reading, choice, form), path, form, over=over, ascii_only=False)
        return path

    screen.query_one(FilePrompt).ask(Document(proposed(place), write, lambda path: screen.say(f"written to {path}")))


def _last_view(screen: ExplorerScreen) -> None:
    screen.settle()
    screen.visit(screen.history.to_last())


LIST_HANDLERS: Mapping[str, Handler] = {
    "mark": _mark,
    "next_mark": _next_mark,
    "clear_marks": _clear_marks,
    "compare": _compare,
    "columns": choose_columns,
    "wide": _wide,
    "pane": _pane,
    "pane_down": _turn(3),
    "pane_up": _turn(-3),
    "write": _write,
    "last_view": _last_view,
}
