"""Show which routes calls take through a flow: the order in which they first come to its states, and how that ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.shapes import COUNT, INTERVALS, NUMBER, TEXT, list_of, numbers, or_null, record
from riff_tui.table import BOUNDS, Bounds, Column, Folded, Row, Table
from riff_tui.text.glyphs import UNICODE
from riff_tui.text.numbers import counted, percent
from riff_tui.views.funnel import LISTED, RARE
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import BY, Filters, Screen, ViewSpec, Words
from riff_tui.views.states import NO_STATES, with_excluded

if TYPE_CHECKING:
    from riff_store.queries.funnel import FlowRoutes, Route
    from riff_tui.view_query import ViewQuery

UNITS = "Units: share of the flow's calls · success of those of which it is known"
UNITS_OF = {
    "off": " · off calls that took a step that no file of the flow has",
    "new": " · new no run before the last one took the route",
}
PARTING = "Route: … begins as the largest route of the flow does · » where it parts from that."
INDENTED = "Beginnings: each row goes on from the one that it is indented under."
ENDS = "(ends)"
UNORDERED = "(order not known)"
ROUTES_FIRST = ("n", "share", "success_rate", "failed", "off", "new")
_OF_ROUTES = (
    Column("route", "Route", kind="name", help="The states and outcomes in the order in which calls first come there."),
    columns.N,
    columns.share("share", "share", help="The share of the flow's calls that took this route."),
    columns.SUCCESS,
    columns.FAILED,
    Column("off", "off", kind="count", better="lower", help="Calls that took a step that no file of the flow has."),
    Column("new", "new", kind="flag", help="Whether no run before the flow's last one had a call of this route."),
    Column("example", "Example", kind="text", shown=False, help="A call of this route, a failed one if any."),
)


def show(query: ViewQuery) -> Table:
    """Return the routes of each flow in scope."""
    from riff_store.queries.calls import examples_of
    from riff_store.queries.funnel import routes as asked

    by = ("flow", *(key for key in query.request.by if key != "flow"))
    found = query.result(
        query.parts(),
        lambda parts: routes(
            asked(query.store, parts.calls, by), by, outline=query.request.outline, bounds=query.bounds
        ),
    )
    named = examples_of(query.store, [row.record["example"] for row in found.rows])
    rows = [
        row._replace(
            record={**row.record, "example": cells.call_where(example)},
            display={**row.display, "example": example.conversation},
        )
        for row in found.rows
        for example in (named[row.record["example"]],)
    ]
    return with_excluded(query, found._replace(rows=rows))


def routes(
    answers: Sequence[FlowRoutes], by: Sequence[str] = ("flow",), *, outline: bool = False, bounds: Bounds = BOUNDS
) -> Table:
    """Return a row for each route, the flows in the order of the answers; an example is the key of a call.

    In an `outline` flows with too many routes to read have a row for each common beginning instead.
    """
    one = len(answers) == 1
    outlined = [each for each in answers if outline and each.beginnings]
    rows, rare = list[Row](), list[Row]()
    for each in answers:
        made = list(_beginnings(each, bounds) if each in outlined else _routes(each, bounds))
        rows += made
        rare += [] if each in outlined else [row for row in made if _is_rare(row)]
    is_shown = {
        "flow": not one,
        "off": any(row.record["off"] for row in rows),
        "new": any(row.record["new"] for row in rows),
    }
    return Table(
        view="routes",
        title=f"Routes: {_scope_of(answers[0]) if one else columns.several_flows([each.keys for each in answers], by)}",
        columns=[
            column._replace(shown=is_shown.get(column.key, column.shown)) for column in (*columns.keys(by), *_OF_ROUTES)
        ],
        rows=rows,
        notes=list(_notes_on_routes(answers, outlined, rare, is_shown)),
        extras={
            "flows": [_flow_record(each) for each in answers],
            "beginnings": [_record_of(each.keys, route) for each in answers for route in each.beginnings],
        },
        folded=Folded(frozenset(row.id for row in rare), tuple(by), "route", "n", "route") if rare else None,
        identity=(*by, "route"),
        first=ROUTES_FIRST,
    )


def _summary(table: Table) -> str:
    """Return what the rows are, and of how many calls."""
    kinds = (kind for kind, note in (("routes", PARTING), ("beginnings", INDENTED)) if note in table.notes)
    return f"{' and '.join(kinds)} of {cells.calls_text(sum(flow['calls'] for flow in table.extras['flows']))}"


def _is_rare(row: Row) -> bool:
    return row.record["share"] < RARE and not row.record["off"] and not row.record["new"]


def _scope_of(answer: FlowRoutes) -> str:
    names = " @ ".join(name or "·" for name in answer.keys.values())
    said = f"{names} · {counted(len(answer.routes), 'route')} of {cells.calls_text(answer.calls)}"
    return f"{said} · {answer.failed:,} failed"


def _notes_on_routes(
    answers: Sequence[FlowRoutes], outlined: Sequence[FlowRoutes], rare: Sequence[Row], is_shown: Mapping[str, bool]
) -> Iterator[str]:
    yield "".join((UNITS, *(text for key, text in UNITS_OF.items() if is_shown[key]), "."))
    if len(outlined) < len(answers):
        yield PARTING
    if len(answers) > 1:
        yield from (f"{_scope_of(each)}{_stay(each)}." for each in answers[:LISTED])
        if len(answers) > LISTED:
            yield f"… and {len(answers) - LISTED:,} more, ordered by failed calls."
    else:
        yield from (f"Conformance{said.replace(' ·', ':')}." for each in answers if (said := _stay(each)))
    if outlined:
        flows = "the flow has" if len(answers) == 1 else f"{counted(len(outlined), 'flow')} of {len(answers)} have"
        yield f"Hardly two calls take the same route: {flows} too many to read, so common beginnings are listed."
        yield INDENTED
    if rare:
        yield f"Folded: routes that less than {percent(RARE)} of calls took."


def _stay(answer: FlowRoutes) -> str:
    if answer.conformance is None or answer.off is None:
        return ""
    on = f"{answer.followed - answer.off:,} of {cells.calls_text(answer.followed)}"
    return f" · {on} ({percent(answer.conformance)}) stay on the steps of the flow's files"


def _flow_record(answer: FlowRoutes) -> dict[str, Any]:
    return {
        **answer.keys,
        "routes": len(answer.routes),
        **cells.values_of(answer, "calls failed followed off conformance"),
    }


def _record_of(keys: Mapping[str, str | None], route: Route) -> dict[str, Any]:
    return {
        **keys,
        "route": list(route.states) or None,
        **cells.values_of(route, "n share"),
        "success_rate": route.success.mean,
        **cells.values_of(route, "failed off"),
    }


def _routes(answer: FlowRoutes, bounds: Bounds) -> Iterator[Row]:
    largest = next((route.states for route in answer.routes if route.states), ())
    for route in answer.routes:
        place = {**answer.keys, "route": route.text}
        yield _route_row(answer, route, place, _parting(route.states, largest, answer.outcomes), bounds)


def _beginnings(answer: FlowRoutes, bounds: Bounds) -> Iterator[Row]:
    above: list[tuple[str, ...]] = []
    for route in answer.beginnings:
        states = route.states
        while above and above[-1] != states[: len(above[-1])]:
            above.pop()
        further = states[len(above[-1]) :] if above else states
        text = "  " * len(above) + _joined_states(further, answer.outcomes)
        above.append(states)
        yield _route_row(answer, route, {**answer.keys, "beginning": route.text}, text, bounds)


def _route_row(answer: FlowRoutes, route: Route, place: Mapping[str, str | None], text: str, bounds: Bounds) -> Row:
    from riff_tui.filters.parser import LONGEST

    measures = {"success_rate": route.success}
    marks = cells.measured_marks(measures, bounds)
    name = cells.where(place)
    where = f"{name} errored=false" if route.excluded else name
    return Row(
        name,
        {
            **_record_of(answer.keys, route),
            "new": route.is_new,
            "example": route.example,
            "intervals": cells.intervals(measures),
        },
        {"route": text, **({"off": ""} if route.off == 0 else {}), "new": "new" if route.is_new else ""},
        severity={**marks, "": worst} if (worst := cells.worst_of(marks.values())) else marks,
        thin=cells.is_thin(route.n),
        # A filter can contain no longer one, so that nothing is below such a row.
        where=where if len(where) < LONGEST else "",
        counts=cells.counts_of(route.n, measures),
    )


def _parting(states: Sequence[str], largest: Sequence[str], outcomes: Mapping[str, str]) -> str:
    """Return a route as people read it: what it shares with the largest one is left out but for the last state."""
    if not states:
        return UNORDERED
    if states == largest:
        return _joined_states(states, outcomes)
    shared = shared_states(states, largest)
    after = _joined_states(states[shared:], outcomes) or ENDS
    before = _joined_states(states[max(0, shared - 1) : shared], outcomes)
    return " ".join(filter(None, ("…" if shared > 1 else "", before, "»", after)))


def shared_states(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many states two routes begin alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _joined_states(states: Sequence[str], outcomes: Mapping[str, str]) -> str:
    return UNICODE.crumb.join(
        f"{UNICODE.success if outcomes[state] == 'success' else UNICODE.escalation} {state}"
        if state in outcomes
        else state
        for state in states
    )


_BY = dict.fromkeys(BY, or_null(TEXT))
_OF_FLOW = {
    **dict.fromkeys(("routes", "calls", "failed", "followed"), COUNT),
    "off": or_null(COUNT),
    "conformance": or_null(NUMBER),
}
_OF_BEGINNING = {
    "route": or_null(list_of(TEXT)),
    **dict.fromkeys(("n", "failed"), COUNT),
    **numbers(("share", "success_rate")),
    "off": or_null(COUNT),
}


SPEC = ViewSpec(
    name="routes",
    title="Routes",
    help=(
        "The routes that calls take through a flow: in which order they first come to its states, and how that ends.",
        "Loops make no new route; if hardly two calls take the same one, common beginnings are listed.",
        'Drill into a route with conversations --where \'flow=F route="S > T > U"\', or beginning="S > T".',
    ),
    order=46,
    show=show,
    keys=("flow", "route"),
    rows={"route": list_of(TEXT), "intervals": INTERVALS, "off": or_null(COUNT), "example": TEXT},
    top={
        "flows": list_of(record({**_OF_FLOW, **_BY}, sometimes=BY)),
        "beginnings": list_of(record({**_OF_BEGINNING, **_BY}, sometimes=BY)),
    },
    columns=(columns.FLOW, *_OF_ROUTES),
    filters=Filters(calls=True, fields=("n", "share", "success_rate", "off", "new")),
    first=ROUTES_FIRST,
    comparable=True,
    splits=True,
    words=Words(nouns=("route", "routes"), summary=_summary, empty=NO_STATES),
    screen=Screen(
        key="Y",
        help="The routes that calls take through this flow, the largest first; press again for more.",
        below="conversations",
        walk=("flow", "agent"),
        of_row=("flow",),
    ),
)
