"""Small transcripts for judges, and the settings that point a judge at a server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

KEY = "sk-test-0123456789abcdef"
KEY_VARIABLE = "PLAYED_KEY"


def turn(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "text": text}


def call(number: int, *, caller: str = "I need a room for Tuesday.", run: str = "run-1", **more: Any) -> dict[str, Any]:
    """A native line; each number has other words in it."""
    turns = [
        turn("agent", f"Good morning, this is the front desk speaking, how can I help you on day {number}?"),
        turn("caller", caller),
        turn("agent", "Let me see what we have for you, one moment please."),
        turn("caller", "Thanks."),
        turn("agent", "Let me see what we have for you, one moment please."),
    ]
    return {"conversation_id": f"c-{number:04}", "flow": "hotel", "run_id": run, "turns": turns, **more}


def write_calls(folder: Path, calls: Iterable[Mapping[str, Any]], name: str = "hotel") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"flow-transcripts-{name}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in calls), encoding="utf-8")
    return path


def settings(path: Path, url: str, **more: str) -> Path:
    """A settings file with the judge `played`; `more` are lines of its table as TOML spells their values."""
    lines = {
        "kind": '"openai"',
        "base_url": json.dumps(url),
        "model": '"played-1"',
        "key_variable": f'"{KEY_VARIABLE}"',
    }
    table = "".join(f"{key} = {value}\n" for key, value in {**lines, **more}.items())
    path.write_text(f"[judges.played]\n{table}", encoding="utf-8")
    return path


def kept(path: Path) -> list[dict[str, Any]]:
    """The lines of a humanness file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
