"""A catalog of hand-made tables, for tests of what the screen does with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from tests.support.view_answers import state_cell
from tests.surface.explorer import START, Stack, descend
from tests.surface.store import BlastRadius, Bucket, Neighbor, Neighborhood, PooledLatency, Victim, terms
from tests.surface.tui import Column, Moment, Request, Row, Severity, Table, VisitSpan, VisitTimeline, parse
from tests.surface.tui import neighbors_neighbors as neighbors

NAMES = ("apartment_scheduler", "property_trouble_ticket", "austin_plumbing", "weather", "dental_clinic")
SCORES = (
    Column("operability", "operability", better="higher", strong=True, help="Could this be put in front of callers."),
    Column("correctness", "correctness", better="higher", help="Reached a success terminal."),
    Column("completion", "completion", better="higher"),
    Column("errors", "errors", better="higher"),
    Column("latency_p95", "lat_p95", unit="s", better="lower"),
    Column("turn_count", "turn_count", unit="turns"),
    Column("n", "n", kind="count", thin=True),
    Column("blend", "score", better="higher"),
    Column("hum:codex", "hum:codex", better="higher", path=("humanness", "codex")),
    Column("hum:dashscope", "hum:dashscope", better="higher", path=("humanness", "dashscope")),
    Column("hum:gemini", "hum:gemini", better="higher", path=("humanness", "gemini")),
)
COLUMNS = (Column("flow", "Flow", kind="name"), Column("agent", "Agent", kind="name"), *SCORES)


def flow_row(index: int) -> Row:
    """A row of a flow matrix with every kind of cell; a third of them marked as bad."""
    oper = index % 100 / 10
    flow = f"{NAMES[index % len(NAMES)]}_{index}"
    severity: dict[str, Severity] = {"operability": "bad", "correctness": "warn", "": "bad"} if oper < 4 else {}
    record = {
        "flow": flow,
        "agent": "gemini-2.5-flash" if index % 2 else "qwen-flash",
        "operability": oper,
        "correctness": (index * 7 % 100) / 10,
        "completion": 10.0,
        "errors": (index * 3 % 100) / 10,
        "latency_p95": (index * 13 % 150) / 10,
        "turn_count": (index * 11 % 90) / 10,
        "n": index % 40 + 1,
        "blend": oper,
        "humanness": {"codex": 1.1, "dashscope": None if index % 3 else 0.8, "gemini": 2.2},
    }
    return Row(f"r{index}", record, severity=severity, thin=index % 40 < 4, where=f"flow={flow}")


class LazyRows(Sequence[Row]):
    """Rows that are made when asked for, and that remember which were."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.touched: set[int] = set()

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(self.length))]
        if not 0 <= index < self.length:
            raise IndexError(index)
        self.touched.add(index)
        return flow_row(index)

    def __iter__(self) -> Iterator[Row]:
        return (self[index] for index in range(self.length))


def flow_table(count: int = 12, notes: Sequence[str] = ()) -> Table:
    """A flow matrix of so many rows."""
    return Table("flows", "Flows", COLUMNS, [flow_row(index) for index in range(count)], notes=notes)


def long_table(count: int) -> Table:
    """A flow matrix whose rows are made when they come into view."""
    return Table("flows", "Flows", COLUMNS, LazyRows(count))


# A small store's worth of tables: two flows, one of which breaks in `collect_details`.

_STATE_COLUMNS = (
    Column("flow", "Flow", kind="name", help="The dialogue."),
    Column("state", "State", kind="name", help="A node of the flow."),
    Column("n", "n", kind="count", thin=True, help="Calls behind the row."),
    Column("progress", "progress", better="higher", decimals=2, trim=True, help="Left forwards."),
    Column("stall", "stall", better="lower", decimals=2, trim=True, strong=True, help="Ended here."),
    Column("dwell_turns", "dwell", unit="turns", better="lower", help="Agent turns per entry."),
)
_SEGMENT_COLUMNS = tuple(
    Column("segment", "Segment", kind="name") if column.key == "state" else column for column in _STATE_COLUMNS
)
_CALL_COLUMNS = (
    Column("run", "Run", kind="name"),
    Column("conversation", "Conversation", kind="name"),
    Column("flow", "Flow", kind="name"),
    Column("agent", "Agent", kind="name"),
    Column("persona", "Persona", kind="name"),
    Column("completed", "completed", kind="flag"),
    Column("final_state", "Final state", kind="name"),
    Column("correctness", "correctness", better="higher", strong=True),
)
_MOMENT_COLUMNS = (
    Column("t", "t(s)", unit="s", help="Seconds since the call started."),
    Column("kind", "Kind", kind="name"),
    Column("state", "State", kind="name"),
    Column("role", "Who", kind="name"),
    Column("text", "Text", kind="text"),
    Column("latency_ms", "latency(ms)", better="lower", decimals=0),
    Column("detail", "Detail", kind="text"),
)


