"""Show a voice call: what was said, meant and heard, turn-taking, tools, and how it left the database."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from riff_store.voice import Span, TraceEntry, Voice, VoiceTurn
from riff_tui.charts.lane_marks import latency_severity, turns_with_tools
from riff_tui.charts.lanes import Lanes
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text import word_diff
from riff_tui.text.numbers import counted, fixed
from riff_tui.views.parts import cells, voice_record
from riff_tui.views.parts.moment_details import CallWords
from riff_tui.views.parts.voice_record import Happened, is_message, is_number, said_in, whole_trace

GOOD_TIMING, FAIR_TIMING = 0.8, 0.5
MOST_DIFFERENCES = 40
LONGEST_VALUE = 240
_ROLES = {"assistant": "agent", "user": "caller"}
_COLUMNS = (
    Column("turn", "Turn", kind="count", help="The number of the turn; 0 is the greeting."),
    Column(
        "changed",
        "Meant and heard",
        kind="text",
        help="Where what was meant was not what was heard: [-meant only-], {+heard only+}.",
    ),
    Column(
        "turn_taking",
        "turn-taking",
        better="higher",
        decimals=2,
        trim=True,
        help="How well the agent timed this answer, from 0 to 1.",
    ),
    Column("reason", "Reason", kind="name", help="What the score of turn-taking is about."),
)
_KINDS = (
    "turn, tool, answer, or database where the task left it otherwise than it should; state, slot or guard; "
    "sound (while the caller does not speak), line (a noise on it) or silence."
)
_TRACED = ("turn", "tool")
_ORDER = ("t", "turn", "kind", "state", "role", "text", "changed", "latency_ms", "turn_taking", "reason", "detail")


def with_voice(table: Table, voice: Voice, words: CallWords) -> Table:
    """Add to a conversation's table what is known of the sound: other rows for what was said, lanes, further notes.

    States, slots and guards of the table stay where they happened.
    """
    named = [row.record.get("detail") for row in table.rows if row.record.get("kind") == "turn"]
    traced = list(_TraceRows(voice, words, named).rows())
    kept = _in_their_places(table.rows, traced)
    if kept:
        traced = []
    else:  # what was said is shown otherwise, and is where its time is
        kept = [_without_sound(row) for row in table.rows if row.record.get("kind") not in _TRACED]
    beside = [
        _row(record, {"t"}, {"detail": severity, "": severity} if severity else {})
        for record, severity in voice_record.sound_rows(voice, words)
    ]
    parts = map(_timed, (kept, beside, traced))
    # Each part keeps its order; what has no time stays behind what came before it.
    rows = list(_placed([row for _, row in heapq.merge(*parts, key=lambda each: each[0])]))
    known = {column.key: column for column in (*table.columns, *_COLUMNS)}
    known["kind"] = known["kind"]._replace(help=_KINDS)
    for key in ("state", *(("changed", "turn_taking", "reason") if voice.marks else ())):
        if not any(row.record.get(key) for row in rows):
            known[key] = known[key]._replace(shown=False)
    return table._replace(
        columns=[known[key] for key in _ORDER],
        rows=[row._replace(id=str(number)) for number, row in enumerate(rows, 1)],
        notes=[*table.notes, *voice_record.notes(voice, words, rows)],
        extras={**table.extras, "voice": voice_record.record(voice, words)},
        figure=Lanes.of(voice) or table.figure,
    )


def _in_their_places(rows: Sequence[Row], traced: Sequence[Row]) -> list[Row]:
    """Return the rows of a table with those of the trace in the places of its turns and tools, if these are the same.

    The answer of a tool is behind what came before it in the trace, and at the end how the database differs.
    """
    groups: dict[str, list[list[Row]]] = {kind: [] for kind in _TRACED}
    end: list[Row] = []
    begin = last = list[Row]()
    for row in traced:
        kind = row.record["kind"]
        if kind in groups:
            last = [row]
            groups[kind].append(last)
        else:
            (end if kind == "database" else last).append(row)
    if any(len(groups[kind]) != sum(row.record.get("kind") == kind for row in rows) for kind in _TRACED):
        return []
    waiting = {kind: iter(found) for kind, found in groups.items()}
    placed = begin
    for row in rows:
        kind = row.record.get("kind")
        placed += next(waiting[kind]) if kind in waiting else [_without_sound(row)]
    return placed + end


def _without_sound(row: Row) -> Row:
    none = dict.fromkeys(column.key for column in _COLUMNS)
    return row._replace(record={**row.record, **none}, display={**row.display, **dict.fromkeys(none, "")})


@dataclass(frozen=True, slots=True)
class _SpokenText:
    """Describe a side's words of one turn, as they may be shown; the counts are of the words themselves."""

    meant: str | None
    heard: str | None
    differ: int | None
    of: int


