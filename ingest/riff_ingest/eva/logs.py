"""Read the three logs of a call into events of its history (R5.1 to R5.4)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, groupby, pairwise
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from riff_ingest.eva.history import AUDIT, FRAMEWORK, ROLES, SIMULATOR, HistoryEvent, Warnings, inner, whole
from riff_ingest.eva.turns import PipelineType
from riff_ingest.lenient_json import clean, loads
from riff_ingest.lines import BrokenInput, limits, read_lines, read_whole


def merged_history(
    directory: Path, result: Mapping[str, Any], pipeline_type: PipelineType, warnings: Warnings
) -> list[HistoryEvent]:
    """Return the events of all three logs by time.

    At equal times audit comes before framework before simulator (R5.4).
    """
    events = audit_events(directory, warnings)
    if events:
        tell_missing(events, result, warnings)
    if pipeline_type != "s2s":
        events += framework_events(directory, result.get("pipecat_logs_path"), warnings)
    stored = result.get("user_simulator_logs_path") or result.get("elevenlabs_logs_path")
    events += simulator_events(directory, stored, warnings)
    return sorted(events, key=lambda event: event.timestamp_ms)


# Read the audit log: what the agent's recogniser heard, what its model wrote, which tools it called (R5.1).
AUDIT_LOG = "audit_log.json"
MISSING = "audit_log_missing"
OUT_OF_ORDER, RECOVERED = "_out_of_order", "audit_entry_recovered"
"""How warnings are called of logs that do not have the order of the call."""
_COUNTED = {"num_turns": "user", "num_tool_calls": "tool_call"}


class _Log(msgspec.Struct):
    """Describe the one part of the log that is used; prompts, which are most of it, are passed over."""

    transcript: list[Any] = []


def transcript_of(directory: Path, warnings: Warnings) -> list[dict[str, Any]]:
    """Return the entries of a record's audit log in their order, empty with a warning if there are none."""
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
    warnings.add("audit_entry_unusable", "an entry is not an object", len(entries) - len(usable))
    return usable


def audit_events(directory: Path, warnings: Warnings) -> list[HistoryEvent]:
    """Return the events of the audit log; entries without a time in whole milliseconds are left out and counted."""
    events = []
    for entry in transcript_of(directory, warnings):
        time = whole(entry.get("timestamp"))
        if time is None:
            warnings.add("audit_entry_unusable", "an entry has no timestamp")
            continue
        warnings.add(RECOVERED, "an entry was written after the call", entry.get("recovered_post_call") is True)
        event_type = entry.get("message_type")
        value = entry.get("value")
        events.append(
            HistoryEvent(
                time, AUDIT, event_type if isinstance(event_type, str) else "unknown", {} if value is None else value
            )
        )
    seen = Counter(map(repr, events))
    warnings.add("audit_duplicate_entry", "an entry is there twice", sum(seen.values()) - len(seen))
    backwards = sum(later.timestamp_ms < earlier.timestamp_ms for earlier, later in pairwise(events))
    warnings.add(f"audit{OUT_OF_ORDER}", "time runs backwards, entries were sorted", backwards)
    return events


def _entries(data: bytes, warnings: Warnings) -> list[Any]:
    try:
        return msgspec.json.decode(data, type=_Log).transcript
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    defects: Counter[str] = Counter()
    value = clean(loads(data, defects, what="file"), defects)
    for defect, often in defects.items():
        warnings.add("audit_defect", defect, often)
    entries = value.get("transcript") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise BrokenInput("file has no transcript")
    return entries


def tell_missing(events: Iterable[HistoryEvent], result: Mapping[str, Any], warnings: Warnings) -> None:
    """Report where result.json counted more texts of the caller, or more calls of tools, than the log has."""
    found = Counter(event.event_type for event in events)
    for key, event_type in _COUNTED.items():
        wanted = result.get(key)
        if isinstance(wanted, int) and not isinstance(wanted, bool) and found[event_type] < wanted:
            warnings.add(
                "audit_entries_missing", f"result.json counts {wanted} of {event_type}, the log has {found[event_type]}"
            )


# Find the files of a record and read their JSON, with what cannot be read counted.
def find(directory: Path, *names: str | None) -> Path | None:
    """Return the first of these files that a directory has itself, plain or compressed; links are not followed."""
    for name in names:
        for candidate in (directory / name, directory / f"{name}.gz") if name else ():
            if _is_own_file(candidate):
                return candidate
    return None


def absent(directory: Path, name: str) -> str:
    """Return why a directory has no file of this name."""
    linked = any((directory / each).is_symlink() for each in (name, f"{name}.gz"))
    return f"{name} is a link, and links are not followed" if linked else f"{name} is not there"


def _is_own_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except OSError:  # a name that is too long for any file
        return False


def stored_name(path: Any) -> str | None:
    """Return the name of the file that a stored path leads to, `None` if nothing is stored."""
    return PurePosixPath(path.replace("\\", "/")).name or None if isinstance(path, str) else None


