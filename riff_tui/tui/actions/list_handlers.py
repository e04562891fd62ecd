"""Handle the keys that change how a list is shown: its order, marks, pairs, columns, the pane, and a file of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from riff_tui.table import Column
from riff_tui.tui.actions.controls import Controls
from riff_tui.tui.actions.dialogs import choose_columns, show_columns
from riff_tui.tui.actions.file_export import FileExport, default_name, export_table, parse_target
from riff_tui.tui.actions.file_target import ask_for_file
from riff_tui.tui.data.loader import pair_ids, pair_location, swapped, tested_location
from riff_tui.tui.navigation.location import noun

Handler = Callable[[Controls], None]


def following_order(order: str | None, column: Column, *, other_way: bool) -> str | None:
    """Return the order (a column, `-` before it for downwards) after sorting by a column, `None` for the view's own.

    First comes the worst, then the best, then the view's own order; the `other_way` begins with the best and goes back
    and forth.
    """
    up, down = column.key, f"-{column.key}"
    rising = column.better == "higher" or column.kind in ("name", "text", "time")
    worst, best = (up, down) if rising else (down, up)
    if other_way:
        return worst if order == best else best
    if order == best:
        return None
    return best if order == worst else worst


def _sort(*, other_way: bool) -> Handler:
    def sort(controls: Controls) -> None:
        host, column = controls.host, controls.table.under
        if column is not None:
            history = host.history
            order = following_order(history.here.order or None, column, other_way=other_way)
            host.visit(history.sort(order or ""), remark=_order_remark(order, column, noun(history.here.view)))

    return sort


def _order_remark(order: str | None, column: Column, words: str) -> str:
    if order is None:
        return f"{words} in their own order; - undoes it"
    first = ("last", "first") if column.kind in ("name", "text") else ("highest", "lowest")
    if column.kind == "time":
        first = ("latest", "earliest")
    return f"sorted by {column.title}, {first[not order.startswith('-')]} first; - undoes it, O keeps it for {words}"


def _keep_order(controls: Controls) -> None:
    host = controls.host
    here, words = host.location, noun(host.location.view)
    if here.sort and here.sort != controls.list_state.kept_order(here):
        controls.list_state.keep_order(here, here.sort)
        host.say(f"{words} are sorted by {here.sort.removeprefix('-')} from now on; O again ends that")
    else:
        controls.list_state.keep_order(here, None)
        host.say(f"{words} begin in their own order again")
    host.update_lines()


def _mark(controls: Controls) -> None:
    host, table, row = controls.host, controls.table, controls.table.row
    if row is None or not row.id:
        host.say("the row is still being read", "warn")
        return
    controls.list_state.toggle_mark(host.location, row, table.cursor)
    table.mark(controls.list_state.marks(host.location))
    host.update_lines()


def _next_mark(controls: Controls) -> None:
    host, table = controls.host, controls.table
    index = controls.list_state.next_mark(host.location, table.table.rows, table.cursor)
    if index is None:
        host.say("no marked row is among those that are shown; Esc clears a filter, x the marks", "warn")
    elif index == table.cursor:
        host.say("this is the only marked row that is shown", "warn")
    else:
        table.cursor = index


def _clear_marks(controls: Controls) -> None:
    host = controls.host
    count = controls.list_state.clear_marks(host.location)
    controls.table.mark(())
    host.update_lines()
    host.say(f"{count} {'mark' if count == 1 else 'marks'} cleared")


def _compare(controls: Controls) -> None:
    host = controls.host
    history, loaded = host.history, host.loaded
    here = history.here
    if loaded is None:
        return
    if here.sides:
        host.visit(history.instead(replace(here, sides=here.sides[::-1])))
    elif here.pair:
        host.visit(history.alter(swapped(here)))
    else:
        ids = pair_ids(controls.list_state.marks(here), controls.table.row)
        tested = tested_location(here, loaded.main, ids)
        host.visit(history.down(tested or pair_location(here, loaded.main, ids)))


def _wide(controls: Controls) -> None:
    before = controls.list_state.columns(controls.host.location)
    choice = replace(before, wide=not before.wide)
    show_columns(controls, choice)
    controls.host.say("columns at their full width; h and l scroll" if choice.wide else "columns fitted to the screen")


def _pane(controls: Controls) -> None:
    controls.detail.toggle()


def _write(controls: Controls) -> None:
    host = controls.host
    loaded, location, show = host.loaded, host.location, host.show_view
    if loaded is None:
        return
    choice = controls.list_state.columns(location)

    def write(typed: str, export: FileExport, over: bool) -> Path:
        path, form = parse_target(typed, loaded.source)
        export.write(export_table(show, location, loaded, choice, form), path, form, over=over, ascii_only=False)
        return path

    ask_for_file(controls, default_name(location), write)


LIST_HANDLERS: Mapping[str, Handler] = {
    "sort": _sort(other_way=False),
    "reverse": _sort(other_way=True),
    "keep_order": _keep_order,
    "mark": _mark,
    "next_mark": _next_mark,
    "clear_marks": _clear_marks,
    "compare": _compare,
    "columns": choose_columns,
    "wide": _wide,
    "pane": _pane,
    "write": _write,
}