class _TraceRows:
    """Make rows in the order of a call's trace; what is known of a turn is in the first row of its side."""

    def __init__(self, voice: Voice, words: CallWords, named: Sequence[str | None]) -> None:
        self._voice = voice
        self._words = words
        self._turns = {turn.turn: turn for turn in voice.turns}
        self._starts = {role: _starts(spans) for role, spans in (("caller", voice.caller), ("agent", voice.agent))}
        self._with_tools = turns_with_tools(voice)
        self._trace = whole_trace(voice)
        self._happened = voice_record.happened(voice, self._trace) if voice.marks else None
        messages = sum(map(is_message, self._trace))
        # Judges count the turns of the transcript; where these are others than here, none of them can be told.
        self._named = iter(named if len(named) == messages else [None] * messages)
        self._told: set[tuple[int, str]] = set()
        self._answered = {entry.turn for entry in self._trace if entry.role == "assistant"}

    def rows(self) -> Iterator[Row]:
        """Return what was said, the tools, and at the end how the database differs."""
        for place, entry in enumerate(self._trace):
            yield self._message(entry, place) if is_message(entry) else self._tool(entry)
        yield from _database(self._voice, self._words)

    def _message(self, entry: TraceEntry, place: int) -> Row:
        role = _ROLES.get(entry.role or "", entry.role or "")
        first = (entry.turn, role) not in self._told
        self._told.add((entry.turn, role))
        turn = self._turns.get(entry.turn, VoiceTurn(entry.turn)) if first else VoiceTurn(entry.turn)
        timed = first and (role == "agent" or entry.turn not in self._answered)
        said = self._said(turn, role)
        start = self._starts.get(role, {}).get(entry.turn) if first else None
        latency = _time(turn.latency) if timed else None
        score = _time(turn.score) if timed else None
        named = next(self._named, None)
        happened = self._happened.get(place, []) if self._happened is not None else list(_happened(turn, role))
        record = {
            "t": _time(entry.t) if start is None else start,
            "turn": entry.turn,
            "kind": "turn",
            "state": None,
            "role": role,
            "text": self._words(entry.text or said_in(turn, role)),
            "meant": said.meant,
            "heard": said.heard,
            "changed": word_diff.hunks(said.meant, said.heard) or None if said.meant and said.heard else None,
            "words_changed": said.differ,
            "latency_ms": None if latency is None else latency * 1000,
            "turn_taking": score,
            "reason": turn.reason if timed else None,
            "detail": " · ".join(part for part in (*(each.text for each in happened), named) if part) or None,
        }
        severity = _marks(latency, score, happened, with_tool=entry.turn in self._with_tools)
        display = {}
        if said.differ and not self._words.wanted:
            display["changed"] = f"{said.differ} of {said.of} words differ"
        could = {"t", *(("latency_ms", "turn_taking") if timed and role == "agent" and entry.turn else ())}
        return _row(record, could, severity, display)

    def _said(self, turn: VoiceTurn, role: str) -> _SpokenText:
        """Return what a side meant and what was heard of it."""
        is_side = role in ("agent", "caller")
        meant, heard = (getattr(turn, f"{role}_{how}") if is_side else None for how in ("meant", "heard"))
        differ = word_diff.differing(meant, heard) if meant and heard else None
        of = max(word_diff.length(meant or ""), word_diff.length(heard or ""))
        return _SpokenText(self._words(meant), self._words(heard), differ, of)

    def _tool(self, entry: TraceEntry) -> Row:
        called, words = entry.kind == "tool_call", self._words
        tool = entry.tool or ""
        value = cut(words.shown(entry.value)) if words.wanted and entry.value is not None else ""
        told = entry.value if isinstance(entry.value, Mapping) and not called else {}
        failed = told.get("status") == "error" or bool(told.get("error"))
        answer = f"{tool}{' failed' if failed else ''}{': ' if value else ''}{value}"
        record = {
            "t": _time(entry.t),
            "turn": entry.turn,
            "kind": "tool" if called else "answer",
            "role": "agent" if called else "tool",
            "detail": f"{tool}({value})" if called else answer,
        }
        return _row(record, {"t"}, {"detail": "bad", "": "bad"} if failed else {})


