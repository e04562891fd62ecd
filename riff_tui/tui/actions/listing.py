"""Change how a list is shown: its order, its marks, two of its rows side by side, its columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from riff_tui.table import Column, Table
from riff_tui.text.glyphs import Glyphs
from riff_tui.tui.actions.action import IN_LISTS, NOT_READ, Action, Controls, needs_order, needs_rows
from riff_tui.tui.data.lists import AS_IT_IS, INTERVAL, ColumnChoice, offered
from riff_tui.tui.data.loader import pair_ids, pair_location, swapped, tested_location
from riff_tui.tui.navigation.location import Location, fixed_columns, noun
from riff_tui.tui.navigation.stacks import calls_around, place_name
from riff_tui.tui.render.columns import all_columns, has_order, has_values, shown, title, visible_columns
from riff_tui.tui.widgets.line_table import FIRST
from riff_tui.tui.widgets.menu import CheckItem, CheckRequest, MenuItem, MenuRequest, with_calls
from riff_tui.view_registry import spec_of
from riff_tui.views.failures import side_argument


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


def _sort(controls: Controls, *, other_way: bool) -> None:
    host, column = controls.host, controls.table.under
    if column is not None:
        history = host.history
        order = following_order(history.here.order or None, column, other_way=other_way)
        host.visit(history.sort(order or ""), remark=_order_remark(controls, order, column))


def _order_remark(controls: Controls, order: str | None, column: Column) -> str:
    words, undo = noun(controls.here.view), controls.key_of("last_view")
    if order is None:
        return f"{words} in their own order; {undo} undoes it"
    first = ("last", "first") if column.kind in ("name", "text") else ("highest", "lowest")
    if column.kind == "time":
        first = ("latest", "earliest")
    way, keep = first[not order.startswith("-")], controls.key_of("keep_order")
    return f"sorted by {column.title}, {way} first; {undo} undoes it, {keep} keeps it for {words}"


def _needs_column(controls: Controls) -> str:
    if controls.is_call:
        return needs_order(controls)
    if controls.spec.words.ranked:
        return f"the {noun(controls.here.view)} is ranked {controls.spec.words.ranked}"
    table, column = controls.shown, controls.table.under
    is_ordered = table is not None and column is not None and has_order(column, table) and column.title
    return "" if is_ordered else "the column under the cursor has no order"


def _kept_order(controls: Controls) -> str | None:
    """Return the order that is kept for the view, `None` if it is its own."""
    return controls.backend.session.state.sorts.get(controls.here.view)


def _needs_chosen_order(controls: Controls) -> str:
    if controls.is_call:
        return needs_order(controls)
    is_chosen = controls.here.chosen_order or _kept_order(controls) is not None
    return "" if is_chosen else f"nothing was sorted here: {controls.key_of('sort')} sorts by a column"


def _keep_order(controls: Controls) -> None:
    host, here = controls.host, controls.here
    words = noun(here.view)
    if here.sort and here.sort != _kept_order(controls):
        host.session.sort(here.view, here.sort)
        column, keep = here.sort.removeprefix("-"), controls.key_of("keep_order")
        host.say(f"{words} are sorted by {column} from now on; {keep} again ends that")
    else:
        host.session.sort(here.view, None)
        host.say(f"{words} begin in their own order again")
    host.update_lines()


ORDERS: tuple[Action, ...] = (
    Action(
        "sort",
        ("s",),
        "sort",
        "Sort by the column under the cursor, worst first; press again for best first, then for the view's own order.",
        partial(_sort, other_way=False),
        _needs_column,
        kinds=IN_LISTS,
        also="order rank",
    ),
    Action(
        "reverse",
        ("S",),
        "reverse",
        "Sort by the column under the cursor, best first; press again for the other way round.",
        partial(_sort, other_way=True),
        _needs_column,
    ),
    Action(
        "keep_order",
        ("O",),
        "keep order",
        "Keep the order that was sorted for this view, also for later sessions; press again for its own.",
        _keep_order,
        _needs_chosen_order,
        lambda controls: "keep order" if _kept_order(controls) is None else "own order",
    ),
)


def _mark(controls: Controls) -> None:
    host, table, row = controls.host, controls.table, controls.table.row
    if table.cursor == FIRST:
        host.say("what to fix first is not a row of the list, and is not marked", "warn")
        return
    if row is None or not row.id:
        host.say("the row is still being read", "warn")
        return
    controls.list_state.toggle_mark(host.location, row, table.cursor)
    table.mark(controls.marks)
    host.update_lines()


def _next_mark(controls: Controls) -> None:
    host, table = controls.host, controls.table
    index = controls.list_state.next_mark(host.location, table.table.rows, table.cursor)
    if index is None:
        clear = controls.key_of("clear_marks")
        host.say(f"no marked row is among those that are shown; Esc clears a filter, {clear} the marks", "warn")
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
    history, table = host.history, controls.shown
    here = history.here
    if _picks_sides(controls):
        controls.opening.begin(partial(_pick_sides, controls), "agents")
    elif table is None:
        return
    elif here.sides:
        host.visit(history.instead(replace(here, sides=here.sides[::-1])))
    elif here.pair:
        host.visit(history.alter(swapped(here)))
    else:
        ids = pair_ids(controls.list_state.marks(here), controls.table.row)
        host.visit(history.down(tested_location(here, table, ids) or pair_location(here, table, ids)))


def _picks_sides(controls: Controls) -> bool:
    """Return whether two agents or runs can be chosen from a list: no row is marked, and nothing is compared here."""
    is_free = not controls.is_call and not controls.marks and not _is_compared(controls)
    return is_free and controls.backend.names is not None


async def _pick_sides(controls: Controls) -> None:
    """Ask for an agent or a run of the place, then for the one to compare it with, and open their tested comparison."""
    host, menu, names, location = controls.host, controls.menu, controls.backend.names, controls.here
    if names is None:
        return
    around = {kind: calls_around(location, kind, controls.shown) for kind in ("agent", "run")}

    def counted() -> dict[str, Sequence[tuple[str, int, float | None]]]:
        return {kind: names.counted(kind, where.text) for kind, where in around.items()}

    found = await host.worker.ask(counted)
    several = [kind for kind in around if len(found[kind]) > 1]
    if menu.app.screen is not menu.screen or menu.is_open or host.location.cache_key != location.cache_key:
        return
    if not several:
        host.say("the calls here are of one agent and one run, and it takes two to compare", "warn")
        return

    def items(kind: str) -> list[MenuItem]:
        listed = with_calls([each[:2] for each in found[kind]], [each[2] for each in found[kind]])
        return [item._replace(lead=kind) for item in listed]

    offered = [item for kind in several for item in items(kind)]

    def take(index: int) -> None:
        first = offered[index]
        others = [item for item in items(first.lead) if item.text != first.text]

        def compare(second: int) -> None:
            sides = tuple(side_argument(first.lead, name) for name in (first.text, others[second].text))
            where = around[first.lead]
            within = place_name(where.predicate, location.scope.predicate)
            crumb = ": ".join(filter(None, (within, f"{first.text} | {others[second].text}")))
            host.visit(host.history.down(Location("compare", crumb, where, sides=sides)))

        menu.ask(MenuRequest(f"compare {first.text} with", others, compare, verb="compare"))

    menu.ask(MenuRequest("compare", offered, take, verb="choose"))


def _needs_markable(controls: Controls) -> str:
    if controls.is_call:
        return "only rows of lists can be marked"
    return "these are the two rows that were marked; Esc goes back to them" if controls.here.pair else ""


def _needs_marks(controls: Controls) -> str:
    return _needs_markable(controls) or (
        "" if controls.marks else f"no row is marked here; {controls.key_of('mark')} marks one"
    )


def _needs_two(controls: Controls) -> str:
    """Return why there are no two rows to compare, wherever the cursor is."""
    if controls.here.pair or controls.here.sides:
        return ""
    reason = _needs_markable(controls)
    if not reason and controls.shown is not None:
        reason = spec_of(controls.shown.view).unlike
    if reason:
        return reason
    count = len(controls.marks)
    if not count:
        return f"mark a row with {controls.key_of('mark')} first, then a second one, or go to it"
    if count == 1 and not controls.has_rows:
        return _ONE_MARK
    return (
        f"{count} rows are marked, and it takes two; {controls.key_of('clear_marks')} clears the marks"
        if count > 2
        else ""
    )


def _needs_two_at_cursor(controls: Controls) -> str:
    """Return why there are no two rows to compare, of which the one under the cursor may be one, nor a list of them."""
    if _picks_sides(controls):
        return ""
    marks, row = controls.marks, controls.host.body.row
    is_at_mark = len(marks) == 1 and row is not None and (row.id in marks or controls.table.cursor == FIRST)
    return _needs_two(controls) or (_ONE_MARK if is_at_mark and not _is_compared(controls) else "")


def _is_compared(controls: Controls) -> bool:
    return bool(controls.here.pair or controls.here.sides)


_ONE_MARK = "one row is marked; go to another one, or mark it as well"
MARKS: tuple[Action, ...] = (
    Action(
        "mark",
        ("m",),
        "mark",
        "Mark the row, or take its mark back.",
        _mark,
        lambda controls: _needs_markable(controls) or needs_rows(controls),
        also="select tag",
    ),
    Action("next_mark", ("u",), "next mark", "Go to the next marked row.", _next_mark, _needs_marks, kinds=IN_LISTS),
    Action("clear_marks", ("x",), "clear marks", "Take back all marks of this list.", _clear_marks, _needs_marks),
    Action(
        "compare",
        ("=",),
        "compare",
        "Compare two marked rows, or the marked one and this one: two runs or two agents by a test for"
        " chance, others side by side. Without a mark: choose two agents or runs from a list. There: change sides.",
        _compare,
        _needs_two_at_cursor,
        lambda controls: "change sides" if _is_compared(controls) else "compare",
        hinted=_needs_two,
        also="diff difference against versus",
    ),
)


def _choose_columns(controls: Controls) -> None:
    """Choose which columns of the table to show."""
    table, location, glyphs = controls.shown, controls.here, controls.table.glyphs
    if table is None:
        return
    hide, choice = fixed_columns(location), controls.list_state.columns(location)
    columns = offering(table, hide)

    def keys(choice: ColumnChoice) -> set[str]:
        return {column.key for column in visible_columns(table, hide, choice)}

    def take(ticked: Collection[str]) -> None:
        _show_columns(controls, choice.asking(keys(AS_IT_IS), ticked, [column.key for column in columns]))

    checks = [_check(table, column, glyphs) for column in columns]
    controls.check_list.ask(CheckRequest(f"columns of {noun(table.view)}", checks, keys(choice), keys(AS_IT_IS), take))


def offering(table: Table, hide: frozenset[str]) -> list[Column]:
    """Return the columns that one can show or hide: neither names that stay nor those that the location fixes."""
    return [column for column in offered(table, all_columns(table)) if column.key not in hide]


def _check(table: Table, column: Column, glyphs: Glyphs) -> CheckItem:
    indent = "  " if column.key.startswith(INTERVAL) else ""
    unit = f" [{column.unit}]" if column.unit else ""
    empty = not has_values(table, column)
    about = f"{column.help}{unit}{' No values here.' if empty else ''}"
    return CheckItem(column.key, indent + title(column, glyphs, short=False), shown(about, glyphs), empty)


def _show_columns(controls: Controls, choice: ColumnChoice) -> None:
    """Show the same rows with other columns."""
    host = controls.host
    controls.list_state.choose_columns(host.location, choice)
    if host.loaded is not None:
        host.show(host.history, host.loaded)


def _wide(controls: Controls) -> None:
    before = controls.list_state.columns(controls.here)
    choice = before._replace(wide=not before.wide)
    _show_columns(controls, choice)
    controls.host.say("columns at their full width; h and l scroll" if choice.wide else "columns fitted to the screen")


def _needs_columns(controls: Controls) -> str:
    return "a conversation has lines, not columns" if controls.is_call else ""


def _needs_choice(controls: Controls) -> str:
    if controls.is_call:
        return _needs_columns(controls)
    table = controls.shown
    if table is not None and offered(table, table.columns):
        return ""
    is_awaited = controls.is_loading and not controls.has_rows
    return NOT_READ if is_awaited else f"the columns of {noun(controls.here.view)} are always the same"


COLUMNS: tuple[Action, ...] = (
    Action(
        "columns", ("c",), "columns", "Choose the columns to show.", _choose_columns, _needs_choice, also="hide fields"
    ),
    Action("wide", ("w",), "wide", "Show columns at their full width, or fitted to the line.", _wide, _needs_columns),
)
