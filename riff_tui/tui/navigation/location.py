"""Describe where in the store one is by predicates, and find the locations above, below and beside it.

Nothing here knows the screen; every step gives a new value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from riff_store.filters.predicates import And, Or, Term, conjuncts
from riff_tui import descent
from riff_tui.catalog import Request
from riff_tui.descent import (
    Scope,
    about_calls,
    fixed_field,
    fixed_fields,
    keep_steps,
    named_sides,
    narrow,
    parsed,
    parts_about_calls,
    split_by_field,
    step_below,
    way_below,
)
from riff_tui.filters import Filter
from riff_tui.table import Row, Table
from riff_tui.view_registry import spec_of
from riff_tui.views import compare
from riff_tui.views.failures import side_argument
from riff_tui.views.spec import ScreenKind

SIDE_BY_SIDE = compare.SIDE_BY_SIDE
_NO_FILTER = Filter()
_WHOLES = ("run", "archetype", "judge", "level")
_NAMES = frozenset(("first", "second", "flow", "agent", "state", "segment", *_WHOLES))

CacheKey = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Location:
    """Describe a view of the store, what it is narrowed to, and where the cursor was.

    `scope` comes from the rows above, `filter` was typed here; `crumb` is raw text for the breadcrumb, empty for a view
    of everything. `sort` is the order chosen here, empty for the view's own; where it is `None` none was chosen. `row`
    and `column` name the cursor's row and column, `index` is where that row was; `graph` shows that the cursor is in
    the neighbour graph. Of a comparison `pair` are the ids of both rows, and `of` is the view that they come from.
    `sides` are the runs or agents that are tested against each other. `aspect` is explained instead of quality.
    `reason` is the order of calls that shows why one came here. `by` are the names that distinguish the rows, none for
    the view's own. Where rows are `unfolded`, those that one row represents elsewhere are shown.
    """

    view: str
    crumb: str = ""
    scope: Filter = _NO_FILTER
    filter: Filter = _NO_FILTER
    sort: str | None = None
    row: str = ""
    column: str = ""
    index: int = 0
    graph: bool = False
    of: str = ""
    pair: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    aspect: str = ""
    reason: str = ""
    by: tuple[str, ...] = ()
    unfolded: bool = False

    @property
    def where(self) -> Filter:
        """Return the whole filter of this location."""
        return self.scope & self.filter

    @property
    def typed_from(self) -> int:
        """Return where in the text of the whole filter the typed one begins."""
        whole, typed = self.where.text, self.filter.text
        return len(whole) - len(typed) - whole.endswith(f"({typed})")

    @property
    def kind(self) -> ScreenKind:
        """Return which screen shows it."""
        return spec_of(self.view).screen.kind

    @property
    def cache_key(self) -> CacheKey:
        """Return what its rows depend on: locations with the same key have the same rows."""
        own = self.view, self.where.text, self.chosen_order, self.of, self.aspect, "unfolded" if self.unfolded else ""
        return *own, *self.by, *self.pair, *self.sides

    @property
    def order(self) -> str:
        """Return the column that the rows are sorted by (`-` before it for downwards), as far as one column says it."""
        return self.chosen_order or spec_of(self.view).order_by

    @property
    def chosen_order(self) -> str:
        """Return the order that was chosen here or that one came for, empty for the view's own."""
        return self.reason if self.sort is None and self.lists_calls else self.sort or ""

    @property
    def splits(self) -> tuple[str, ...]:
        """Return the names that a request has to ask for rows by, none if they are the view's own."""
        return () if self.by == spec_of(self.view).keys else self.by

    @property
    def lists_calls(self) -> bool:
        """Return whether its rows are those of the list of calls."""
        spec = spec_of(self.view)
        return (spec.screen.rows_of or spec.name) == "conversations"

    @property
    def between(self) -> tuple[str, str] | None:
        """Return the two sides, if there are any."""
        return (self.sides[0], self.sides[1]) if len(self.sides) == 2 else None

    @property
    def request(self) -> Request:
        """Return what to ask the store for, all that is to be known of its rows."""
        return Request(
            where=self.where.text,
            by=self.splits,
            sort=self.chosen_order or None,
            sides=self.between,
            aspect=self.aspect or None,
            outline=True,
            predicate=self.where.predicate,
        )


Stack = tuple[Location, ...]
START: Stack = (Location("flows"),)


def fixed_columns(location: Location) -> frozenset[str]:
    """Return the columns that are the same in every row of a location."""
    return frozenset() if spec_of(location.view).words.ranked else fixed_fields(location.scope.predicate)


def noun(view: str) -> str:
    """Return what people call what a view shows."""
    return (spec_of(view).words.noun or view) if view else ""


