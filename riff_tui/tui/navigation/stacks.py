"""Find the stack of locations that a key of a view, a picked name or a link leads to, and write a stack as a link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from riff_store.filters.predicates import Not, Or, Predicate, Term, conjuncts, terms
from riff_tui.browser import link_address
from riff_tui.catalog import ui_command
from riff_tui.descent import (
    Scope,
    about_calls,
    conjunction,
    fixed_fields,
    is_about_judges,
    keep_steps,
    narrow,
    split_by_field,
)
from riff_tui.filters import Filter
from riff_tui.table import Row, Table
from riff_tui.text.safe_text import one_line
from riff_tui.tui.navigation.location import (
    START,
    Location,
    Stack,
    fixed_value,
    is_within,
    locations_above,
    name_term,
    noun,
    row_crumb,
)
from riff_tui.view_registry import spec_of
from riff_tui.views.spec import ViewSpec

# A call is one of its list, and no view but the list of calls shows one call.
_OF_A_CALL = ("conversation",)
SINCE_LAST_RUN = "since the last run"
_LAST_TWO = ("previous", "latest")
_ON_THE_WAY = ("flow", "agent", "segment", "state")
_CHIPPED = ("flow", "agent", "run", "segment", "state")
CHIPS = "  "
"""What stands between two chips."""


def choose(stack: Stack, view: str, conditions: Scope = None) -> Stack:
    """Return the stack for a view chosen by its key: as narrow as the place, chosen again wider, up to everything.

    `conditions` on calls go along: those of a filter that was typed here, or who a call is about.
    """
    spec = spec_of(view)
    # A conversation shows which call it is, its list what it was looked for in.
    here = stack[-2] if stack[-1].kind == "conversation" and len(stack) > 1 else stack[-1]
    before = here.scope.predicate
    # Ever more of the store, at last what the conditions alone leave of it.
    kept = [keep_steps(before, steps) for steps in (_ON_THE_WAY, ("flow", "agent"), ())]
    scopes = [_accepted(spec, scope) for scope in (*(narrow(each, conditions) for each in kept), conditions)]
    wider = (scope for scope in scopes if here.view != view or not is_within(scope, before))
    scope = next(wider, scopes[-1])
    if spec.screen.depth == 0 and scope is None:
        return START
    above = locations_above(stack, view, scope) or START
    by = here.by if here.view == view and spec.splits else ()
    return (*above, Location(view, _chip_crumb(view, scope, above), Filter.of(scope), reason=here.reason, by=by))


def take_off(stack: Stack) -> Stack | None:
    """Return the stack without the last of the chips that the breadcrumb of its view has, `None` if it has none."""
    *above, here = stack
    scope = here.scope.predicate
    found = chips(scope, above[-1].scope.predicate) if above else []
    if not found or here.crumb != _chip_crumb(here.view, scope, above):
        return None
    part = found[-1][1]
    scope = conjunction([each for each in conjuncts(scope) if each != part])
    if spec_of(here.view).screen.depth == 0 and scope is None:
        return START
    crumb = _chip_crumb(here.view, scope, above)
    return (*above, replace(here, crumb=crumb, scope=Filter.of(scope), row="", index=0))


def _chip_crumb(view: str, scope: Scope, above: Sequence[Location]) -> str:
    """Return the part of the breadcrumb for a view that a key chose: what it is of, then the view."""
    found = [text for text, _ in chips(scope, above[-1].scope.predicate)]
    return f"{CHIPS.join(found)} › {noun(view)}" if found else ""


def since_last_run(stack: Stack, conditions: Scope = None) -> Stack:
    """Return the stack for what changed between the last two runs in the flow and agent one is in, then ever wider.

    `conditions` on calls go along as in `choose`. No run is kept, since a comparison takes two.
    """
    here = stack[-2] if stack[-1].kind == "conversation" and len(stack) > 1 else stack[-1]
    before = here.scope.predicate
    scopes = [narrow(keep_steps(before, steps), conditions) for steps in (("flow", "agent"), ())] + [conditions]
    scopes = [split_by_field(scope, ("run",))[1] for scope in scopes]
    again = here.sides == _LAST_TWO
    scope = next((scope for scope in scopes if not again or not is_within(scope, before)), scopes[-1])
    above = locations_above(stack, "compare", scope) or START
    found = CHIPS.join(text for text, _ in chips(scope, above[-1].scope.predicate))
    crumb = " › ".join(filter(None, (found, SINCE_LAST_RUN)))
    return (*above, Location("compare", crumb, Filter.of(scope), sides=_LAST_TWO))


def chips(scope: Scope, above: Scope = None) -> list[tuple[str, Predicate]]:
    """Return what a scope adds to the one above, such as `flow viewing`, each with its part of the scope."""
    said, parts = fixed_fields(above), conjuncts(scope)
    fixing = {field: part for part in parts for field in fixed_fields(part) if field not in said}
    order = sorted(fixing, key=lambda field: (_CHIPPED.index(field) if field in _CHIPPED else len(_CHIPPED), field))
    named = [(f"{field} {fixed_value(fixing[field], field) or '·'}", fixing[field]) for field in order]
    _, rest = split_by_field(scope, fixed_fields(scope))
    return named + [(Filter.of(part).text, part) for part in conjuncts(rest) if part not in conjuncts(above)]


def place_name(scope: Scope, above: Scope = None) -> str:
    """Return in words what a scope adds to the one above; nothing if it is the whole store."""
    return ", ".join(text for text, _ in chips(scope, above))


def whole_store(scope: Scope) -> str:
    """Return what a key leads to that leaves some of the place out: the whole store, or what is left of the place."""
    name = place_name(scope) or "whole store"
    # A filter is not a name of a place.
    return "show more" if set(name) & set("=<>:,") else name


def widening(before: Stack, after: Stack) -> str:
    """Return what the key of the view that is shown led to, an empty text if it is another view."""
    was, now = before[-1], after[-1]
    if was.view != now.view:
        return ""
    words, place = noun(now.view), place_name(now.scope.predicate)
    if is_within(now.scope.predicate, was.scope.predicate):
        return f"{words}: already all of {place}" if place else f"{words}: already the whole store"
    return f"{words} of {place or 'the whole store'}; [ goes back"


def _accepted(spec: ViewSpec, scope: Scope) -> Scope:
    """Return what of a scope a view can be narrowed to.

    It is not narrowed to one of what it lists: on the walk the next step, of runs a run. Off the walk a state reports
    all.
    """
    if spec.filters.refusal:
        return split_by_field(scope, spec.row_fields)[0]
    if spec.screen.walk or spec.screen.depth == 0:
        scope = keep_steps(scope, spec.screen.walk)
    elif "state" in fixed_fields(scope):
        scope = split_by_field(scope, ("segment",))[1]
    if spec.judges != "rows":
        scope = conjunction([part for part in conjuncts(scope) if not is_about_judges(part)])
    own = {*_OF_A_CALL, *(("run",) if spec.row_kind == "run" else ())}
    left = frozenset(spec.screen.leaves)
    scope = conjunction([part for part in conjuncts(scope) if not left & {term.field for term in terms(part)}])
    return split_by_field(scope, own)[1]


# A segment and a state belong to their flow, so another flow has others.
_OF_A_FLOW = frozenset({"segment", "state"})


def pick(stack: Stack, field: str, name: str | None) -> Stack:
    """Return the stack narrowed to one name of a field, to any of them for `None`."""
    here = stack[-1]
    if here.kind == "list" and field not in fixed_fields(here.scope.predicate):
        return (*stack[:-1], replace(here, filter=set_name(here.filter, field, name)))
    scope = without_field(here.scope.predicate, field)
    if name is not None:
        scope = narrow(scope, name_term(field, name))
    is_lost = here.kind == "state" and not {"flow", "state"} <= fixed_fields(scope)
    view = "states" if is_lost else here.view
    above = locations_above(stack[:-1], view, scope)
    from_above = above[-1].scope.predicate if above else None
    new = fixed_fields(scope) - fixed_fields(from_above)
    crumb = row_crumb({field: fixed_value(scope, field) for field in new}, from_above)
    crumb = crumb if not crumb or view in ("segments", "neighbors") else f"{crumb} › {noun(view)}"
    location = Location(view, crumb, Filter.of(scope), set_name(here.filter, field, None))
    return (*above, replace(location, sort=here.sort, graph=here.graph and not is_lost))


def picked_name(location: Location, field: str) -> str | None:
    """Return the name that a location is narrowed to, by what was typed or by the rows above it."""
    return fixed_value(location.filter.predicate, field) or fixed_value(location.scope.predicate, field)


def calls_around(location: Location, field: str, table: Table | None) -> Filter:
    """Return which calls a location is about, whatever its name of a field: those whose names can be picked."""
    typed = set_name(location.filter, field, None).predicate
    scope = Filter.of(without_field(location.scope.predicate, field))
    return scope & Filter.of(about_calls(typed, table) if table is not None else None)


def set_name(typed: Filter, field: str, name: str | None) -> Filter:
    """Return a typed filter that has a field to one name, or for `None` shows nothing of it."""
    before = list(conjuncts(typed.predicate))
    parts = [part for part in before if not (isinstance(part, Term) and part.field == field)]
    if name is not None:
        parts.append(name_term(field, name))
    return typed if parts == before else Filter.of(conjunction(parts))


def without_field(scope: Scope, field: str) -> Scope:
    """Return a scope that does not contain a field to a name, nor what depends on that name."""
    gone = {field, "conversation", *(_OF_A_FLOW if field == "flow" else ())}
    return split_by_field(scope, gone)[1]


def link(location: Location, store: str = "", at: str = "") -> str:
    """Return the command that opens the explorer at a location, with the cursor `at` a moment of a call.

    `store` is named if it is not the default one.
    """
    return ui_command(location.view, location.request._replace(by=location.by), at=at, store=store)


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
    if sides:
        above, last = list(START), Location(view, noun(view), Filter(where.strip()), sides=tuple(sides))
    else:
        *above, last = _opened(view, where)
    return (*above, replace(last, aspect=aspect, by=tuple(by), row=at))


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
    """Return the name of a row's moment: its turn, its state if that is entered first, else the turn before."""
    before = ""
    for at, name in enumerate(_moments(rows[: index + 1])):
        before = name if name.startswith("turn:") or (at == index and name) else before
    return before


