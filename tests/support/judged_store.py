"""A store of a few calls that three judges scored, one of them by two prompts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.surface.ingest import ingest
from tests.surface.store import Store, Writer, open_store

JUDGES: list[tuple[dict[str, Any], list[float | None]]] = [
    ({"judge": "codex", "model": "gpt-5", "prompt_hash": "aaaaaa11", "prompt_version": "1"}, [2, 4.4, 6, 8, 9.5, None]),
    ({"judge": "codex", "model": "gpt-5", "prompt_hash": "bbbbbb22", "prompt_version": "2"}, [1, 4.5, 6, 9, 10, 5]),
    ({"judge": "gemini", "model": "gemini-2.5-pro"}, [7, 5, 3.5, 8, 9.5, 0]),
    ({"judge": "qwen [red]"}, [None, None, 6, 8]),
]


def calls(count: int = 6) -> Iterator[dict[str, Any]]:
    """Calls of one flow and two scenarios, of which the odd ones get there; the last one was errored."""
    for number in range(count):
        good = number % 2 == 1
        yield {
            "conversation_id": f"c-{number}",
            "run_id": "night",
            "flow": "viewing",
            "agent_model": "qwen",
            "scenario": "new" if number < 4 else "known",
            "persona": "hurried",
            "trial": number,
            "completed": good,
            "stop_reason": "terminal" if good else "hangup",
            "errored": number == 5,
            "contract": {"success_terminals": ["booked"]},
            "turns": [
                {"role": "agent", "text": "Which day?", "t": 0.5},
                {"role": "caller", "text": "Tuesday.", "t": 2},
            ],
            "events": [
                {"type": "state_entered", "t": 0, "state": "ask"},
                *([{"type": "state_exited", "t": 3, "state": "ask", "to_state": "booked"}] if good else []),
                *([{"type": "state_entered", "t": 3, "state": "booked"}] if good else []),
            ],
        }


def verdicts() -> Iterator[dict[str, Any]]:
    for judge, scores in JUDGES:
        for number, score in enumerate(scores):
            named = {"run_id": "night", "conversation_id": f"c-{number}", "judged_at": "2026-06-23T00:00:00Z"}
            reason = "Says *Tuesday* to ann@example.com <b>twice</b> | bye" if judge.get("prompt_hash") else None
            yield {**named, **judge, "score": score, "rationale": reason, "evidence": [1, 2] if reason else None}


def built(folder: Path, calls: list[dict[str, Any]], verdicts: list[dict[str, Any]]) -> Store:
    for name, lines in (("flow-transcripts-few.jsonl", calls), ("humanness-few.jsonl", verdicts)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with open_store(folder / "few.db", write=True, create=True) as opened:
        ingest([folder], Writer(opened))
    return open_store(folder / "few.db")
