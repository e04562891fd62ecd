"""One hand-made table of each shape that a sink has to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.surface.tui import Column, Row, Section, Severity, Table

_JUDGES = ("codex", "dashscope", "gemini")

FLOW_COLUMNS: Sequence[Column] = (
    Column("flow", "Flow", kind="name"),
    Column("agent", "Agent", kind="name"),
    Column("operability", "operability", unit="0-10", better="higher", strong=True, strong_title=True),
    Column("correctness", "correctness", unit="0-10", better="higher"),
    Column("completion", "completion", unit="0-10", better="higher"),
    Column("errors", "errors", unit="0-10", better="higher"),
    Column("latency_p95", "lat_p95", unit="s", better="lower"),
    Column("latency_mean", "lat_mean", unit="s", better="lower", shown=False),
    Column("turn_count", "turn_count", unit="turns"),
    Column("n", "n", kind="count", thin=True),
    Column("excluded", "excluded", kind="count", shown=False),
    *(Column(f"hum:{judge}", f"hum:{judge}", better="higher", path=("humanness", judge)) for judge in _JUDGES),
)

STATE_COLUMNS: Sequence[Column] = (
    Column("flow", "Flow", kind="name"),
    Column("state", "State", kind="name"),
    Column("n", "n", kind="count", thin=True),
    Column("progress", "progress", better="higher", decimals=2, trim=True),
    Column("stall", "stall", better="lower", decimals=2, trim=True, strong=True),
    Column("escalation", "escal", better="lower", decimals=2, trim=True),
    Column("revisit", "revisit", better="lower", decimals=2, trim=True),
    Column("dwell_turns", "dwell", better="lower"),
    Column("latency_p95", "lat_p95(s)", unit="s", better="lower"),
    Column("slot_fill_rate", "slot_fill", better="higher"),
    Column("to_states", "to_states", kind="object", shown=False),
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing that represents any other."""

    lines: tuple[str, ...]

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        return [line.replace("►", ">").replace("─", "-") if ascii_only else line for line in self.lines]


def flow_row(flow: str, agent: str, scores: Sequence[float | None], n: int, judged: Sequence[float | None]) -> Row:
    """A row of the flow matrix, with the six means in the order of the published table."""
    keys = ("operability", "correctness", "completion", "errors", "latency_p95", "turn_count")
    record: dict[str, Any] = {"flow": flow, "agent": agent, "n": n, "excluded": 0}
    record |= dict(zip(keys, scores, strict=True))
    record |= {"latency_mean": None, "humanness": dict(zip(_JUDGES, judged, strict=True))}
    operability = scores[0]
    marks: dict[str, Severity] = (
        {"": "bad", "operability": "bad"} if operability is not None and operability <= 4 else {}
    )
    return Row(f"{flow} @ {agent}", record, severity=marks, thin=n < 5, where=f"flow={flow} agent={agent}")


def flows() -> Table:
    """The published table of metrics.md, with what is not published left unmeasured."""
    none = (None, None, None)
    return Table(
        view="flows",
        title="Evaluation matrix: (flow × agent) × aspects (computed) + humanness × judge",
        columns=FLOW_COLUMNS,
        rows=[
            flow_row("apartment_scheduler", "gemini-2.5-f", (0.3, 0.0, 0.0, 0.0, 11.1, 7.9), 11, none),
            flow_row("property_trouble_ticket", "qwen-flash", (1.8, 0.0, 4.2, 0.3, 4.2, 5.0), 24, (1.1, 0.8, 2.2)),
            flow_row("austin_plumbing", "qwen-flash", (4.0, 6.8, 10.0, 2.9, 3.9, 7.3), 19, (1.8, 0.9, 2.1)),
            flow_row("weather", "qwen-flash", (10.0, 10.0, 10.0, 10.0, 0.7, 2.0), 3, none),
        ],
        filter="flow:a",
        notes=[
            "Units: correctness, completion, errors, humanness 0-10, higher is better"
            " · latency seconds, lower is better · turn_count raw."
        ],
        total=6,
        matched=4,
    )


def published_rows() -> Table:
    """Exactly what the page on dump shapes shows."""
    table = flows()
    return Table(table.view, table.title, table.columns, table.rows[:2], notes=table.notes)


def state_row(flow: str, state: str, n: int, means: Sequence[float | None]) -> Row:
    """A row of the state matrix with its seven means in order."""
    keys = ("progress", "stall", "escalation", "revisit", "dwell_turns", "latency_p95", "slot_fill_rate")
    record: dict[str, Any] = {"flow": flow, "state": state, "n": n, **dict(zip(keys, means, strict=True))}
    record["to_states"] = {"confirm": 3, "escalated": 4}
    stall = means[1]
    marks: dict[str, Severity] = {"": "bad", "stall": "bad"} if stall is not None and stall >= 0.25 else {}
    return Row(f"{flow}/{state}", record, severity=marks, thin=n < 5)


