"""Narrow a location to a flow, an agent or a run that was picked from a list.

If the rows above hold the location to another name, that one is replaced, and what depends on it goes;
elsewhere the name is put into the filter, where it can be seen and changed.
"""

from __future__ import annotations

from dataclasses import replace

from riff_store.predicates import Term, conjuncts
from riff_tui.filters import Filter
from riff_tui.table import Table
from riff_tui.tui.navigation.location import Location, Stack, locations_above, noun, row_crumb
from riff_tui.tui.navigation.scope_filters import (
    Scope,
    about_calls,
    conjunction,
    fixed_fields,
    fixed_value,
    name_term,
    narrow,
    split_by_field,
)

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
    crumb = _crumb(view, scope, above[-1].scope.predicate if above else None)
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
    """Return a typed filter that holds a field to one name, or for `None` says nothing of it."""
    before = list(conjuncts(typed.predicate))
    parts = [part for part in before if not (isinstance(part, Term) and part.field == field)]
    if name is not None:
        parts.append(name_term(field, name))
    return typed if parts == before else Filter.of(conjunction(parts))


def without_field(scope: Scope, field: str) -> Scope:
    """Return a scope that does not hold a field to a name, nor what depends on that name."""
    gone = {field, "conversation", *(_OF_A_FLOW if field == "flow" else ())}
    return split_by_field(scope, gone)[1]


def _crumb(view: str, scope: Scope, above: Scope) -> str:
    """Return what a location adds to the breadcrumb, nothing if it is no narrower than the location above."""
    new = fixed_fields(scope) - fixed_fields(above)
    names = row_crumb({field: fixed_value(scope, field) for field in new}, above)
    return names if not names or view in ("segments", "neighbors") else f"{names} › {noun(view)}"