def row_at(rows: Sequence[Row], place: str) -> Row | None:
    """Return the row of a moment, `None` if the call has none."""
    kind, _, name = place.partition(":")
    wanted = f"turn:{name.lstrip('0')}" if kind == "turn" else place
    return next((row for row, found in zip(rows, _moments(rows), strict=True) if found == wanted), None)


def begins_at(table: Table, listed: Scope) -> str:
    """Return the id of the row of a call that a list of some scope is about, else of that where the call itself begins.

    A step that was missed has a row behind the call, a tool that failed and a state where the call came to it; what a
    call failed of goes before another visit to the state.
    """
    certain = (term for part in conjuncts(listed) if not isinstance(part, (Not, Or)) for term in terms(part))
    asked = {term.field: str(term.value) for term in certain if term.field is not None and term.operator == "="}
    blame = table.extras.get("blame") or {}
    if not asked.keys() & _OF_BLAME:
        for field, name in asked.items():
            of_state = field in ("state", "visited") and blame.get("state") != name
            if field in _OF_STEPS or field == "tool_error" or of_state:
                found = next((row.id for row in table.rows if _is_about(row, field, name)), "")
                if found:
                    return found
    return table.begin


_OF_STEPS = {"missed_step": "never called", "wrong_step": "called with"}
_OF_BLAME = frozenset(("first_failed", "failure", "failure_detail", "failure_error", "failed_tool"))


def _is_about(row: Row, field: str, name: str) -> bool:
    kind, detail = row.record.get("kind"), str(row.record.get("detail") or "")
    if field in _OF_STEPS:
        return kind == "step" and f" {name}: {_OF_STEPS[field]}" in f" {detail}"
    if field == "tool_error":
        state, _, tool = name.rpartition("/")
        is_there = not state or row.record.get("state") == state
        return kind == "tool" and is_there and bool(row.severity) and detail.startswith(f"{tool}(")
    return kind == "state" and row.record.get("state") == name


def missing(place: str) -> str:
    """Return that a call does not have a moment, in words."""
    kind, _, name = place.partition(":")
    return f"this call has no {kind} {name}; this is its beginning"


def _moments(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the name of each row's moment, nothing if it has none of its own."""
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
