"""Where one is and how one got there: places, a stack of them, and the way back and forward.

Nothing here knows the screen; every step gives a new value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from riff_tui.filters import quote
from riff_tui.table import Row, Table
from riff_tui.tui.navigation.scope_filters import both, carried, fixed, heard, kept, narrowed, value, within
from riff_tui.tui.navigation.sides import scope_of, sides_of
from riff_tui.view_registry import spec_of
from riff_tui.views import side_by_side
from riff_tui.views.spec import ScreenKind

MOST_STEPS = 200
SIDE_BY_SIDE = side_by_side.VIEW

_WHOLES = ("run", "archetype", "judge", "level")

Question = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Location:
    """A view of the store, what it is narrowed to, and where the cursor stood.

    `scope` comes from the rows above, `filter` was typed here; `crumb` is raw text for the
    breadcrumb, empty for a view of everything. `row` and `column` name the cursor's row and
    column, `index` is where that row was; `graph` says that the cursor is in the neighbour graph. Of
    a comparison `pair` are the ids of both rows, and `of` is the view that they come from. `sides` are the
    runs or agents that are tested against each other. `aspect` is explained instead of quality.
    """

    view: str
    crumb: str = ""
    scope: str = ""
    filter: str = ""
    sort: str | None = None
    row: str = ""
    column: str = ""
    index: int = 0
    graph: bool = False
    of: str = ""
    pair: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    aspect: str = ""

    @property
    def where(self) -> str:
        """The whole filter expression of this place."""
        return both(self.scope, self.filter)

    @property
    def kind(self) -> ScreenKind:
        """Which screen shows it."""
        return spec_of(self.view).screen

    @property
    def question(self) -> Question:
        """What its rows depend on: two places with the same question hold the same rows."""
        return self.view, self.where, self.sort, self.of, self.aspect, *self.pair, *self.sides

    @property
    def between(self) -> tuple[str, str] | None:
        """The two sides, where there are any."""
        return (self.sides[0], self.sides[1]) if len(self.sides) == 2 else None


Stack = tuple[Location, ...]
START: Stack = (Location("flows"),)


@dataclass(frozen=True, slots=True)
class History:
    """The stack of places one is in, the stacks before and after it, and the last one of another view."""

    stacks: tuple[Stack, ...] = (START,)
    at: int = 0
    last: Stack | None = None

    @property
    def stack(self) -> Stack:
        """The places from the first screen down to here."""
        return self.stacks[self.at]

    @property
    def here(self) -> Location:
        """The place on top."""
        return self.stack[-1]

    def go(self, stack: Stack) -> History:
        """Be somewhere else; what was ahead is forgotten."""
        if same(stack, self.stack):
            return self
        steps = (*self.stacks[: self.at + 1], stack)[-MOST_STEPS:]
        return History(steps, len(steps) - 1, self._left_for(stack))

    def alter(self, place: Location) -> History:
        """The same place seen differently (cursor, sort): no step to go back over."""
        return self.amend((*self.stack[:-1], place))

    def amend(self, stack: Stack) -> History:
        """The same places seen differently."""
        return replace(self, stacks=(*self.stacks[: self.at], stack, *self.stacks[self.at + 1 :]))

    def back(self) -> History:
        """One step back in time, if there is one."""
        return self._to(max(0, self.at - 1))

    def forward(self) -> History:
        """One step forward in time, if there is one."""
        return self._to(min(len(self.stacks) - 1, self.at + 1))

    def to_last(self) -> History:
        """Where one was in another view or of something else before, if anywhere; and from there back again."""
        return self.go(self.last) if self.last is not None else self

    def _to(self, at: int) -> History:
        return replace(self, at=at, last=self._left_for(self.stacks[at]))

    def _left_for(self, stack: Stack) -> Stack | None:
        """The last view, once one is at that stack: this one, unless it shows the same there."""
        here, there = self.here, stack[-1]
        stays = (here.view, here.scope, here.pair, here.sides) == (there.view, there.scope, there.pair, there.sides)
        return self.last if stays else self.stack

    def ordered(self, sorts: Mapping[str, str]) -> History:
        """The same with the rows here in the order that was chosen for their view."""
        here = self.here
        sort = None if here.kind == "conversation" else sorts.get(here.view)
        return self if sort == here.sort else self.alter(replace(here, sort=sort))

    def up(self) -> History:
        """The place above, if there is one."""
        return self.go(self.stack[:-1]) if len(self.stack) > 1 else self

    def down(self, place: Location) -> History:
        """A place below this one."""
        return self.go((*self.stack, place))

    def instead(self, place: Location) -> History:
        """Another place in the stead of this one."""
        return self.go((*self.stack[:-1], place))


def hidden(place: Location) -> frozenset[str]:
    """The columns that say the same in every row of a place."""
    return frozenset() if spec_of(place.view).ranked else fixed(place.scope)


def noun(view: str) -> str:
    """What people call what a view shows."""
    return (spec_of(view).noun or view) if view else ""


def below(table: Table, row: Row | None) -> str:
    """The view that Enter opens from a row, empty where nothing lies below."""
    if row is not None and table.view == SIDE_BY_SIDE:
        return "compare" if sides_of(table) else ""
    return spec_of(table.view).view_below(row) if row is not None and row.where else ""


def descend(place: Location, table: Table, row: Row) -> Location | None:
    """The place below a row; names from the row replace those that the place was narrowed to."""
    view = below(table, row)
    if not view:
        return None
    spec = spec_of(view)
    if spec.screen == "conversation":
        named = row.record.get("conversation") or value(row.where, "conversation")
        return Location(view, crumb=str(named or ""), scope=row.where)
    if spec.sides and not place.sides:
        return Location(view, noun(view), scope_of(table, place.scope), sides=sides_of(table))
    scope = narrowed(narrowed(place.scope, carried(place.filter, table)), row.where)
    sides = place.sides if spec.sides else ()
    return Location(view, crumb_of(row.record, place.scope) or noun(view if sides else table.view), scope, sides=sides)


def state_of(place: Location, row: Row | None) -> Location | None:
    """The place of the state that a row is about, with its graph, if it is about one."""
    if row is None or not row.record.get("flow") or not row.record.get("state") or "state" not in fixed(row.where):
        return None
    return Location("neighbors", str(row.record["state"]), narrowed(place.scope, row.where), graph=True)


def centred(place: Location, state: str) -> Location:
    """The same flow with another state in the middle."""
    scope = narrowed(kept(place.scope, ("flow", "agent")), f"state={quote(state)}")
    return Location("neighbors", state, scope, graph=True)


def choose(stack: Stack, view: str, conditions: str = "") -> Stack:
    """The stack for a view chosen by its key: of what one is in, and chosen again of more, up to everything.

    `conditions` on calls, from a filter that was typed here, go along.
    """
    spec = spec_of(view)
    if spec.depth == 0:
        return START
    if spec.no_calls:
        return (*START, Location(view))
    # A conversation says which call it is, its list what it was looked for in.
    here = stack[-2] if stack[-1].kind == "conversation" and len(stack) > 1 else stack[-1]
    scopes = [narrowed(kept(here.scope, steps), conditions) for steps in spec.scopes] + [conditions]
    wider = (scope for scope in scopes if here.view != view or not within(scope, here.scope))
    scope = next(wider, scopes[-1])
    above = tuple(place for place in stack if spec_of(place.view).depth < spec.depth and within(scope, place.scope))
    return (*(above or START), Location(view, scope=scope))


def crumbs(stack: Stack) -> list[str]:
    """The breadcrumb's parts, raw: names from above, and the filter typed at each place."""
    return [f"{_named(place)}{f' [{place.filter}]' if place.filter else ''}" for place in stack]


def _named(place: Location) -> str:
    return f"{place.crumb or noun(place.view)}{f' on {place.aspect}' if place.aspect else ''}"


def state_name(place: Location) -> str:
    """The state that a place is about."""
    return value(place.scope, "state") or place.crumb


def crumb_of(record: Mapping[str, Any], scope: str) -> str:
    """What a row adds to the breadcrumb, without what the places above have said."""
    said = fixed(scope)
    if record.get("first") and record.get("second"):
        others = [str(record[key]) for key in ("first", "second") if record[key] not in heard(scope)]
        return f"with {others[0]}" if len(others) == 1 else " and ".join(others)
    flow, agent = (str(record.get(key) or "") if key not in said else "" for key in ("flow", "agent"))
    last = next((str(record[key]) for key in ("state", "segment", *_WHOLES) if record.get(key)), "")
    names = [" @ ".join(name for name in (flow, agent) if name), last]
    return " › ".join(name for name in names if name)


def same(first: Stack, second: Stack) -> bool:
    """Whether two stacks hold the same places, however their rows are ordered and wherever the cursor stands."""

    def told(stack: Stack) -> list[Location]:
        return [replace(place, row="", column="", index=0, sort=None) for place in stack]

    return told(first) == told(second)