class FakeCatalog:
    """Answers as the catalog does; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Request]] = []
        self.error: Exception | None = None

    def show(self, view: str, request: Request) -> Table:
        """The table of a view: a word of the filter that no row's names hold hides the row."""
        self.asked.append((view, request))
        if self.error is not None:
            raise self.error
        table = _TABLES[view](request)
        words = [term for term in terms(request.predicate or parse(request.where)) if term.field is None]
        rows = [row for row in table.rows if all(str(term.value) in row.id for term in words)]
        if request.sort == "-stall" and table.view == "conversations":
            named = {term.value for term in terms(request.predicate or parse(request.where)) if term.field == "state"}
            rows.sort(key=lambda row: row.record["stalled_in"] not in named)
        elif request.sort:
            key = request.sort.removeprefix("-")
            column = table.column(key)
            assert column is not None
            rows.sort(key=lambda row: (column.value(row.record) is None, column.value(row.record)))
            rows = rows[::-1] if request.sort.startswith("-") else rows
        dump = f"riff-tui dump {view}" + (f" --where '{request.where}'" if request.where else "")
        return table._replace(rows=rows, total=len(table.rows), dump=dump, filter=request.where)


def _flows(_: Request) -> Table:
    rows = []
    for flow, agent, oper, n in (
        ("viewing", "gemini", 0.3, 11),
        ("viewing", "qwen", 4.0, 24),
        ("weather", "qwen", 10.0, 3),
    ):
        record = {"flow": flow, "agent": agent, "operability": oper, "correctness": oper, "n": n, "turn_count": 5.0}
        record["blend"] = oper
        marks: dict[str, Severity] = {"": "bad", "operability": "bad"} if oper < 4 else {}
        rows.append(Row(f"{flow} {agent}", record, severity=marks, thin=n < 5, where=f"flow={flow} agent={agent}"))
    return Table("flows", "Flows", COLUMNS, rows, notes=["Units: 0-10, higher is better."])


def _cells(view: str, names: Sequence[str], flow: str) -> list[Row]:
    rows = []
    for index, name in enumerate(names):
        stall = (0.36, 0.2, 0.0, 0.0)[index % 4]
        record = {
            "flow": flow,
            view: name,
            "n": 11,
            "progress": 1 - stall,
            "stall": stall,
            "dwell_turns": 3.6 - index,
            "intervals": {"stall": [max(0.0, stall - 0.2), stall + 0.2]},
        }
        marks: dict[str, Severity] = {"": "bad", "stall": "bad"} if stall > 0.25 else {"stall": "warn"} if stall else {}
        rows.append(Row(f"{flow} {name}", record, severity=marks, where=f"flow={flow} {view}={name}"))
    return rows


def _segments(_: Request) -> Table:
    rows = _cells("segment", ("collect", "confirm", "opening"), "viewing")
    return Table("segments", "Segments", _SEGMENT_COLUMNS, rows)


STATES = ("collect_details", "confirm", "greet", "triage")


def _states(request: Request) -> Table:
    rows = _cells("state", STATES, "viewing")
    wanted = {str(term.value) for term in terms(request.predicate or parse(request.where)) if term.field == "state"}
    return Table(
        "states", "States", _STATE_COLUMNS, [row for row in rows if not wanted or row.record["state"] in wanted]
    )


WAITS = PooledLatency(
    1.2,
    3.9,
    9.1,
    60,
    11,
    11,
    buckets=[Bucket(0.5, 1.0, 18), Bucket(1.0, 2.0, 33), Bucket(2.0, 5.0, 7), Bucket(5.0, None, 2)],
)


def _neighbors(request: Request) -> Table:
    state = next(str(term.value) for term in terms(request.predicate or parse(request.where)) if term.field == "state")
    stall = 0.36 if state == "collect_details" else 0.2
    cell = state_cell("viewing", state, n=11, progress=1 - stall, stall=stall, escalation=0.1, dwell_turns=3.6)
    answer = Neighborhood(
        flow="viewing",
        state=state,
        cell=cell,
        predecessors=[Neighbor("triage", 42, 0.71, 0.0, 11), Neighbor("greet", 17, 0.29, 0.0, 11)],
        successors=[Neighbor("confirm", 31, 0.5, 0.2, 11), Neighbor("escalated", 6, 0.1, None, 0, "escalation")],
        loops=9,
        blast=BlastRadius("calls", [Victim("confirm", 0.5, 0.5, 3.0, 31)]),
        calls=11,
    )
    return neighbors(answer, WAITS)


