"""Runs of pipecat's evals as its suite writes them, of calls that are made up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MESSAGES: list[dict[str, Any]] = [
    {"role": "assistant", "content": "Pizza place, hello!"},
    {"role": "user", "content": "A margherita, please."},
    {"role": "tool_call", "name": "choose_pizza", "arguments": {"kind": "margherita"}, "cancelled": False},
    {"role": "assistant", "content": "Large or sm-"},
    {"role": "user", "content": "Small."},
    {"role": "tool_call", "name": "place_order", "arguments": {"size": "small"}, "cancelled": True},
    {"role": "assistant", "content": "It is on its way."},
]


def simulation(**fields: Any) -> dict[str, Any]:
    """A simulated call that succeeded, with three metrics."""
    return {
        "bot": "bots/pizza.py",
        "name": "order-small",
        "scenario": "order_small",
        "kind": "simulation",
        "attempt": 1,
        "success": "The caller has ordered a small margherita.",
        "passed": True,
        "succeeded": True,
        "error": None,
        "confidence": 0.9,
        "probabilities": {},
        "ended_by": "end_call",
        "turns": 3,
        "metrics": [
            {
                "name": "politeness",
                "criterion": "The bot is polite.",
                "score": 0.75,
                "passed": True,
                "min_score": 0.5,
                "value": None,
                "reason": "mostly polite",
                "failure_kind": None,
                "verdicts": [
                    {"turn": 1, "passed": True, "verdict": "yes", "reason": "greets"},
                    {"turn": 2, "passed": False, "verdict": "no", "reason": "curt"},
                ],
            },
            {"name": "latency", "score": None, "passed": False, "value": 4.5, "failure_kind": "out_of_range"},
            {"name": "tone", "score": None, "passed": False, "value": None, "failure_kind": "judge_no_verdict"},
        ],
        "reason": "ordered what was wanted",
        "end_call": {"success": True, "reason": "ordered"},
        "duration_ms": 42000,
        "messages": MESSAGES,
        "artifacts": {"log": "/logs/1.log", "conversation": "/runs/nightly/order-small.conversation.json"},
        **fields,
    }


def script(**fields: Any) -> dict[str, Any]:
    """A script that passed; its conversation is kept in a file."""
    return {
        "bot": "bots/pizza.py",
        "name": "hours",
        "scenario": "opening_hours",
        "kind": "script",
        "attempt": 2,
        "passed": True,
        "skipped": False,
        "error": None,
        "duration_ms": 9000,
        "failures": [],
        "turns": [
            {
                "turn_index": 0,
                "status": "passed",
                "duration_ms": 900,
                "expectations": [{"expectation_index": 0, "event_name": "tts", "passed": True, "matched": {}}],
            }
        ],
        "artifacts": {"conversation": "/runs/nightly/hours.conversation.json"},
        **fields,
    }


def failure(kind: str, **fields: Any) -> dict[str, Any]:
    """One thing that a script expected and that did not come."""
    return {"turn_index": 1, "expectation_index": 0, "event_name": "llm", "kind": kind, "reason": "no hours", **fields}


def run_of(directory: Path, results: Sequence[Any], conversations: dict[str, Any] | None = None) -> Path:
    """Write a run into a directory; return its results."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, messages in (conversations or {}).items():
        (directory / f"{name}.conversation.json").write_text(json.dumps(messages), encoding="utf-8")
    path = directory / "results.jsonl"
    path.write_text("".join(f"{json.dumps(result)}\n" for result in results), encoding="utf-8")
    return path