def cut(text: str, most: int = LONGEST_VALUE) -> str:
    """Return a long value's beginning, with how long it is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def timing_severity(score: float | None) -> Severity | None:
    """Mark a turn's score of turn-taking."""
    if score is None or score >= GOOD_TIMING:
        return None
    return "bad" if score < FAIR_TIMING else "warn"


def _row(
    record: Mapping[str, Any],
    could: set[str],
    severity: Mapping[str, Severity],
    display: Mapping[str, str] | None = None,
) -> Row:
    """Return a row that leaves blank what it cannot have; "not measured" stays for what it could have had."""
    whole = {**dict.fromkeys(_ORDER), **record}
    blank = {key: "" for key in _ORDER if whole[key] is None and key not in could}
    return Row("", whole, display={**blank, **(display or {})}, severity=severity)


def _time(value: float | None) -> float | None:
    """Return a number of the document; one that shows nothing about a call is none."""
    return value if is_number(value) else None


def _starts(spans: Sequence[Span]) -> dict[int, float]:
    found: dict[int, float] = {}
    for span in spans:
        if is_number(span.start):
            found[span.turn] = min(span.start, found.get(span.turn, span.start))
    return found


def _happened(turn: VoiceTurn, role: str) -> Iterator[Happened]:
    """Yield who interrupted, and that the agent had to be nudged, without anybody's words."""
    if role == "agent" and turn.agent_interrupted:
        overlap = _seconds(turn.evidence.get("overlap_ms"))
        yield Happened(f"agent interrupts, {overlap} s both" if overlap else "agent interrupts")
    if role == "caller" and turn.caller_interrupted:
        yielded = _seconds(turn.evidence.get("yield_ms"))
        yield Happened(f"caller interrupts, agent yields after {yielded} s" if yielded else "caller interrupts")
    if role == "agent" and turn.nudged:
        yield Happened("nudged: no answer came by itself")


def _seconds(milliseconds: Any) -> str:
    return fixed(milliseconds / 1000, 1) if is_number(milliseconds) else ""


def _marks(
    latency: float | None, score: float | None, happened: Sequence[Happened], *, with_tool: bool
) -> dict[str, Severity]:
    found = {
        "latency_ms": latency_severity(latency, with_tool=with_tool),
        "turn_taking": timing_severity(score),
        "detail": cells.worst_of(each.severity for each in happened if each.severity),
    }
    marks: dict[str, Severity] = {key: mark for key, mark in found.items() if mark}
    worst = cells.worst_of(marks.values())
    return {**marks, "": worst} if worst else marks


def _database(voice: Voice, words: CallWords) -> Iterator[Row]:
    """Yield how the database differs from what the task should have left; without words only how often, by table."""
    task = voice.task
    if task.passed is True:
        return
    if not words.wanted:
        counts = per_table(differences(task.diff, task.mismatches))
        lines = [f"{name}: {counted(count, 'difference')}" for name, count in counts.items()]
    else:
        found = differences(words(task.diff) or {}, words(task.mismatches) or {})
        lines = [replace(each, expected=cut(each.expected), found=cut(each.found)).line for each in found]
    more = len(lines) - MOST_DIFFERENCES
    for line in [*lines[:MOST_DIFFERENCES], *([f"{more:,} more differences"] if more > 0 else [])]:
        yield _row({"kind": "database", "detail": line}, set(), {"detail": "bad", "": "bad"})


