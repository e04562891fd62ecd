"""A place as a command line that can be pasted: how it is written, and where it leads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_tui.filters import parse
from riff_tui.tui.navigation.location import START, Location, Stack
from riff_tui.tui.navigation.scope_filters import fixed, kept, parted, value
from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen


def link(place: Location, store: str = "") -> str:
    """The command that opens the explorer at a place; `store` is named where it is not the default one."""
    import shlex

    from riff_tui.views.parts.cells import shell_quoted

    parts = ["riff-tui ui", place.view]
    if place.where.strip():
        parts += ["--where", shell_quoted(place.where.strip())]
    if place.aspect:
        parts += ["--aspect", shlex.quote(place.aspect)]
    if place.sort is not None:
        parts += ["--sort", shlex.quote(place.sort)]
    if store:
        parts += ["--store", shell_quoted(store)]
    return " ".join(parts)


def link_to(screen: ExplorerScreen) -> str:
    """The link to the place that a screen is at, of a comparison to the list that it was made in."""
    places = [place for place in screen.history.stack if not (place.pair or place.sides)]
    return link(places[-1], screen.explorer.store)


def opened(view: str, where: str, aspect: str = "") -> Stack:
    """Where a link leads, below the places that one would have come through.

    Raises `FilterError` where the expression makes no sense.
    """
    if aspect:
        *above, last = opened(view, where)
        return (*above, replace(last, aspect=aspect))
    parse(where)
    where = where.strip()
    spec = spec_of(view)
    if spec.screen == "conversation":
        return (*START, Location(view, crumb=value(where, "conversation") or view, scope=where))
    scope, more = parted(where, spec.walk)
    names = fixed(scope)
    if spec.screen == "state" and not {"flow", "state"} <= names:
        return (*START, Location(view, crumb=value(where, "state") or view, scope=where))
    if "flow" not in names:
        place = Location(view, filter=where)
        return (place,) if spec.depth == 0 else (*START, place)
    way = _way(scope)
    if way[-1].view != view:
        way.append(Location(view, scope=scope))
    return (*START, *way[:-1], replace(way[-1], filter=more))


def _way(scope: str) -> list[Location]:
    """The places from a flow down to what a scope names last."""
    flow, agent, segment, state = (value(scope, name) for name in ("flow", "agent", "segment", "state"))
    way = [Location("segments", " @ ".join(filter(None, (flow, agent))), kept(scope, spec_of("segments").walk))]
    if segment:
        way.append(Location("states", segment, kept(scope, spec_of("states").walk)))
    if state:
        way.append(Location("neighbors", state, scope))
    return way
