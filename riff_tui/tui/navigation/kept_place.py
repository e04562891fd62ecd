"""Keep the place under the keys of views: each view is narrowed to it as far as it can be, and widened step by step."""

from __future__ import annotations

from collections.abc import Iterator

from riff_store.predicates import conjuncts
from riff_tui.filters import Filter
from riff_tui.tui.navigation.location import START, Location, Stack, locations_above, noun
from riff_tui.tui.navigation.scope_filters import (
    Scope,
    conjunction,
    fixed_fields,
    fixed_value,
    is_about_judges,
    is_within,
    keep_steps,
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