def stored_file(path: Any) -> Path | None:
    """Return the file at a stored path, if it is one that is there."""
    if not isinstance(path, str) or not path or "\0" in path:
        return None
    try:
        return Path(path) if Path(path).is_file() else None
    except OSError:
        return None


def log_at(directory: Path, stored_path: Any, names: Iterable[str], log: str, warnings: Warnings) -> Path | None:
    """Return where a log is: in the directory by its stored name, else by one of these names, else at its stored path.

    That path may lead anywhere, so a log from outside the directory is warned of, and so is what is not a file there.
    """
    path = find(directory, stored_name(stored_path), *names)
    if path is not None:
        return path
    path = stored_file(stored_path)
    if path is not None:
        warnings.add(f"{log}_elsewhere", "it was read from where result.json says it is, outside the record")
    elif isinstance(stored_path, str) and os.path.lexists(stored_path):
        warnings.add(f"{log}_elsewhere", "result.json names a place outside the record, which is not a file")
    return path


def read_object(path: Path, defects: Counter[str] | None = None) -> dict[str, Any]:
    """Return the object that a JSON file is; raise `BrokenInput`."""
    defects = Counter() if defects is None else defects
    value = clean(loads(read_whole(path, "log_mib"), defects, what="file"), defects)
    if not isinstance(value, dict):
        raise BrokenInput("file is not a JSON object")
    return value


def read_records(path: Path, log: str, warnings: Warnings) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the objects on the lines of a log with their bytes; lines that have none are counted under the log's name.

    What comes after `limits.log_mib` or `limits.log_lines` is not read.
    """

    def broken(problem: BrokenInput) -> None:
        warnings.add(f"{log}_broken_line", f"line {problem.line}: {problem.reason}" if problem.line else problem.reason)

    defects: Counter[str] = Counter()
    expected = 1
    for number, line in read_lines(path, broken, "log_mib"):
        if number > limits().log_lines:
            broken(BrokenInput(f"log has more than {limits().told('log_lines')}; the rest was not read"))
            break
        if number > expected:
            warnings.add(f"{log}_blank_line", f"line {expected}", number - expected)
        expected = number + 1
        try:
            record = loads(line, defects)
        except BrokenInput as problem:
            broken(BrokenInput(problem.reason, number))
            continue
        if isinstance(record, dict):
            yield record, line
        else:
            broken(BrokenInput("line is not a JSON object", number))
    for defect, often in defects.items():
        warnings.add(f"{log}_defect", defect, often)


# Read the framework's log: the words that the agent's voice was given (R5.2).
#
# Words come one by one, and some backends log the whole sentence before or between them as well. Such previews
# are taken out, then neighbours of one type become one event.
FRAMEWORK_LOGS = ("framework_logs.jsonl", "pipecat_logs.jsonl")
_KINDS = frozenset({"turn_start", "turn_end", "tts_text", "llm_response"})
_FRAMEWORK_LOG = "framework_log"


class LogLine(NamedTuple):
    """Describe a line of the log: its type, its time as logged, its text."""

    type: str
    timestamp: Any
    frame: str


def framework_events(directory: Path, stored_path: Any, warnings: Warnings) -> list[HistoryEvent]:
    """Return the events of the log that the result names; without one every text of the agent counts as unspoken."""
    if stored_path is None:
        warnings.add("framework_log_not_recorded", "result.json names none, so no text of the agent counts as spoken")
        return []
    path = log_at(directory, stored_path, (), _FRAMEWORK_LOG, warnings)
    if path is None:
        warnings.add("framework_log_missing", "the log is not there, so what the agent wrote is unchecked")
        return []
    return events_of(_lines(path, warnings))


def has_log(directory: Path, stored_path: Any) -> bool:
    """Return whether the log that the result names can be found."""
    return find(directory, stored_name(stored_path)) is not None or stored_file(stored_path) is not None


def events_of(lines: list[LogLine]) -> list[HistoryEvent]:
    """Return the events of lines in the order of the file: without previews, neighbours of one type joined."""
    if any(line.type == "tts_text" for line in lines):
        lines = _without_previews([line for line in lines if line.type != "llm_response"])
    events = []
    for type, run in groupby(lines, key=lambda line: line.type):
        pieces = list(run)
        text = (" " if type == "tts_text" else "").join(piece.frame for piece in pieces)
        events.append(HistoryEvent(whole(pieces[0].timestamp) or 0, FRAMEWORK, type, {"frame": text}))
    return events


def _lines(path: Path, warnings: Warnings) -> list[LogLine]:
    lines: list[LogLine] = []
    seen: set[bytes] = set()
    latest = 0
    for record, raw in read_records(path, _FRAMEWORK_LOG, warnings):
        kind = record.get("type")
        if not isinstance(kind, str) or kind not in _KINDS:
            warnings.add(f"{_FRAMEWORK_LOG}_line_unusable", "a line has no type", not isinstance(kind, str))
            continue
        data, time = record.get("data"), whole(record.get("timestamp"))
        frame = data.get("frame") if isinstance(data, dict) else None
        if not isinstance(frame, str):
            if record["type"] in ("tts_text", "llm_response"):
                warnings.add(f"{_FRAMEWORK_LOG}_line_unusable", f"{record['type']} without a frame")
                continue
            frame = ""
        if time is not None and time < latest:
            warnings.add(
                f"{_FRAMEWORK_LOG}_out_of_order", "time runs backwards, and words are joined in the order of the file"
            )
        latest = max(latest, time or 0)
        line = LogLine(record["type"], record.get("timestamp"), frame)
        # A word may well be said twice at one time, anything else may not.
        if raw in seen and (line.type != "tts_text" or _is_sentence(line)):
            warnings.add(f"{_FRAMEWORK_LOG}_duplicate_line", "a line is there twice")
        seen.add(raw)
        lines.append(line)
    return lines


def _without_previews(lines: list[LogLine]) -> list[LogLine]:
    """Take out sentences that are logged as a whole beside their words."""
    times = Counter(str(line.timestamp) for line in lines if line.type == "tts_text")
    left = [line for line in lines if not (_is_sentence(line) and times[str(line.timestamp)] > 1)]
    return [line for index, line in enumerate(left) if not _is_followed_by_its_words(left, index)]


def _is_sentence(line: LogLine) -> bool:
    return line.type == "tts_text" and " " in line.frame


def _is_followed_by_its_words(lines: list[LogLine], index: int) -> bool:
    if not _is_sentence(lines[index]):
        return False
    sentence = lines[index].frame
    words = lines[index + 1 : index + 1 + len(sentence.split())]
    return (
        len(words) == len(sentence.split())
        and all(word.type == "tts_text" and " " not in word.frame for word in words)
        and " ".join(word.frame for word in words) == sentence
    )


# Read the simulator's log: what the caller meant to say, what the caller heard, whose audio ran when (R5.3).
SIMULATOR_LOGS = ("user_simulator_events.jsonl", "elevenlabs_events.jsonl")
CONNECTION = "connection_state"
_NOISE = frozenset({"", "...", "......", ".", ",", "?", "!"})
_SIMULATOR_LOG = "simulator_log"
_MOST = 10_000_000  # a number beyond counts no lines


def simulator_log(directory: Path) -> Path | None:
    """Return where the log of a record is by its usual names, `None` if it has none."""
    return find(directory, *SIMULATOR_LOGS)


def last_line(path: Path) -> str | None:
    """Return what follows the last but one line end, `None` if the log cannot be read.

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
    return (event, "") if isinstance(event, dict) else (None, "the last line of the simulator's log is not an object")