def below(table: Table, row: Row | None) -> str:
    """Return the view that Enter opens from a row, empty if nothing is below or no view is called so."""
    if row is not None and table.view == SIDE_BY_SIDE:
        return "compare" if sides_of(table) else ""
    return "" if row is None else descent.below(table, row)


def descend(location: Location, table: Table, row: Row) -> Location | None:
    """Return the location below a row; names from the row replace those in the scope of the present one."""
    view = below(table, row)
    if not view:
        return None
    spec, scope, way = spec_of(view), location.scope.predicate, parsed(row.leads or row.where)
    if spec.screen.kind == "conversation":
        name = row.record.get("conversation") or fixed_value(way.predicate, "conversation")
        return Location(view, crumb=str(name or ""), scope=way)
    if spec.sides and not location.sides:
        return Location(view, noun(view), Filter.of(scope_of(table, scope)), sides=sides_of(table))
    sides = named_sides(table) if spec.sides else ()
    names = (row_crumb(row.record, scope), *_other_names(table, row, scope))
    crumb = " › ".join(filter(None, names)) or noun(view if sides else table.view)
    scope = way_below(row, scope, about_calls(location.filter.predicate, table))
    # A row that names one of its calls leads to the list of all with the cursor on that one.
    example = str(row.record.get("example") or "")
    return Location(view, crumb, Filter.of(scope), sides=sides, reason=row.order or location.reason, row=example)


def state_of(location: Location, table: Table | None, row: Row | None) -> Location | None:
    """Return the location of the state that a row is about, with its graph, if it is about one."""
    if row is None or not row.record.get("flow") or not row.record.get("state"):
        return None
    way = parsed(row.where).predicate
    if "state" not in fixed_fields(way):
        return None
    typed = None if table is None else about_calls(location.filter.predicate, table)
    scope = narrow(narrow(location.scope.predicate, typed), way)
    return Location("neighbors", str(row.record["state"]), Filter.of(scope), graph=True)


def center_on(location: Location, state: str) -> Location:
    """Return the location of another state of the same flow, with its graph."""
    scope = keep_steps(location.scope.predicate, ("flow", "agent"))
    return Location("neighbors", state, Filter.of(narrow(scope, name_term("state", state))), graph=True)


def recentred(stack: Stack, location: Location) -> Stack:
    """Return a stack with another state on top, below those locations alone that it is in: not another's segment."""
    return (*locations_above(stack[:-1], location.view, location.scope.predicate), location)


def calls_of_step(location: Location, row: Row) -> Location:
    """Return the list of the calls that took the step that a row of a neighbour graph is about."""
    scope = step_below(row, location.scope.predicate, location.filter.predicate)
    (step,) = (part for part in conjuncts(parsed(row.leads).predicate) if isinstance(part, And))
    here, other = fixed_value(step, "state"), row.record["state"]
    names = (other or "(start)", here) if row.record["direction"] == "in" else (here, other or "end")
    return Location("conversations", " → ".join(map(str, names)), Filter.of(scope))


def locations_above(stack: Stack, view: str, scope: Scope) -> Stack:
    """Return those locations of a stack that a view in some scope can be below."""
    depth = spec_of(view).screen.depth
    return tuple(
        each for each in stack if spec_of(each.view).screen.depth < depth and is_within(scope, each.scope.predicate)
    )


def crumbs(stack: Stack) -> list[str]:
    """Return the breadcrumb's parts, raw: names from above, and the filter typed at each location."""
    found = []
    for each in stack:
        aspect = f" on {each.aspect}" if each.aspect else ""
        found.append(f"{each.crumb or noun(each.view)}{aspect}{f' [{each.filter}]' if each.filter else ''}")
    return found


def row_crumb(record: Mapping[str, Any], scope: Scope) -> str:
    """Return what a row adds to the breadcrumb, without what the locations above have said."""
    fixed = fixed_fields(scope)
    if record.get("first") and record.get("second"):
        others = [str(record[key]) for key in ("first", "second") if record[key] not in named_judges(scope)]
        return f"with {others[0]}" if len(others) == 1 else " and ".join(others)
    flow, agent = (str(record.get(key) or "") if key not in fixed else "" for key in ("flow", "agent"))
    last = next((str(record[key]) for key in ("state", "segment", *_WHOLES) if record.get(key)), "")
    names = [" @ ".join(name for name in (flow, agent) if name), last]
    return " › ".join(name for name in names if name)


def _other_names(table: Table, row: Row, scope: Scope) -> list[str]:
    """Return what else names a row: by the keys of its view, or its name columns if nothing known names it."""
    keys: Sequence[str] = spec_of(table.view).keys
    if not keys and not _NAMES & row.record.keys():
        keys = [column.key for column in table.columns if column.kind == "name"]
    said = _NAMES | fixed_fields(scope)
    named = (key for key in keys if key not in said and row.record.get(key))
    return [(row.display.get(key) or str(row.record[key])).strip() for key in named]


