"""A store of twenty calls written by hand, small enough that every cell can be checked with a pencil.

Ten calls of `viewing`: seven are led by `gemini`, three by `qwen`. Of gemini's, three stall in `collect_details`,
one escalates from there, two book, and one was errored. Qwen's all book. Ten calls of `weather`, all well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.surface.ingest import ingest
from tests.surface.store import Writer, open_store

CONTRACT = {
    "success_terminals": ["booked"],
    "escalation_terminals": ["escalated"],
    "required_slots": ["name", "date"],
    "states": {
        "greet": {"segment": "opening"},
        "collect_details": {"segment": "collect", "required_slots": ["name", "date"]},
        "confirm": {"segment": "confirm"},
    },
}
WEATHER = {"success_terminals": ["told"], "states": {"lookup": {"segment": "action"}}}


def write(folder: Path) -> list[Path]:
    """The files that an evaluation would have left behind: two runs, two judges, one broken line."""
    paths = []
    for run in ("run-1", "run-2"):
        (folder / run).mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(call) for call in calls() if call["run_id"] == run]
        if run == "run-2":
            lines.append('{"conversation_id": "cut off')
        paths.append(_written(folder / run / "flow-transcripts-tiny.jsonl", lines))
    paths.append(_written(folder / "run-1" / "humanness-codex.jsonl", [json.dumps(score) for score in scores()]))
    return paths


def build(folder: Path) -> Path:
    """The store of those files."""
    store = folder / "tiny.db"
    paths = write(folder)
    with open_store(store, write=True, create=True) as opened:
        ingest(paths, Writer(opened))
    return store


def calls() -> Iterator[dict[str, Any]]:
    """The calls, in order of their ids."""
    for number in range(7):
        kind = ("stalls", "stalls", "stalls", "escalates", "books", "books", "breaks")[number]
        yield viewing(number, "gemini", kind, run="run-1", latency=900 + 100 * number)
    for number in range(7, 10):
        yield viewing(number, "qwen", "books", run="run-2", latency=700)
    for number in range(10, 20):
        yield weather(number, run="run-1" if number < 15 else "run-2")


def scores() -> Iterator[dict[str, Any]]:
    """Codex scored gemini's first four calls, and could not make up its mind about the last of them."""
    for number, score in enumerate((2.0, 3.0, 4.0, None)):
        yield {
            "run_id": "run-1", "conversation_id": name(number), "judge": "codex", "score": score,
            "judged_at": "2026-06-23T00:00:00Z",
        }  # fmt: skip


def name(number: int) -> str:
    return f"c-{number:04d}"


def viewing(number: int, agent: str, kind: str, *, run: str, latency: int) -> dict[str, Any]:
    """A call that greets, collects, confirms and books, as far as it gets."""
    events: list[dict[str, Any]] = [
        {"type": "state_entered", "t": 0.0, "state": "greet"},
        {"type": "turn_complete", "t": 1.0, "latency_ms": latency},
        {"type": "state_exited", "t": 2.0, "state": "greet", "to_state": "collect_details", "reason": "greeted"},
        {"type": "state_entered", "t": 2.0, "state": "collect_details"},
        {"type": "turn_complete", "t": 4.0, "latency_ms": latency},
        {"type": "slot_filled", "t": 5.0, "slot": "date", "value": "Tuesday", "state": "collect_details"},
    ]
    stop, final = "terminal", "booked"
    if kind in ("stalls", "breaks"):
        error = "KeyError: 'name'" if number == 0 else None
        events += [
            {"type": "guard_evaluated", "t": 6.0, "guard": "has_name", "result": False, "error": error},
            {"type": "turn_complete", "t": 8.0, "latency_ms": latency},
        ]
        stop, final = "max_turns", "collect_details"
    elif kind == "escalates":
        events.append(_exit(9.0, "collect_details", "escalated"))
        final = "escalated"
    else:
        events += [
            {"type": "slot_filled", "t": 6.0, "slot": "name", "value": "Ann", "state": "collect_details"},
            _exit(7.0, "collect_details", "confirm"),
            {"type": "state_entered", "t": 7.0, "state": "confirm"},
            {"type": "turn_complete", "t": 8.0, "latency_ms": latency},
            _exit(9.0, "confirm", "booked"),
        ]
    return _call(number, run, "viewing", agent, events) | {
        "archetype": "booking",
        "persona": "hurried" if number % 2 else "patient",
        "completed": kind == "books",
        "stop_reason": stop,
        "final_state": final,
        "errored": kind == "breaks",
        "error": "backend away" if kind == "breaks" else None,
        "contract": CONTRACT,
        "slots": {"name": "Ann", "date": "Tuesday"} if kind == "books" else {"date": "Tuesday"},
        "turns": [
            {"role": "agent", "text": "Hi, which day suits you?", "t": 1.0, "state": "greet", "latency_ms": latency},
            {"role": "caller", "text": "Tuesday. Mail <me> at ann@example.com | bye", "t": 3.0},
        ],
        "tool_calls": [{"t": 5.5, "name": "find_slots", "arguments": {"day": "Tuesday"}, "error": None, "by": "agent"}],
    }


def weather(number: int, *, run: str) -> dict[str, Any]:
    """A call that looks the weather up and tells it."""
    events = [
        {"type": "state_entered", "t": 0.0, "state": "lookup"},
        {"type": "turn_complete", "t": 1.0, "latency_ms": 500},
        _exit(2.0, "lookup", "told"),
    ]
    return _call(number, run, "weather", "qwen", events) | {
        "archetype": "inquiry",
        "completed": True,
        "stop_reason": "terminal",
        "final_state": "told",
        "contract": WEATHER,
    }


def _call(number: int, run: str, flow: str, agent: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema": "riff.flow-transcript/1",
        "conversation_id": name(number),
        "run_id": run,
        "commit": {"run-1": "abc1234", "run-2": "def5678"}[run],
        "branch": "main",
        "flow": flow,
        "agent_model": agent,
        "started_at": f"2026-06-2{run[-1]}T02:00:{number:02d}Z",
        "duration_s": 10.0,
        "errors": [],
        "events": events,
    }


def _exit(t: float, state: str, to_state: str) -> dict[str, Any]:
    return {"type": "state_exited", "t": t, "state": state, "to_state": to_state, "reason": "done"}


def _written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
