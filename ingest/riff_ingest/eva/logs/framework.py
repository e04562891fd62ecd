"""Read the framework's log: the words that the agent's voice was given (R5.2).

Words come one by one, and some backends log the whole sentence before or between them as well. Such previews
are taken out, then neighbours of one type become one event.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from riff_ingest.eva.history import FRAMEWORK, HistoryEvent, whole
from riff_ingest.eva.logs.files import find, log_at, read_records, stored_file, stored_name
from riff_ingest.eva.warnings import Warnings

NAMES = ("framework_logs.jsonl", "pipecat_logs.jsonl")
_KINDS = frozenset({"turn_start", "turn_end", "tts_text", "llm_response"})
_LOG = "framework_log"


class LogLine(NamedTuple):
    """Hold a line of the log: its type, its time as logged, its text."""

    type: str
    timestamp: Any
    frame: str


def framework_events(directory: Path, stored_path: Any, warnings: Warnings) -> list[HistoryEvent]:
    """Return the events of the log that the result names; without one every text of the agent counts as unspoken."""
    if stored_path is None:
        warnings.add("framework_log_not_recorded", "result.json names none, so no text of the agent counts as spoken")
        return []
    path = log_at(directory, stored_path, (), _LOG, warnings)
    if path is None:
        warnings.add("framework_log_missing", "the log is not there, so what the agent wrote stands unchecked")
        return []
    return events_of(_lines(path, warnings))


def has_log(directory: Path, stored_path: Any) -> bool:
    """Tell whether the log that the result names can be found."""
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
    for record, raw in read_records(path, _LOG, warnings):
        kind = record.get("type")
        if not isinstance(kind, str) or kind not in _KINDS:
            warnings.add(f"{_LOG}_line_unusable", "a line has no type", not isinstance(kind, str))
            continue
        data, time = record.get("data"), whole(record.get("timestamp"))
        frame = data.get("frame") if isinstance(data, dict) else None
        if not isinstance(frame, str):
            if record["type"] in ("tts_text", "llm_response"):
                warnings.add(f"{_LOG}_line_unusable", f"{record['type']} without a frame")
                continue
            frame = ""
        if time is not None and time < latest:
            warnings.add(f"{_LOG}_out_of_order", "time runs backwards, and words are joined in the order of the file")
        latest = max(latest, time or 0)
        line = LogLine(record["type"], record.get("timestamp"), frame)
        # A word may well be said twice at one time, anything else may not.
        if raw in seen and (line.type != "tts_text" or _is_sentence(line)):
            warnings.add(f"{_LOG}_duplicate_line", "a line stands there twice")
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
