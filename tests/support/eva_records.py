"""Directories of records, written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.eva_events import START

FRAMEWORK_LOG = "framework_logs.jsonl"
SIMULATOR_LOG = "user_simulator_events.jsonl"


def ms(at: float) -> int:
    """A moment of the call in milliseconds."""
    return round((START + at) * 1000)


def lines(records: Iterable[Any]) -> str:
    """Records as JSON lines; text is as it is."""
    return "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in records)


def said(at: float, value: Any, kind: str = "assistant") -> dict[str, Any]:
    """An entry of the audit log."""
    return {"value": value, "timestamp": str(ms(at)), "message_type": kind}


def word(at: float, frame: str, kind: str = "tts_text") -> dict[str, Any]:
    """A line of the framework's log."""
    return {"type": kind, "timestamp": ms(at), "data": {"frame": frame}}


def audio(at: float, kind: str, side: str) -> dict[str, Any]:
    """A line of the simulator's log: a side's audio begins or ends."""
    return {"timestamp": ms(at), "event_type": kind, "user": side, "audio_timestamp": START + at}


def speech(at: float, kind: str, text: str) -> dict[str, Any]:
    """A line of the simulator's log: what a side says."""
    return {"timestamp": ms(at), "type": kind, "data": {"text": text}}


def goodbye(at: float, reason: str = "goodbye") -> dict[str, Any]:
    """The last line of the simulator's log."""
    details = {"state": "session_ended", "details": {"reason": reason}}
    return {"timestamp": ms(at), "type": "connection_state", "data": details}


AUDIT = [
    said(0, "Bakery, good morning."),
    said(3.1, "Rolls", "user"),
    said(3.5, "How many rolls would you like?"),
]
FRAMEWORK = [
    word(0.1, "Bakery,"),
    word(0.2, "good"),
    word(0.3, "morning."),
    word(1.9, "UserStartedSpeakingFrame#0", "turn_end"),
    word(3.6, "How many rolls would you like?"),
]
SIMULATOR = [
    audio(0.2, "audio_start", "assistant"),
    speech(1, "assistant_speech", "Bakery good morning"),
    audio(1.2, "audio_end", "assistant"),
    audio(2, "audio_start", "simulated_user"),
    speech(2.1, "user_speech", "Rolls."),
    audio(3, "audio_end", "simulated_user"),
    audio(4, "audio_start", "assistant"),
    speech(4.5, "assistant_speech", "How many rolls would you like"),
    audio(5, "audio_end", "assistant"),
    goodbye(6),
]
FINAL_DB = {"orders": {"O1": {"what": "rolls", "count": 12.0, "note": "None"}}, "session": {"caller": "M. Ode"}}


def write_record(
    directory: Path,
    *,
    result: dict[str, Any] | None = None,
    audit: Iterable[Any] = AUDIT,
    framework: Iterable[Any] | None = FRAMEWORK,
    simulator: Iterable[Any] | None = SIMULATOR,
    final: Any = FINAL_DB,
) -> Path:
    """A record with all its logs; `result` is added to what result.json has, `None` leaves a log out."""
    directory.mkdir(parents=True, exist_ok=True)
    stored = {
        "record_id": "r1",
        "completed": True,
        "duration_seconds": 6.0,
        "conversation_ended_reason": "goodbye",
        "pipecat_logs_path": f"elsewhere/r1/{FRAMEWORK_LOG}",
        "user_simulator_logs_path": f"elsewhere/r1/{SIMULATOR_LOG}",
        **(result or {}),
    }
    (directory / "result.json").write_text(json.dumps(stored))
    (directory / "audit_log.json").write_text(json.dumps({"transcript": list(audit)}))
    (directory / "initial_scenario_db.json").write_text(json.dumps({"orders": {}}))
    (directory / "final_scenario_db.json").write_text(json.dumps(final))
    if framework is not None:
        (directory / FRAMEWORK_LOG).write_text(lines(framework))
    if simulator is not None:
        (directory / SIMULATOR_LOG).write_text(lines(simulator))
    return directory
