"""Go to another call of the list that a call was opened from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from riff_tui.table import Table
from riff_tui.tui.actions.controls import Controls
from riff_tui.tui.data.paged_rows import PAGE, PagedRows, is_loaded
from riff_tui.tui.navigation.location import descend


def visit_sibling(controls: Controls, table: Table, index: int) -> None:
    """Open the call of a row of that list, once the row is loaded."""
    if is_loaded(table.rows, index):
        _visit(controls, table, index)
    else:
        controls.opening.begin(partial(load_sibling, controls, table, index), "calls", is_for_text=False)


async def load_sibling(controls: Controls, table: Table, index: int) -> None:
    """Load the row of a call and open it, unless one went elsewhere meanwhile."""
    host, before = controls.host, controls.host.location.cache_key
    if isinstance(table.rows, PagedRows) and not is_loaded(table.rows, index):
        await host.worker.ask(partial(table.rows.load, index // PAGE))
    if host.location.cache_key == before:
        _visit(controls, table, index)


def _visit(controls: Controls, table: Table, index: int) -> None:
    host = controls.host
    row, history = table.rows[index], host.history
    above = replace(history.stack[-2], row=row.id, index=index)
    location = descend(above, table, row)
    if location is None:
        host.say("that call is gone from the store", "warn")
    else:
        host.visit(history.go((*history.stack[:-2], above, location)))
