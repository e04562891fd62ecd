"""Read the audit log: what the agent's recogniser heard, what its model wrote, which tools it called (R5.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from riff_ingest.eva.history import AUDIT, HistoryEvent, whole
from riff_ingest.eva.logs.files import absent, find
from riff_ingest.eva.warnings import Warnings
from riff_ingest.sources.lenient_json import clean, loads
from riff_ingest.sources.lines import BrokenInput, read_whole

AUDIT_LOG = "audit_log.json"
MISSING = "audit_log_missing"
_COUNTED = {"num_turns": "user", "num_tool_calls": "tool_call"}


class _Log(msgspec.Struct):
    """Hold the one part of the log that is used; prompts, which are most of it, are passed over."""

    transcript: list[Any] = []


def transcript_of(directory: Path, warnings: Warnings) -> list[dict[str, Any]]:
    """Return the entries of a record's audit log in their order, empty with a warning where there are none."""
    path = find(directory, AUDIT_LOG)
    if path is None:
        warnings.add(MISSING, absent(directory, AUDIT_LOG))
        return []
    try:
        entries = _entries(read_whole(path, "log_mib"), warnings)
    except BrokenInput as problem:
        warnings.add(MISSING, problem.reason)
        return []
    if not entries:
        warnings.add(MISSING, "its transcript is empty")
    usable = [entry for entry in entries if isinstance(entry, dict)]
    warnings.add("audit_entry_unusable", "an entry is no object", len(entries) - len(usable))
    return usable


def audit_events(directory: Path, warnings: Warnings) -> list[HistoryEvent]:
    """Return the events of the audit log; entries without a time in whole milliseconds are left out and counted."""
    events = []
    for entry in transcript_of(directory, warnings):
        time = whole(entry.get("timestamp"))
        if time is None:
            warnings.add("audit_entry_unusable", "an entry has no timestamp")
            continue
        event_type = entry.get("message_type")
        value = entry.get("value")
        events.append(
            HistoryEvent(
                time, AUDIT, event_type if isinstance(event_type, str) else "unknown", {} if value is None else value
            )
        )
    seen = Counter(map(repr, events))
    warnings.add("audit_duplicate_entry", "an entry stands there twice", sum(seen.values()) - len(seen))
    backwards = sum(later.timestamp_ms < earlier.timestamp_ms for earlier, later in pairwise(events))
    warnings.add("audit_out_of_order", "time runs backwards, entries were sorted", backwards)
    return events


def _entries(data: bytes, warnings: Warnings) -> list[Any]:
    try:
        return msgspec.json.decode(data, type=_Log).transcript
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    defects: Counter[str] = Counter()
    value = clean(loads(data, defects, what="file"), defects)
    for defect, count in defects.items():
        warnings.add("audit_defect", defect, count)
    entries = value.get("transcript") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise BrokenInput("file has no transcript")
    return entries


def tell_missing(events: Iterable[HistoryEvent], result: Mapping[str, Any], warnings: Warnings) -> None:
    """Say where result.json counted more texts of the caller, or more calls of tools, than the log has."""
    found = Counter(event.event_type for event in events)
    for key, event_type in _COUNTED.items():
        wanted = result.get(key)
        if isinstance(wanted, int) and not isinstance(wanted, bool) and found[event_type] < wanted:
            warnings.add(
                "audit_entries_missing", f"result.json counts {wanted} of {event_type}, the log has {found[event_type]}"
            )
