"""Session reports as LiveKit's SDKs write them, of calls that are made up."""

from __future__ import annotations

import json
import re
from typing import Any

START = 1755856800.0
"""2025-08-22 10:00:00 UTC, when the calls begin."""


def user(text: str, at: float, *, speaks: tuple[float, float] | None = None, **fields: Any) -> dict[str, Any]:
    """What the caller said, with when."""
    metrics = {} if speaks is None else {**_speaks(speaks), "transcription_delay": 0.2, "end_of_turn_delay": 0.6}
    return _item("message", at, role="user", content=[text], metrics=metrics, **fields)


def assistant(
    text: str, at: float, latency: float | None = None, *, speaks: tuple[float, float] | None = None, **fields: Any
) -> dict[str, Any]:
    """What the agent said, how many seconds after the caller, and when."""
    metrics = {} if speaks is None else {**_speaks(speaks), "llm_node_ttft": 0.4, "tts_node_ttfb": 0.25}
    metrics |= {} if latency is None else {"e2e_latency": latency}
    return _item("message", at, role="assistant", content=[text], metrics=metrics, **fields)


def tool(name: str, at: float, output: str | None = "ok", *, is_error: bool = False, **arguments: Any) -> list[Any]:
    """A call of a tool with its answer, half a second later."""
    call_id = f"{name}-{at}"
    called = _item("function_call", at, call_id=call_id, name=name, arguments=json.dumps(arguments), group_id=None)
    if output is None:
        return [called]
    answer = _item("function_call_output", at + 0.5, call_id=call_id, name=name, output=output, is_error=is_error)
    return [called, answer]


def handoff(old: str | None, new: str, at: float) -> dict[str, Any]:
    """One agent hands the call to another; without an old one the call begins."""
    return _item("agent_handoff", at, old_agent_id=old, new_agent_id=new)


def report(*items: Any, **fields: Any) -> dict[str, Any]:
    """A whole report, of these items or lists of items."""
    flat = [each for item in items for each in (item if isinstance(item, list) else [item])]
    return {
        "job_id": "AJ_1",
        "room_id": "RM_1",
        "room": "call-+15550100",
        "events": [
            {"type": "agent_state_changed", "old_state": "idle", "new_state": "listening", "created_at": START},
        ],
        "audio_recording_path": "/recordings/AJ_1.ogg?signature=abc",
        "audio_recording_started_at": START,
        "options": {"allow_interruptions": True, "max_tool_steps": 3},
        "chat_history": {"items": flat},
        "timestamp": START + 60,
        "usage": [
            {"type": "llm_usage", "provider": "acme", "model": "thinker-2", "input_tokens": 900},
            {"type": "tts_usage", "provider": "acme", "model": "speaker-1"},
            {"type": "stt_usage", "provider": "acme", "model": "hearer-3"},
        ],
        "sdk_version": "1.8.9",
        "agent_name": "garden_centre",
        "tags": [],
        "duration_ms": 61000,
        "user_turns": 2,
        "errors": {"llm": 0, "stt": 0, "tts": 0, "realtime": 0, "interruption": 0},
        "close_reason": "CR_USER_INITIATED",
        **fields,
    }


def handed_over(**fields: Any) -> dict[str, Any]:
    """A voice call that the greeter hands to the one who books, who is broken into and has a tool fail once."""
    return report(
        handoff(None, "greeter", 0),
        assistant("Garden centre, good morning!", 0.5, speaks=(0.5, 2.0)),
        user("I'd like a tree planted.", 6.0, speaks=(3.0, 5.5)),
        handoff("greeter", "booking", 6.5),
        assistant("Gladly. We have Tuesday at nine or Thurs-", 7.0, 1.3, speaks=(6.8, 9.5), interrupted=True),
        user("Tuesday.", 10.0, speaks=(9.2, 9.8)),
        tool("book", 10.5, "slot is taken", is_error=True, day="Tuesday"),
        tool("book", 11.5, "booked", day="Tuesday", hour=10),
        assistant("Tuesday at ten it is.", 12.0, 2.2, speaks=(12.0, 13.0)),
        **{"tags": ["lk.success", "lk.judge.task_completion:pass", "lk.judge.tone:maybe"], **fields},
    )


def in_camel_case(value: Any) -> Any:
    """The same as the SDK for JavaScript writes it: other keys, and moments in milliseconds."""
    if isinstance(value, list):
        return [in_camel_case(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        _camel(key): part * 1000 if key.endswith("_at") and isinstance(part, float) else in_camel_case(part)
        for key, part in value.items()
    }


def _camel(key: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), key)


def _speaks(span: tuple[float, float]) -> dict[str, float]:
    return {"started_speaking_at": START + span[0], "stopped_speaking_at": START + span[1]}


def _item(kind: str, at: float, **fields: Any) -> dict[str, Any]:
    return {"id": f"item_{at}", "type": kind, "created_at": START + at, **fields}


def history() -> list[dict[str, Any]]:
    """The items of a session's history, which have no times but those of speech, and in which an id comes back."""

    def said(role: str, text: str, start: float, stop: float, **more: float) -> dict[str, Any]:
        metrics = {"started_speaking_at": 1768300000 + start, "stopped_speaking_at": 1768300000 + stop} | more
        return {
            "type": "message",
            "role": role,
            "content": [text],
            "interrupted": False,
            "extra": {},
            "metrics": metrics,
        }

    def tried(seats: int, output: str, *, is_error: bool) -> list[dict[str, Any]]:
        call = {"call_id": "c0", "name": "reserve"}
        return [
            {"type": "function_call", **call, "arguments": f'{{"n": {seats}}}'},
            {"type": "function_call_output", **call, "output": output, "is_error": is_error},
        ]

    items = [
        {"type": "agent_config_update", "instructions": "Be kind."},
        {"type": "agent_handoff", "new_agent_id": "greeter"},
        said("assistant", "Hello.", 1, 2),
        said("user", "Table for six.", 3, 4.5),
        *tried(6, "full", is_error=True),
        *tried(4, "ok", is_error=False),
        {"type": "agent_handoff", "old_agent_id": "greeter", "new_agent_id": "closer"},
        said("assistant", "Four it is.", 5.7, 6.7, e2e_latency=1.2),
    ]
    return [{"id": f"i{place}", **item} for place, item in enumerate(items)]
