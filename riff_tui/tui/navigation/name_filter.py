"""What picking a flow, an agent or a run from a list makes of the place one is in.

Where the rows above hold the place to another name, that one is replaced, and what depends on it goes;
elsewhere the name is put into the filter, where it can be seen and changed.
"""

from __future__ import annotations

from dataclasses import replace

from riff_store.predicates import And, Term, conjuncts
from riff_tui.filters import parse, quote, render
from riff_tui.table import Table
from riff_tui.tui.navigation.location import Location, Stack, crumb_of, noun
from riff_tui.tui.navigation.scope_filters import both, carried, fixed, narrowed, parted, value, within
from riff_tui.view_registry import spec_of

# A segment and a state belong to their flow, so another flow has others.
_OF_A_FLOW = frozenset({"segment", "state"})


def picked(stack: Stack, field: str, name: str | None) -> Stack:
    """The stack narrowed to one name of a field, to any of them for `None`."""
    here = stack[-1]
    if here.kind == "list" and field not in fixed(here.scope):
        return (*stack[:-1], replace(here, filter=put(here.filter, field, name)))
    scope = without(here.scope, field)
    if name is not None:
        scope = narrowed(scope, f"{field}={quote(name)}")
    view = "states" if here.kind == "state" and not {"flow", "state"} <= fixed(scope) else here.view
    above = tuple(
        place for place in stack[:-1] if spec_of(place.view).depth < spec_of(view).depth and within(scope, place.scope)
    )
    place = Location(view, _crumb(view, scope, above[-1].scope if above else ""), scope, put(here.filter, field, None))
    return (*above, replace(place, sort=here.sort, graph=here.graph and view == here.view))


def holds(place: Location, field: str) -> str | None:
    """The name that a place is narrowed to, by the rows above it or by what was typed."""
    return value(place.filter, field) or value(place.scope, field)


def surroundings(place: Location, field: str, table: Table | None) -> str:
    """Which calls a place is about whatever name of a field it holds: those that the names to pick from have."""
    typed = carried(put(place.filter, field, None), table) if table is not None else ""
    return both(without(place.scope, field), typed)


def put(expression: str, field: str, name: str | None) -> str:
    """A typed expression that holds a field to one name, or with `None` says nothing of it any more."""
    before = list(conjuncts(parse(expression)))
    parts = [part for part in before if not (isinstance(part, Term) and part.field == field)]
    if name is not None:
        parts.append(Term(field, "=", name))
    return expression if parts == before else render(And(tuple(parts))) if parts else ""


def without(scope: str, field: str) -> str:
    """A scope that does not hold a field to a name, nor what depends on that name."""
    gone = {field, "conversation", *(_OF_A_FLOW if field == "flow" else ())}
    return parted(scope, gone)[1]


def _crumb(view: str, scope: str, said: str) -> str:
    """What a place adds to the breadcrumb, nothing where it is narrowed to no more than the place above."""
    new = fixed(scope) - fixed(said)
    names = crumb_of({field: value(scope, field) for field in new}, said)
    return names if not names or view in ("segments", "neighbors") else f"{names} › {noun(view)}"
