"""Write a location as a command line that can be pasted, and find the locations that it leads to."""

from __future__ import annotations

from dataclasses import replace

from riff_tui.filters import Filter
from riff_tui.tui.navigation.location import START, Location, Stack
from riff_tui.tui.navigation.scope_filters import Scope, fixed_fields, fixed_value, keep_steps, split_by_field
from riff_tui.view_registry import spec_of


def link(location: Location, store: str = "") -> str:
    """Return the command that opens the explorer at a location; `store` is named if it is not the default one."""
    import shlex

    from riff_tui.views.parts.cells import shell_quoted

    parts = ["riff-tui ui", location.view]
    if where := location.where.text.strip():
        parts += ["--where", shell_quoted(where)]
    if location.aspect:
        parts += ["--aspect", shlex.quote(location.aspect)]
    if location.chosen_order:
        parts += ["--sort", shlex.quote(location.chosen_order)]
    if store:
        parts += ["--store", shell_quoted(store)]
    return " ".join(parts)


def link_to(stack: Stack, store: str) -> str:
    """Return the link to the location on top of a stack, of a comparison to the list that it was made in."""
    locations = [location for location in stack if not (location.pair or location.sides)]
    return link(locations[-1], store)


def open_link(view: str, where: str, aspect: str = "") -> Stack:
    """Return where a link leads, below the locations that one would have come through.

    Raises `FilterError` if the expression makes no sense.
    """
    if aspect:
        *above, last = open_link(view, where)
        return (*above, replace(last, aspect=aspect))
    predicate = Filter(where).predicate
    whole = Filter(where.strip())
    spec = spec_of(view)
    if spec.screen == "conversation":
        return (*START, Location(view, crumb=fixed_value(predicate, "conversation") or view, scope=whole))
    scope, more = split_by_field(predicate, spec.walk)
    fields = fixed_fields(scope)
    if spec.screen == "state" and not {"flow", "state"} <= fields:
        return (*START, Location(view, crumb=fixed_value(predicate, "state") or view, scope=whole))
    if "flow" not in fields:
        location = Location(view, filter=whole)
        return (location,) if spec.depth == 0 else (*START, location)
    way = _way_down(scope)
    if way[-1].view != view:
        way.append(Location(view, scope=Filter.of(scope)))
    return (*START, *way[:-1], replace(way[-1], filter=Filter.of(more)))


def _way_down(scope: Scope) -> list[Location]:
    """Return the locations from a flow down to what a scope names last."""
    flow, agent, segment, state = (fixed_value(scope, field) for field in ("flow", "agent", "segment", "state"))

    def kept(view: str) -> Filter:
        return Filter.of(keep_steps(scope, spec_of(view).walk))

    way = [Location("segments", " @ ".join(filter(None, (flow, agent))), kept("segments"))]
    if segment:
        way.append(Location("states", segment, kept("states")))
    if state:
        way.append(Location("neighbors", state, Filter.of(scope)))
    return way