def states() -> Table:
    """The two rows of the page, and one that was never measured."""
    return Table(
        view="states",
        title="Per-state quality: all flows (worst first)",
        columns=STATE_COLUMNS,
        rows=[
            state_row("ceo_command_center", "status_query", 2, (0.0, 1.0, 0.0, 0.0, 5.0, 3.1, None)),
            state_row("dog_grooming", "listen_owner", 9, (2 / 9, 1 / 3, 4 / 9, 0.0, 2.6, 1.7, 0.0)),
            state_row("dog_grooming", "greet", 10, (1.0, 0.0, 0.0, 0.3, 1.05, None, None)),
        ],
        notes=["listen_owner → confirm 3, escalated 4"],
    )


def segments() -> Table:
    """The state matrix by phase, with the worst member told."""
    columns = [
        STATE_COLUMNS[0],
        Column("segment", "Segment", kind="name"),
        *STATE_COLUMNS[2:-1],
        Column("worst_state", "worst member", kind="text"),
        Column("worst_stall", "worst_stall", shown=False),
    ]
    row = state_row("ceo_command_center", "action", 6, (0.5, 0.5, 0.0, 0.0, 3.0, 3.1, None))
    record = {**row.record, "segment": "action", "worst_state": "status_query", "worst_stall": 1.0}
    told = {"worst_state": "status_query (stall 1.0, n 2)"}
    return Table(
        view="segments",
        title="Per-segment quality: all flows (worst first)",
        columns=columns,
        rows=[Row(row.id, record, display=told, severity=row.severity)],
    )


def place(row_id: str, where: str, summary: str, severity: Severity = "bad") -> Row:
    """A line of a worklist."""
    record = {"list": row_id.split(":")[0], "rank": 1, "reasons": [summary]}
    return Row(row_id, record, display={"place": where, "summary": summary}, severity={"": severity})


def worklist() -> Table:
    """The worklist of the page."""
    return Table(
        view="worklist",
        title="What to work on (flow → segment → state)",
        columns=[
            Column("list", "List", kind="name"),
            Column("rank", "Rank", kind="count"),
            Column("reasons", "Reasons", kind="object"),
        ],
        rows=[
            place("flows:1", "apartment_scheduler", "correctness 0.0  (agent gemini-2.5-f, n 11)"),
            place(
                "segments:1",
                "apartment_scheduler/action",
                "stall 0.36  escal 0.64  progress 0.0  (worst: book_viewing)",
            ),
            place("states:1", "apartment_scheduler/book_viewing", "stall 0.36 · escalates 0.64 · dwell 3.6"),
            place(
                "states:2",
                "dog_grooming/listen_owner",
                "stall 0.33 · escalates 0.44 · slot_fill 0.0 (stuck, prog 0.22)",
                "warn",
            ),
        ],
        notes=["Drill: riff-tui dump states --where 'flow=apartment_scheduler'"],
        sections=[
            Section("Weakest flows", "x", ("flows:1",)),
            Section("Weakest segments", "!", ("segments:1", "segments:gone")),
            Section("Root-cause states", "*", ("states:1", "states:2")),
        ],
    )


def neighbors() -> Table:
    """Rows below a drawing, with something at the top of the JSON besides."""
    columns = [
        Column("direction", "", kind="name"),
        Column("state", "State", kind="name"),
        Column("count", "count", kind="count"),
        Column("share", "share", decimals=2, trim=True),
        Column("stall", "stall", decimals=2, trim=True, better="lower"),
        Column("n", "n", kind="count", thin=True),
    ]
    rows = [
        Row("in greet", {"direction": "in", "state": "greet", "count": 17, "share": 1.0, "stall": 0.05, "n": 20}),
        Row("out confirm", {"direction": "out", "state": "confirm", "count": 31, "share": 0.5, "stall": None, "n": 31}),
    ]
    picture = Picture(("greet ─ 17 ─►[collect_details]─ 31 ─► confirm  50%", "```", "evil\x1b[2J ► <b>"))
    return Table(
        view="neighbors",
        title="Neighbours of collect_details",
        columns=columns,
        rows=rows,
        extras={"reach": {"confirm": 0.5, "book_viewing": 1 / 3}, "view": "forged"},
        figure=picture,
    )


def hostile(strings: dict[str, str]) -> Table:
    """Each string in every place of a table where data can stand."""
    columns = [
        Column("name", "Name", kind="name"),
        Column("text", "Text", kind="text", strong=True),
        Column("n", "n", kind="count"),
        Column("object", "Object", kind="object"),
        *(Column(f"hum:{text}", f"hum:{text}", path=("humanness", text)) for text in strings.values()),
    ]
    rows = [
        Row(text, {"name": text, "text": text, "n": 1, "object": {text: 2}, "humanness": {text: 5.0}})
        for text in strings.values()
    ]
    return Table("hostile", "Data: " + "".join(strings.values()), columns, rows, notes=list(strings.values()))


def hostile_lists(strings: dict[str, str]) -> Table:
    """Each string as a place and a summary of a worklist, and in a drawing."""
    rows = [Row(f"{n}", {}, display={"place": text, "summary": text}) for n, text in enumerate(strings.values())]
    ids = tuple(row.id for row in rows)
    return Table(
        "hostile",
        "Lists",
        [],
        rows,
        sections=[Section(text, marker, ids) for text, marker in zip(strings.values(), "x!*" * 99, strict=False)],
        figure=Picture(tuple(strings.values())),
    )


ALL = {
    "flows": flows,
    "states": states,
    "segments": segments,
    "worklist": worklist,
    "neighbors": neighbors,
}
