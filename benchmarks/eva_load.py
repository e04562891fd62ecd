"""Records of EVA made by code: three logs, two databases and a result, the same for the same seed.

By default as heavy as a real record of six minutes: most of that is what the models were asked.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TURNS = 10
PROMPT_BYTES = 48_000
START_MS = 1_780_000_000_000
TOOLS = ("verify_caller", "get_reservation", "search_seats", "assign_seat")

_TALK = (
    "please check whether that seat by the window is still free on the later flight and tell me what it would cost "
    "because my old one got lost when they changed the plane and nobody at the desk could say where I should sit now"
)
_WORDS = _TALK.split()


@dataclass(slots=True)
class Record:
    """A record on its way: lines of its logs in the order of time, and the clock in milliseconds."""

    seed: int
    now: int = START_MS
    audit: list[dict[str, Any]] = field(default_factory=list)
    framework: list[dict[str, Any]] = field(default_factory=list)
    simulator: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[dict[str, Any]] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)


def record_files(
    seed: int, *, record: str = "1.1.2", turns: int = TURNS, prompt_bytes: int = PROMPT_BYTES, ended: str = "goodbye"
) -> dict[str, bytes]:
    """The files of one record by name; a tool is called in every other turn of the caller's."""
    dice = random.Random(seed)
    made = Record(seed)
    _state(made, "connected")
    _agent(made, dice)
    for turn in range(1, turns):
        _caller(made, dice)
        if turn % 2 and turn < turns - 1:
            _tool(made, dice, TOOLS[turn // 2 % len(TOOLS)])
        _agent(made, dice)
        made.prompts.append({"response": "", "prompt": "You are " + "x" * prompt_bytes, "latency_ms": 900})
    _state(made, "session_ended", reason=ended)
    return _files(made, record, ended)


def write_run(folder: Path, records: int, *, turns: int = TURNS, prompt_bytes: int = PROMPT_BYTES) -> Path:
    """A run with so many records below a folder."""
    run = folder / "2026-06-22_02-00-00.000000_airline_en_made"
    for number in range(records):
        name = f"{number // 10}.{number % 10}.1"
        directory = run / "records" / name
        directory.mkdir(parents=True)
        for file, content in record_files(number, record=name, turns=turns, prompt_bytes=prompt_bytes).items():
            (directory / file).write_bytes(content)
    config = {"run_id": run.name, "domain": "airline", "model": {"stt": "ear", "llm": "mind-2", "tts": "mouth"}}
    (run / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return run


def _sentence(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(_WORDS, k=words)).capitalize() + "."


def _caller(made: Record, dice: random.Random) -> None:
    text = _sentence(dice, dice.randrange(5, 20))
    made.now += 400
    _audio(made, "audio_start", "simulated_user", made.now)
    _say(made, "user_speech", text)
    made.now += 90 * len(text)
    _audio(made, "audio_end", "simulated_user", made.now)
    made.now += 200
    made.audit.append({"value": text.lower(), "timestamp": str(made.now), "message_type": "user"})


def _agent(made: Record, dice: random.Random) -> None:
    text = _sentence(dice, dice.randrange(20, 40))
    made.now += dice.randrange(300, 1500)
    made.audit.append({"value": text, "timestamp": str(made.now), "message_type": "assistant"})
    for word in text.split():
        made.now += 7
        _frame(made, "tts_text", word)
        _frame(made, "transcript", word)
    _audio(made, "audio_start", "assistant", made.now)
    made.now += 60 * len(text)
    _audio(made, "audio_end", "assistant", made.now)
    _say(made, "assistant_speech", text)
    _frame(made, "turn_end", "UserStartedSpeakingFrame#0")


def _tool(made: Record, dice: random.Random, tool: str) -> None:
    made.now += 700
    given = {"confirmation_number": f"ZK{dice.randrange(1000)}", "seats": [dice.randrange(30) for _ in range(20)]}
    called = {"tool": tool, "parameters": given}
    made.audit.append({"value": called, "timestamp": str(made.now), "message_type": "tool_call"})
    made.now += 5
    answered = {"tool": tool, "response": {"status": "success", "seats": [f"{row}A" for row in range(60)]}}
    made.audit.append({"value": answered, "timestamp": str(made.now), "message_type": "tool_response"})
    made.tools.append(tool)


def _frame(made: Record, kind: str, text: str) -> None:
    made.framework.append({"type": kind, "timestamp": made.now, "data": {"frame": text}, "source": "TTSService#0"})


def _audio(made: Record, kind: str, side: str, at: int) -> None:
    made.simulator.append(
        {"timestamp": at, "sequence": _sequence(made), "event_type": kind, "user": side, "audio_timestamp": at / 1000}
    )


def _say(made: Record, kind: str, text: str) -> None:
    made.now += 20
    made.simulator.append(
        {"timestamp": made.now, "sequence": _sequence(made), "type": kind, "data": {"text": text, "source": "made"}}
    )


def _state(made: Record, state: str, **details: str) -> None:
    made.now += 500
    data = {"state": state, "details": details}
    made.simulator.append(
        {"timestamp": made.now, "sequence": _sequence(made), "type": "connection_state", "data": data}
    )


def _sequence(made: Record) -> int:
    return len(made.simulator) + 1


def _files(made: Record, record: str, ended: str) -> dict[str, bytes]:
    database = {"reservations": {f"ZK{made.seed}": {"seat": "12A", "fare": 120.0, "bags": list(range(200))}}}
    result = {
        "record_id": record,
        "completed": True,
        "started_at": "2026-05-28T20:26:40",
        "ended_at": "2026-05-28T20:32:00",
        "duration_seconds": (made.now - START_MS) / 1000,
        "output_dir": "output/made",
        "pipecat_logs_path": f"output/made/records/{record}/framework_logs.jsonl",
        "user_simulator_logs_path": f"output/made/records/{record}/user_simulator_events.jsonl",
        "num_tool_calls": len(made.tools),
        "tools_called": list(dict.fromkeys(made.tools)),
        "conversation_ended_reason": ended,
    }
    documents: dict[str, Any] = {
        "result.json": result,
        "audit_log.json": {"transcript": made.audit, "llm_prompts": made.prompts, "conversation_messages": []},
        "initial_scenario_db.json": database,
        "final_scenario_db.json": database,
    }
    logs = {"framework_logs.jsonl": made.framework, "user_simulator_events.jsonl": made.simulator}
    return {name: json.dumps(document, indent=1).encode() for name, document in documents.items()} | {
        name: b"".join(json.dumps(line).encode() + b"\n" for line in lines) for name, lines in logs.items()
    }
