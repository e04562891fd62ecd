"""Write a location, down to a moment of a call, as a command line that can be pasted, and find where one leads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from riff_tui.browser import link_address
from riff_tui.catalog import Request, ui_command
from riff_tui.filters import Filter
from riff_tui.table import Row, Table
from riff_tui.text.safe_text import one_line
from riff_tui.tui.navigation.location import START, Location, Stack, noun
from riff_tui.tui.navigation.scope import Scope, fixed_fields, fixed_value, keep_steps, split_by_field
from riff_tui.view_registry import spec_of


def link(location: Location, store: str = "", at: str = "") -> str:
    """Return the command that opens the explorer at a location, with the cursor `at` a moment of a call.

    `store` is named if it is not the default one.
    """
    request = Request(
        where=location.where.text,
        by=location.by,
        sort=location.chosen_order or None,
        sides=location.between,
        aspect=location.aspect or None,
    )
    return ui_command(location.view, request, at=at, store=store)


def link_to(stack: Stack, store: str, table: Table | None = None) -> str:
    """Return the link to the location on top of a stack, of two rows side by side to the list that they come from.

    Of a call, whose `table` is shown, it leads to the moment under the cursor.
    """
    location, at = _linked(stack, table)
    return link(location, store, at)


def _linked(stack: Stack, table: Table | None) -> tuple[Location, str]:
    """Return the location that a link leads to, and the moment of a call."""
    location = [each for each in stack if not each.pair][-1]
    is_call = location is stack[-1] and location.kind == "conversation"
    return location, place_of(table.rows, location.index) if is_call and table is not None else ""


def address_of(stack: Stack, table: Table | None = None) -> str:
    """Return the address of the page that shows the location on top of a stack, as `link_to` returns its command."""
    location, at = _linked(stack, table)
    first, second = location.between or ("", "")
    query = [("where", location.where.text), *(("by", key) for key in location.by), ("sort", location.chosen_order)]
    query += [("aspect", location.aspect), ("at", at), ("a", first), ("b", second)]
    return link_address(location.view, query)


def open_link(
    view: str, where: str, aspect: str = "", *, sides: Sequence[str] = (), by: Sequence[str] = (), at: str = ""
) -> Stack:
    """Return where a link leads, below the locations that one would have come through.

    Raises `FilterError` if the expression makes no sense.
    """
    *above, last = _opened(view, where) if not sides else _compared(view, where, sides)
    return (*above, replace(last, aspect=aspect, by=tuple(by), row=at))


def _compared(view: str, where: str, sides: Sequence[str]) -> Stack:
    return (*START, Location(view, noun(view), Filter(where.strip()), sides=tuple(sides)))


def _opened(view: str, where: str) -> Stack:
    predicate = Filter(where).predicate
    whole = Filter(where.strip())
    spec = spec_of(view)
    if spec.screen.kind == "conversation":
        return (*START, Location(view, crumb=fixed_value(predicate, "conversation") or view, scope=whole))
    scope, more = split_by_field(predicate, spec.screen.walk)
    fields = fixed_fields(scope)
    if spec.screen.kind == "state" and not {"flow", "state"} <= fields:
        return (*START, Location(view, crumb=fixed_value(predicate, "state") or view, scope=whole))
    if "flow" not in fields:
        location = Location(view, filter=whole)
        return (location,) if spec.screen.depth == 0 else (*START, location)
    way = _way_down(scope)
    if way[-1].view != view:
        way.append(Location(view, scope=Filter.of(scope)))
    return (*START, *way[:-1], replace(way[-1], filter=Filter.of(more)))


def _way_down(scope: Scope) -> list[Location]:
    """Return the locations from a flow down to what a scope names last."""
    flow, agent, segment, state = (fixed_value(scope, field) for field in ("flow", "agent", "segment", "state"))

    def kept(view: str) -> Filter:
        return Filter.of(keep_steps(scope, spec_of(view).screen.walk))

    way = [Location("segments", " @ ".join(filter(None, (flow, agent))), kept("segments"))]
    if segment:
        way.append(Location("states", segment, kept("states")))
    if state:
        way.append(Location("neighbors", state, Filter.of(scope)))
    return way


def is_place(text: str) -> bool:
    """Return whether a text names a moment; ids of rows do not."""
    kind, _, name = text.partition(":")
    return (kind == "turn" and name.isdecimal() and name.isascii()) or (kind == "state" and name != "")


def place_of(rows: Sequence[Row], index: int) -> str:
    """Return the name of a row's moment: its turn, its state where that is entered first, else the turn before."""
    before = ""
    for at, name in enumerate(_names(rows[: index + 1])):
        before = name if name.startswith("turn:") or (at == index and name) else before
    return before


def row_at(rows: Sequence[Row], place: str) -> Row | None:
    """Return the row of a moment, `None` where the call has none."""
    kind, _, name = place.partition(":")
    wanted = f"turn:{name.lstrip('0')}" if kind == "turn" else place
    return next((row for row, found in zip(rows, _names(rows), strict=True) if found == wanted), None)


def missing(place: str) -> str:
    """Return that a call does not have a moment, in words."""
    kind, _, name = place.partition(":")
    return f"this call has no {kind} {name}; this is its beginning"


def _names(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the name of each row's moment, nothing where it has none of its own."""
    turns = 0
    states: set[object] = set()
    for row in rows:
        kind, state = row.record.get("kind"), row.record.get("state")
        turns += kind == "turn"
        if kind == "turn":
            yield f"turn:{turns}"
        elif kind == "state" and state not in states and one_line(str(state)) == state:
            yield f"state:{state}"
        else:
            yield ""
        if kind == "state":
            states.add(state)