Sides = tuple[str, ...]
_SIDE_NAMES = ("flow", "agent", "run", "persona", "archetype")
_OUTCOMES = ("Newly ", "B is, in")
"""How the notes of a comparison begin that say what came out of it."""


def sides_of(table: Table) -> Sides:
    """Return both sides, as the command takes them, of rows that differ in run or in agent alone; else nothing."""
    a, b = _side_names(table)
    kind = _side_kind(a, b)
    return tuple(side_argument(kind, str(side[kind])) for side in (a, b)) if kind else ()


def scope_of(table: Table, scope: Scope) -> Scope:
    """Return what two sides are compared within: the location's own conditions, and the names that both rows have."""
    a, b = _side_names(table)
    kind = _side_kind(a, b)
    _, conditions = split_by_field(scope, (kind,))
    for field in _SIDE_NAMES:
        if field != kind and a.get(field) is not None:
            conditions = narrow(conditions, name_term(field, a[field]))
    return conditions


def split_by_sides(table: Table, view: str, scope: Scope, above: Scope) -> Location | None:
    """Return the location of a view of the calls of two sides alone, its rows split by them; `None` if these are none.

    `table` compares both, `scope` is what they are compared within, and `above` what the location above reports of
    that.
    """
    names = _side_names(table)
    kind = _side_kind(*names)
    if not kind:
        return None
    both = Or(tuple(name_term(kind, str(side[kind])) for side in names))
    within = scope_of(table, scope)
    crumb = row_crumb({field: fixed_value(within, field) for field in fixed_fields(within)}, above)
    return Location(view, " › ".join(filter(None, (crumb, noun(view)))), Filter.of(narrow(within, both)), by=(kind,))


def heading(table: Table, within: str = "") -> list[str]:
    """Return what is compared within, who is who, with how many calls, and what came out of it; names are raw text."""
    lines = [f"In {within}"] if within and table.view == "compare" else []
    for letter, side in ((letter, table.extras[letter]) for letter in "ab" if letter in table.extras):
        errored = f", {side['excluded']} errored" if side["excluded"] else ""
        lines.append(f"{letter.upper()}  {side['kind']} {side['name']}   n {side['n']}{errored}")
    lines += [table.lead] if table.lead else []
    return [*lines, *(note for note in table.notes[:2] if table.view == "compare" and note.startswith(_OUTCOMES))]


def _side_names(table: Table) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the names of both rows or sides; a level of a factor is called by it, as an agent is one of `agent`."""
    found = (table.extras.get("a"), table.extras.get("b"))
    a, b = ({} if not isinstance(names, Mapping) else _as_names(names) for names in found)
    return a, b


def _as_names(names: Mapping[str, Any]) -> Mapping[str, Any]:
    if {"kind", "name", "n"} <= names.keys():
        return {str(names["kind"]): names["name"]}
    return {str(names["factor"]): names["level"]} if names.keys() == {"factor", "level"} else names


def _side_kind(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """Return the field in which alone the rows differ, if that makes them two sides."""
    differing = [name for name in a if a[name] != b.get(name)]
    kind = differing[0] if differing in (["run"], ["agent"]) and a.keys() == b.keys() <= {*_SIDE_NAMES} else ""
    return kind if kind and a[kind] is not None and b[kind] is not None else ""


def name_term(field: str, name: str) -> Term:
    """Return the term that has a field to a name; a name that is not a text is spelled as `quote` spells it."""
    return Term(field, "=", name.encode("utf-8", "backslashreplace").decode())


def is_within(inner: Scope, outer: Scope) -> bool:
    """Return whether the inner scope contains everything that the outer one does."""
    return set(conjuncts(outer)) <= set(conjuncts(inner))


def fixed_value(scope: Scope, field: str) -> str | None:
    """Return the name that a scope has a field to."""
    for part in conjuncts(scope):
        if fixed_field(part) == field and isinstance(part, Term):
            return None if part.value is None else str(part.value)
    return None


def named_judges(scope: Scope) -> frozenset[str]:
    """Return the judges that a scope names."""
    named = (part for part in conjuncts(scope) if isinstance(part, Term) and part.field == "judge")
    return frozenset(str(part.value) for part in named if part.operator == "=")


def about_calls_or_names(predicate: Scope, table: Table) -> Scope:
    """Return the part of a filter typed over a table that narrows other views: what it reports of calls or by name."""
    return parts_about_calls(predicate, {column.key for column in table.columns if column.kind != "name"} | {"n"})
