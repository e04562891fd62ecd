"""Read the simulator's log: what the caller meant to say, what the caller heard, whose audio ran when (R5.3)."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

from riff_ingest.eva.history import ROLES, SIMULATOR, HistoryEvent, inner, whole
from riff_ingest.eva.logs.files import find, log_at, read_records
from riff_ingest.eva.warnings import Warnings
from riff_ingest.sources.lenient_json import loads
from riff_ingest.sources.lines import BrokenInput, read_whole

NAMES = ("user_simulator_events.jsonl", "elevenlabs_events.jsonl")
CONNECTION = "connection_state"
_NOISE = frozenset({"", "...", "......", ".", ",", "?", "!"})
_LOG = "simulator_log"
_MOST = 10_000_000  # a number beyond counts no lines


def simulator_log(directory: Path) -> Path | None:
    """Return where the log of a record is by its usual names, `None` where it has none."""
    return find(directory, *NAMES)


def last_line(path: Path) -> str | None:
    """Return what follows the last but one line end, `None` where the log cannot be read.

    A log that ends in two line ends has a last line that is empty.
    """
    try:
        text = read_whole(path, "log_mib").decode(errors="replace")
    except BrokenInput:
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text[text.rfind("\n", 0, -1) + 1 :]


def last_event(line: str | None) -> tuple[dict[str, Any] | None, str]:
    """Return the event on the last line, or why there is none."""
    if line is None:
        return None, "the simulator's log is missing or cannot be read"
    if not line.strip():
        return None, "the simulator's log is empty or ends in an empty line"
    try:
        event = loads(line.encode("utf-8", "surrogatepass"))
    except BrokenInput as problem:
        return None, f"the last line of the simulator's log cannot be read: {problem.reason}"
    return (event, "") if isinstance(event, dict) else (None, "the last line of the simulator's log is no object")


def says_goodbye(event_type: Any, event: Any) -> bool:
    """Tell whether an event of the log is the regular end of a session (9.3)."""
    return bool(event_type == CONNECTION and reason_of(event) == "goodbye")


def reason_of(event: Any) -> Any:
    """Return why the session ended, as an event of the connection says it."""
    details = inner(event, "details")
    return details.get("reason") if isinstance(details, dict) else None


def simulator_events(directory: Path, stored_path: Any, warnings: Warnings) -> list[HistoryEvent]:
    """Return the events of the log in the order of the file; without one there is no audio and no intended text."""
    path = log_at(directory, stored_path, NAMES, _LOG, warnings)
    if path is None:
        warnings.add(f"{_LOG}_missing", "no audio and no intended text of the caller are known")
        return []
    events: list[HistoryEvent] = []
    seen: set[Any] = set()
    latest = 0
    for record, raw in read_records(path, _LOG, warnings):
        sequence = record.get("sequence")
        identity = sequence if isinstance(sequence, int) and not isinstance(sequence, bool) else raw
        if identity in seen:
            warnings.add(f"{_LOG}_duplicate_line", "a line stands there twice")
        seen.add(identity)
        event = _event(record, warnings)
        if event is None:
            continue
        if event.timestamp_ms < latest:
            warnings.add(f"{_LOG}_out_of_order", "time runs backwards, lines were sorted")
        latest = max(latest, event.timestamp_ms)
        events.append(event)
    if all(isinstance(number, int) for number in seen):
        _tell_gaps(seen, warnings)
    return events


def _tell_gaps(numbers: set[int], warnings: Warnings) -> None:
    """Warn of gaps in the numbers of lines, which begin at 1; those that could not be read are counted already."""
    highest = max(numbers, default=0)
    known = sum(1 for number in numbers if number > 0)
    gone = highest - known - warnings.counts.get(f"{_LOG}_broken_line", 0)
    if gone > 0 and highest <= _MOST:
        first = next(number for number in count(1) if number not in numbers)
        warnings.add(f"{_LOG}_lines_missing", f"line number {first} of its count is not there", gone)


def _event(record: dict[str, Any], warnings: Warnings) -> HistoryEvent | None:
    if record.get("user") is not None:
        name = record["user"]
        record["user"] = ROLES.get(name, name) if isinstance(name, str) else name
    text = inner(record, "text") or ""
    if record.get("type") == "user_speech" and isinstance(text, str) and text.strip() in _NOISE:
        return None
    if "timestamp" not in record:
        return None
    time = whole(record["timestamp"])
    if time is None:
        warnings.add(f"{_LOG}_line_unusable", "a line has no time in milliseconds")
        return None
    event_type = record.get("type") or record.get("event_type") or "unknown"
    rest = {key: value for key, value in record.items() if key not in ("timestamp", "type", "event_type")}
    return HistoryEvent(time, SIMULATOR, str(event_type), rest)