def _placed(rows: Sequence[Row]) -> Iterator[Row]:
    """Name the state that the call was in where a row does not name its own."""
    state: str | None = None
    for row in rows:
        if row.record.get("kind") == "state":
            state = row.record.get("state")
        if state is None or row.record.get("state") is not None or row.record.get("kind") == "database":
            yield row
        else:
            shown = {key: text for key, text in row.display.items() if key != "state"}
            yield row._replace(record={**row.record, "state": state}, display=shown)


def _timed(rows: Sequence[Row]) -> Iterator[tuple[float, Row]]:
    latest = float("-inf")
    for row in rows:
        if row.record.get("kind") == "database":
            latest = float("inf")
        elif row.record.get("t") is not None:
            latest = max(latest, row.record["t"])
        yield latest, row


DEEPEST = 12


@dataclass(frozen=True, slots=True)
class RecordDifference:
    """Describe one place where the database differs; `expected` and `found` are JSON, empty for nothing."""

    path: tuple[str, ...]
    expected: str = ""
    found: str = ""

    @property
    def line(self) -> str:
        """Return the difference as people read it."""
        where = " / ".join(self.path)
        if self.expected and self.found:
            return f"{where}: {self.expected} → {self.found}"
        if self.expected:
            return f"{where}: {self.expected} is missing"
        return f"{where}: {self.found} is there" if self.found else where


def differences(diff: Mapping[str, Any], mismatches: Mapping[str, Any] | None = None) -> list[RecordDifference]:
    """Return all differences of a diff in EVA's form (section 10.1), of a session's `mismatches` first.

    What is not in that form is shown as it is: the diff may come out of anybody's store.
    """
    found = []
    for key, value in (mismatches or {}).items():
        ends = _ends(value) if isinstance(value, Mapping) else ("", _json(value))
        found.append(RecordDifference(("session", str(key)), *ends))
    found += _whole((), diff, "table")
    tables = diff.get("tables_modified")
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        found += _table((str(name),), table)
    return found


def per_table(found: Sequence[RecordDifference]) -> dict[str, int]:
    """Count the differences in each table, which shows nothing of what is in it."""
    counts: dict[str, int] = {}
    for difference in found:
        counts[difference.path[0]] = counts.get(difference.path[0], 0) + 1
    return counts


def _table(path: tuple[str, ...], table: object) -> Iterator[RecordDifference]:
    if not isinstance(table, Mapping) or "type" in table:
        yield from _node(path, table, 0)
        return
    yield from _whole(path, table, "record")
    records = table.get("records_modified")
    for key, record in records.items() if isinstance(records, Mapping) else ():
        yield from _node((*path, str(key)), record, 0)


def _node(path: tuple[str, ...], node: object, depth: int) -> Iterator[RecordDifference]:
    if not isinstance(node, Mapping) or depth > DEEPEST:
        yield RecordDifference(path, found=_json(node))
    elif node.get("type") == "list_differences":
        listed = node.get("differences")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, Mapping):
                yield from _node((*path, str(each.get("index", "?"))), each.get("diff"), depth + 1)
            else:
                yield RecordDifference(path, found=_json(each))
    elif "type" in node or "expected" in node:
        yield RecordDifference(path, *_ends(node))
    else:
        yield from _whole(path, node, "field")
        fields = node.get("fields_modified")
        for key, field in fields.items() if isinstance(fields, Mapping) else ():
            yield from _node((*path, str(key)), field, depth + 1)


def _ends(node: Mapping[str, Any]) -> tuple[str, str]:
    return _json(node.get("expected")), _json(node.get("actual"))


def _whole(path: tuple[str, ...], node: Mapping[str, Any], what: str) -> Iterator[RecordDifference]:
    """Yield the tables, records or fields that were added or removed: a list of names, or an object with these keys."""
    added, removed = (node.get(f"{what}s_{how}") for how in ("added", "removed"))
    for key in added if isinstance(added, list | Mapping) else ():
        yield RecordDifference((*path, str(key)), found=f"this {what}")
    for key in removed if isinstance(removed, list | Mapping) else ():
        yield RecordDifference((*path, str(key)), expected=f"this {what}")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
