"""Go to another call of the list that a call was opened from."""

from __future__ import annotations

from dataclasses import replace

from riff_tui.table import Table
from riff_tui.tui.actions.controls import Controls
from riff_tui.tui.data.paged_rows import is_loaded
from riff_tui.tui.navigation.location import descend


def visit_sibling(controls: Controls, table: Table, index: int) -> None:
    """Open the call of a row of that list, once the row is loaded."""
    host = controls.host
    if not is_loaded(table.rows, index):
        controls.page_loader.load(table.rows, index, lambda: visit_sibling(controls, table, index))
        return
    row, history = table.rows[index], host.history
    above = replace(history.stack[-2], row=row.id, index=index)
    location = descend(above, table, row)
    if location is None:
        host.say("that call is gone from the store", "warn")
    else:
        host.visit(history.go((*history.stack[:-2], above, location)))
