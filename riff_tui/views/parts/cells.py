"""Make what rows share: ids, the filter that leads below, intervals, times and marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from riff_store.measure import THIN
from riff_store.ranking import GUARD_ERRORS, HEALTHY_PROGRESS, HIGH, LONG_DWELL, SLOW
from riff_store.scoring import FULL
from riff_tui.filters import quote
from riff_tui.table import BOUNDS, Bounds, Column, Severity
from riff_tui.text.numbers import ends_text, utc

if TYPE_CHECKING:
    from riff_store.answers.cells import FlowCell
    from riff_store.measure import Measure, PooledMeasure

Keys = Mapping[str, str | None]


class NamedCall(Protocol):
    """Describe what is needed to name a call."""

    @property
    def run(self) -> str: ...
    @property
    def conversation(self) -> str: ...
    @property
    def told_by(self) -> Mapping[str, str]: ...


BAD_SCORE, WEAK_SCORE = 4, 7
LATE = 5
WATCHED = 0.15
HARDLY = 0.3
SLIGHT, FAIR = 0.2, 0.4
ALIGNED, UNALIGNED = 0.9, 0.5


def where(keys: Keys) -> str:
    """Return the filter expression that selects exactly these names."""
    return " ".join(f"{field}={'·' if name is None else quote(name)}" for field, name in keys.items())


def call_where(call: NamedCall) -> str:
    """Return the filter expression that selects exactly this call, as short as its store allows."""
    return where({"run": call.run, "conversation": call.conversation, **call.told_by})


def intervals(measures: Mapping[str, Measure | PooledMeasure]) -> dict[str, list[float]]:
    """Return the 95 % interval of each measure that has one."""
    found = {}
    for key, measure in measures.items():
        interval = measure.interval()
        if interval is not None:
            found[key] = list(interval)
    return found


def interval_texts(shown: Iterable[Column], record: Mapping[str, Any]) -> dict[str, str]:
    """Return the intervals of a record as cells, of those columns that show one."""
    ends = ((column, column.value(record)) for column in shown if column.path[:1] == ("intervals",))
    return {column.key: ends_text(column, found) for column, found in ends if found}


def moment(microseconds: int | None) -> str | None:
    """Return a time as the data formats print it: RFC 3339 in UTC."""
    return None if microseconds is None else utc(microseconds)


def is_thin(n: int) -> bool:
    """Say if too few calls stand behind a cell to trust it."""
    return n < THIN


def falling(value: float | None) -> tuple[bool, float]:
    """Return a sort key that puts large values first and the not measured last."""
    return value is None, -(value or 0.0)


def worst_of(severities: Iterable[Severity]) -> Severity | None:
    """Return the gravest of some marks."""
    found = set(severities)
    return "bad" if "bad" in found else "warn" if "warn" in found else None


def score_marks(record: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Severity]:
    """Mark scores of 0 to 10: bad up to 4, a warning below 7."""
    marks: dict[str, Severity] = {}
    for key in keys:
        value = record.get(key)
        if value is not None and value < WEAK_SCORE:
            marks[key] = "bad" if value <= BAD_SCORE else "warn"
    return marks


def success_marks(cell: FlowCell, bounds: Bounds = BOUNDS) -> dict[str, Severity]:
    """Mark what a row is for its own failures: its success rate and correctness, as far as intervals agree.

    The key `""` is the row's own, and says `ok` where neither is marked.
    """
    measures = {"success_rate": cell.success}
    if "correctness" in cell.aspects:
        measures["correctness"] = cell.aspects["correctness"]
    marks = measured_marks(measures, bounds)
    return {**marks, "": worst_of(marks.values()) or "ok"}


def measured_marks(measures: Mapping[str, Measure], bounds: Bounds = BOUNDS) -> dict[str, Severity]:
    """Mark shares, and means of 0 to 10, whose whole 95 % interval lies below a bound."""
    marks: dict[str, Severity] = {}
    for key, measure in measures.items():
        interval = measure.interval()
        end = None if interval is None else interval[1] * (FULL / measure.scale if measure.rate else 1.0)
        if end is not None and end < bounds.warn:
            marks[key] = "bad" if end < bounds.bad else "warn"
    return marks


def latency_mark(seconds: float | None) -> Severity | None:
    """Mark a turn latency at which callers start to talk over the agent, or hang up."""
    if seconds is None or seconds <= LATE:
        return None
    return "bad" if seconds > SLOW else "warn"


def stall_mark(stall: float | None) -> Severity | None:
    """Mark a share of calls that ended where they should not."""
    if stall is None or stall < WATCHED:
        return None
    return "bad" if stall >= HIGH else "warn"


def state_marks(record: Mapping[str, Any]) -> dict[str, Severity]:
    """Mark a state's or segment's metrics; the key `""` is the row's own."""
    marks: dict[str, Severity] = {}
    for key in ("stall", "escalation"):
        lost = stall_mark(record[key])
        if lost:
            marks[key] = lost
    stuck = record["progress"] is not None and record["progress"] < HEALTHY_PROGRESS
    # Where no call was lost, those that went nowhere from here had come to their end.
    if stuck and (record["stall"] or record["escalation"]):
        marks["progress"] = "bad" if record["progress"] < HARDLY else "warn"
    if record["dwell_turns"] is not None and record["dwell_turns"] > LONG_DWELL:
        marks["dwell_turns"] = "bad" if stuck else "warn"
    latency = latency_mark(record["latency_p95"])
    if latency:
        marks["latency_p95"] = latency
    if record["guard_error"]:
        marks["guard_error"] = "bad" if record["guard_error"] >= GUARD_ERRORS else "warn"
    if stuck and record["slot_fill_rate"] is not None and record["slot_fill_rate"] < HEALTHY_PROGRESS:
        marks["slot_fill_rate"] = "bad" if record["slot_fill_rate"] < HARDLY else "warn"
    marks |= step_marks(record)
    row = worst_of(mark for key, mark in marks.items() if key != "progress")
    if row:
        marks[""] = row
    return marks


def step_marks(record: Mapping[str, Any]) -> dict[str, Severity]:
    """Mark a step that failed calls missed or took wrongly; what only calls that passed did is a hint, no failure."""
    shares = {"missed": record.get("missed_failed"), "wrong_args": record.get("wrong_failed")}
    return {key: "bad" if share >= HIGH else "warn" for key, share in shares.items() if share}


def shell_quoted(text: str) -> str:
    """Return text as one word of a shell's command line."""
    return "'" + text.replace("'", "'\"'\"'") + "'"
