"""Content of files that can be ingested, one of each kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.surface.ingest import ReadContext, Source

NATIVE = """
flow = "dental_clinic"
archetype = "booking"
success_terminals = ["booked"]
required_slots = ["name"]
completion_slots = ["date"]
edges = [["greet", "ask_date"], {from = "ask_date", to = "booked"}, ["ask_date", "escalated"], ["greet", "ask_date"]]
colour = 1979-05-27

[states.greet]

[states.ask_date]
segment = "collect"
required_slots = ["date"]

[states.lost]
next = ["greet"]
"""


EDITOR: dict[str, Any] = {
    "nodes": [
        {"id": "start", "type": "initial", "position": {"x": 1}, "data": {"label": "Hello", "functions": []}},
        {
            "id": "collect_date",
            "type": "node",
            "data": {
                "functions": [
                    {"name": "a", "required": ["date", "time"], "properties": {}},
                    {"name": "b", "required": ["name", "date"]},
                    {"type": "function", "function": {"name": "c", "parameters": {"required": ["zip"]}}},
                    {"name": "d", "required": "nothing"},
                ],
                "riff": {"segment": "gather", "completion_slots": ["date"]},
            },
        },
        {
            "id": "confirm",
            "type": "node",
            "data": {
                "functions": [{"required": ["x"]}],
                "riff": {"required_slots": ["ok"], "completion_slots": ["ok"]},
            },
        },
        {"id": "end", "type": "end", "data": {"riff": {"terminal": "success"}}},
        {"id": "human", "type": "end", "data": {"riff": {"terminal": "escalation"}}},
        {"id": "lost", "type": "end"},
    ],
    "edges": [
        {"id": "e1", "source": "start", "target": "collect_date"},
        {"id": "e2", "source": "collect_date", "target": "end"},
    ],
}


FULL = {
    "run_id": "nightly",
    "conversation_id": "c-1",
    "judge": "codex",
    "score": 7,
    "judged_at": "1970-01-01T00:00:01Z",
    "rationale": "warm",
    "prompt_hash": "ab12",
    "model": "gpt",
    "aspect": "empathy",
}


def written(path: Path, value: Any) -> Path:
    """Write a value as JSON and return where."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def items_of(source: Source, path: Path, context: ReadContext | None = None) -> list[Any]:
    """Return what a source reads in a file, without places."""
    found = source.items(path, context or ReadContext())
    return [each[1] if isinstance(each, tuple) else each for each in found]