def says_goodbye(event_type: Any, event: Any) -> bool:
    """Return whether an event of the log is the regular end of a session (9.3)."""
    return bool(event_type == CONNECTION and reason_of(event) == "goodbye")


def reason_of(event: Any) -> Any:
    """Return why the session ended, as an event of the connection gives it."""
    details = inner(event, "details")
    return details.get("reason") if isinstance(details, dict) else None


def simulator_events(directory: Path, stored_path: Any, warnings: Warnings) -> list[HistoryEvent]:
    """Return the events of the log in the order of the file; without one there is no audio and no intended text."""
    path = log_at(directory, stored_path, SIMULATOR_LOGS, _SIMULATOR_LOG, warnings)
    if path is None:
        warnings.add(f"{_SIMULATOR_LOG}_missing", "no audio and no intended text of the caller are known")
        return []
    events: list[HistoryEvent] = []
    seen: set[Any] = set()
    latest = 0
    for record, raw in read_records(path, _SIMULATOR_LOG, warnings):
        sequence = record.get("sequence")
        identity = sequence if isinstance(sequence, int) and not isinstance(sequence, bool) else raw
        if identity in seen:
            warnings.add(f"{_SIMULATOR_LOG}_duplicate_line", "a line is there twice")
        seen.add(identity)
        event = _event(record, warnings)
        if event is None:
            continue
        if event.timestamp_ms < latest:
            warnings.add(f"{_SIMULATOR_LOG}{OUT_OF_ORDER}", "time runs backwards, lines were sorted")
        latest = max(latest, event.timestamp_ms)
        events.append(event)
    if all(isinstance(number, int) for number in seen):
        _tell_gaps(seen, warnings)
    return events


def _tell_gaps(numbers: set[int], warnings: Warnings) -> None:
    """Warn of gaps in the numbers of lines, which begin at 1; those that could not be read are counted already."""
    highest = max(numbers, default=0)
    known = sum(1 for number in numbers if number > 0)
    gone = highest - known - warnings.counts.get(f"{_SIMULATOR_LOG}_broken_line", 0)
    if gone > 0 and highest <= _MOST:
        first = next(number for number in count(1) if number not in numbers)
        warnings.add(f"{_SIMULATOR_LOG}_lines_missing", f"line number {first} of its count is not there", gone)


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
        warnings.add(f"{_SIMULATOR_LOG}_line_unusable", "a line has no time in milliseconds")
        return None
    event_type = record.get("type") or record.get("event_type") or "unknown"
    rest = {key: value for key, value in record.items() if key not in ("timestamp", "type", "event_type")}
    return HistoryEvent(time, SIMULATOR, str(event_type), rest)
