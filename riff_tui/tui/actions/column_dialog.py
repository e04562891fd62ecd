"""Asks which columns of a table to show, in a box over it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from riff_tui.table import Column, Table
from riff_tui.tui.navigation.location import hidden, noun
from riff_tui.tui.render.columns import all_columns, has_values, shown, title, visible_columns
from riff_tui.tui.session.column_choice import AS_IT_IS, INTERVAL, ColumnChoice, offered
from riff_tui.tui.widgets.check_list import Check, CheckList, Ticks

if TYPE_CHECKING:
    from riff_tui.text.glyphs import Glyphs
    from riff_tui.tui.screens.explorer import ExplorerScreen


def offering(table: Table, hide: frozenset[str]) -> list[Column]:
    """The columns that one can show or hide: not the names that stay, nor those of which the place fixes the value."""
    return [column for column in offered(table, all_columns(table)) if column.key not in hide]


def choose_columns(screen: ExplorerScreen) -> None:
    """Ask, and show what was chosen."""
    if screen.loaded is None:
        return
    table, place, glyphs = screen.loaded.main, screen.history.here, screen.explorer.glyphs
    hide, choice = hidden(place), screen.list_state.choice(place)
    columns = offering(table, hide)

    def keys(choice: ColumnChoice) -> set[str]:
        return {column.key for column in visible_columns(table, hide, choice)}

    def take(ticked: Collection[str]) -> None:
        screen.choose(choice.asking(keys(AS_IT_IS), ticked, [column.key for column in columns]))

    checks = [_check(table, column, glyphs) for column in columns]
    asked = Ticks(f"columns of {noun(table.view)}", checks, keys(choice), keys(AS_IT_IS), take)
    screen.query_one(CheckList).ask(asked)


def _check(table: Table, column: Column, glyphs: Glyphs) -> Check:
    indent = "  " if column.key.startswith(INTERVAL) else ""
    unit = f" [{column.unit}]" if column.unit else ""
    empty = not has_values(table, column)
    about = f"{column.help}{unit}{' Nothing of it here.' if empty else ''}"
    return Check(column.key, indent + title(column, glyphs, short=False), shown(about, glyphs), empty)
