"""Narrow views: by the place that their keys keep, wider with each press, and to a name picked from a list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from riff_store.filters.predicates import Term, conjuncts
from riff_tui.filters import Filter
from riff_tui.table import Table
from riff_tui.tui.navigation.location import START, Location, Stack, locations_above, noun, row_crumb
from riff_tui.tui.navigation.scope import (
    Scope,
    about_calls,
    conjunction,
    fixed_fields,
    fixed_value,
    is_about_judges,
    is_within,
    keep_steps,
    name_term,
    narrow,
    split_by_field,
)
from riff_tui.view_registry import spec_of
from riff_tui.views.spec import ViewSpec

# A call is one of its list, and no view but the list of calls shows one call.
_OF_A_CALL = ("conversation",)
SINCE_LAST_RUN = "since the last run"
_LAST_TWO = ("previous", "latest")
_ON_THE_WAY = ("flow", "agent", "segment", "state")


def choose(stack: Stack, view: str, conditions: Scope = None) -> Stack:
    """Return the stack for a view chosen by its key: as narrow as the place, chosen again wider, up to everything.

    `conditions` on calls go along: those of a filter that was typed here, or who a call is about.
    """
    spec = spec_of(view)
    # A conversation says which call it is, its list what it was looked for in.
    here = stack[-2] if stack[-1].kind == "conversation" and len(stack) > 1 else stack[-1]
    before = here.scope.predicate
    scopes = list(_ever_wider(spec, before, conditions))
    wider = (scope for scope in scopes if here.view != view or not is_within(scope, before))
    scope = next(wider, scopes[-1])
    if spec.screen.depth == 0 and scope is None:
        return START
    above = locations_above(stack, view, scope) or START
    crumb = _crumb(view, scope, above[-1].scope.predicate)
    return (*above, Location(view, crumb, Filter.of(scope), reason=here.reason))


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
    crumb = " › ".join(filter(None, (place_name(scope, above[-1].scope.predicate), SINCE_LAST_RUN)))
    return (*above, Location("compare", crumb, Filter.of(scope), sides=_LAST_TWO))


def place_name(scope: Scope, above: Scope = None) -> str:
    """Return what a scope is narrowed to beyond the one above, in the words of the breadcrumb; nothing if it is not."""
    said = fixed_fields(above)
    names = {field: fixed_value(scope, field) or "·" for field in sorted(fixed_fields(scope) - said)}
    parts = [" @ ".join(filter(None, (names.pop("flow", ""), names.pop("agent", ""))))]
    parts += [names.pop(field) for field in ("run", "segment", "state") if field in names]
    parts += names.values()
    _, rest = split_by_field(scope, fixed_fields(scope))
    parts += [Filter.of(part).text for part in conjuncts(rest) if part not in conjuncts(above)]
    return " › ".join(filter(None, parts))


def widening(before: Stack, after: Stack) -> str:
    """Return what the key of the view that is shown widened, an empty text where it is another view."""
    was, now = before[-1], after[-1]
    if was.view != now.view:
        return ""
    words = noun(now.view)
    if is_within(now.scope.predicate, was.scope.predicate):
        return f"{words}: this is as wide as it gets"
    return f"{words} widened to {place_name(now.scope.predicate) or 'everything'}; [ goes back"


def _crumb(view: str, scope: Scope, above: Scope) -> str:
    name = place_name(scope, above)
    return f"{name} › {noun(view)}" if name else ""


def _ever_wider(spec: ViewSpec, place: Scope, conditions: Scope) -> Iterator[Scope]:
    """Yield what a view can be narrowed to, ever more of the store, at last the conditions alone."""
    for steps in (_ON_THE_WAY, ("flow", "agent"), ()):
        yield _accepted(spec, narrow(keep_steps(place, steps), conditions))
    yield _accepted(spec, conditions)


def _accepted(spec: ViewSpec, scope: Scope) -> Scope:
    """Return what of a scope a view can be narrowed to.

    It is not narrowed to one of what it lists: on the walk the next step, of runs a run. Off the walk a state says all.
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
    crumb = _crumb_of_pick(view, scope, above[-1].scope.predicate if above else None)
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


def _crumb_of_pick(view: str, scope: Scope, above: Scope) -> str:
    """Return what a location adds to the breadcrumb, nothing if it is no narrower than the location above."""
    new = fixed_fields(scope) - fixed_fields(above)
    names = row_crumb({field: fixed_value(scope, field) for field in new}, above)
    return names if not names or view in ("segments", "neighbors") else f"{names} › {noun(view)}"