def _conversations(_: Request) -> Table:
    rows = []
    for index in range(6):
        record = {
            "run": "r1",
            "conversation": f"c-000{index}",
            "flow": "viewing",
            "agent": "gemini",
            "persona": "calm" if index % 2 else "angry",
            "completed": index % 3 == 0,
            "final_state": "closing" if index % 3 == 0 else "collect_details",
            "stalled_in": None if index % 3 == 0 else "collect_details",
            "correctness": 10.0 if index % 3 == 0 else 0.0,
        }
        marks: dict[str, Severity] = {} if record["completed"] else {"correctness": "bad", "": "bad"}
        rows.append(Row(f"c-000{index}", record, severity=marks, where=f"run=r1 conversation=c-000{index}"))
    return Table("conversations", "Conversations", _CALL_COLUMNS, rows)


def conversation_table(words: str = "Hi, which day suits you?") -> Table:
    """A conversation with one moment of every kind; the agent says `words`."""
    moments: list[dict[str, object]] = [
        {"t": 0.0, "kind": "state", "state": "greet"},
        {"t": 0.4, "kind": "turn", "state": "greet", "role": "agent", "text": words, "latency_ms": 900.0},
        {"t": 2.4, "kind": "turn", "state": "greet", "role": "caller", "text": "Tuesday, maybe. " * 8},
        {"t": 2.6, "kind": "state", "state": "collect_details", "detail": "from greet: has_intent"},
        {"t": 2.6, "kind": "slot", "state": "collect_details", "detail": f"date = {words}"},
        {"t": 3.0, "kind": "guard", "state": "collect_details", "detail": "has_name raised: KeyError"},
        {"t": 3.2, "kind": "tool", "state": "collect_details", "detail": 'lookup({"day": "Tue"})'},
        {"t": 9.9, "kind": "turn", "state": "collect_details", "role": "agent", "text": "Done.", "latency_ms": 9100.0},
    ]
    marks: dict[int, dict[str, Severity]] = {5: {"detail": "bad", "": "bad"}, 7: {"latency_ms": "bad", "": "bad"}}
    rows = [Row(str(number), moment, severity=marks.get(number, {})) for number, moment in enumerate(moments)]
    visits = (VisitSpan("greet", 0.0, 2.6, False), VisitSpan("collect_details", 2.6, 9.9, True))
    filled = Moment("slot", 2.6, "collect_details", {"slot": "date"})
    raised = Moment("guard", 3.0, "collect_details", {"guard": "has_name", "error": "KeyError"})
    figure = VisitTimeline.of(visits, [filled, raised])
    notes = ["flow viewing · agent gemini · stop max_turns", "Computed: correctness 0.0", "greet (opening): progress"]
    return Table("conversation", "Conversation", _MOMENT_COLUMNS, rows, notes=notes, figure=figure)


def _worklist(_: Request) -> Table:
    columns = (Column("list", "List", kind="name"), Column("rank", "Rank", kind="count"), *_STATE_COLUMNS[:2])
    entries = (
        ("flows", {"flow": "viewing", "agent": "gemini"}, "flow=viewing agent=gemini"),
        ("segments", {"flow": "viewing", "segment": "collect"}, "flow=viewing segment=collect"),
        (
            "states",
            {"flow": "viewing", "segment": "collect", "state": "collect_details"},
            "flow=viewing state=collect_details",
        ),
    )
    rows = [
        Row(f"{listed}: {where}", {"list": listed, "rank": 1, **names}, severity={"": "bad"}, where=where)
        for listed, names, where in entries
    ]
    return Table("worklist", "What to work on", columns, rows)


_TABLES: dict[str, Callable[[Request], Table]] = {
    "flows": _flows,
    "segments": _segments,
    "states": _states,
    "neighbors": _neighbors,
    "conversations": _conversations,
    "conversation": lambda _: conversation_table(),
    "worklist": _worklist,
}


def walked(*rows: int) -> Stack:
    """The stack after Enter on these rows of the small store."""
    catalog = FakeCatalog()
    stack: Stack = START
    for row in rows:
        table = catalog.show(stack[-1].view, Request(where=stack[-1].where.text))
        place = descend(stack[-1], table, table.rows[row])
        assert place is not None
        stack = (*stack, place)
    return stack
