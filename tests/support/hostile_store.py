"""A store full of names and words that try to act."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.support.hostile import HOSTILE
from tests.surface.ingest import ingest
from tests.surface.store import FlowEdit, KeptList, Sample, Writer, candidates, draw, keep_list, open_store

ACTING = [text for name, text in HOSTILE.items() if name != "wide" and text.strip() and len(text) > 3]
"""What no plain name holds, long enough not to be found by chance."""
WORDS = [text for text in HOSTILE.values() if text.strip()]


def calls(words: Sequence[str] = WORDS) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(words):
        yield {
            "conversation_id": f"c{number} {text}",
            "run_id": f"run {text}",
            "flow": text,
            "agent_model": f"agent {text}",
            "persona": text,
            "stop_reason": "hangup",
            "final_state": text,
            "completed": False,
            "errored": number == 0,
            "error": text,
            "events": [
                {"type": "state_entered", "t": 0.0, "state": text},
                {"type": "turn_complete", "t": 1.0, "latency_ms": 900},
                {"type": "guard_evaluated", "t": 1.5, "guard": text, "result": None, "error": text},
                {"type": "slot_filled", "t": 2.0, "slot": text, "value": text, "state": text},
                {"type": "state_exited", "t": 3.0, "state": text, "to_state": f"after {text}", "reason": text},
                {"type": "state_entered", "t": 3.0, "state": f"after {text}"},
            ],
            "turns": [{"role": "agent", "text": text, "t": 1.0}, {"role": text, "text": text, "t": 2.5}],
            "tool_calls": [{"t": 2.2, "name": text, "arguments": {text: text}, "error": text, "by": text}],
        }


def wordy_calls(said: str) -> Iterator[dict[str, Any]]:
    """Yield calls of two nights with plain names, and with the same words in all that anybody or any program says."""
    for night in (1, 2):
        for task in range(12):
            yield {
                "conversation_id": f"c-{night}-{task}",
                "run_id": f"night-{night}",
                "flow": "viewing",
                "agent_model": "gemini",
                "persona": "patient",
                "scenario": f"task-{task}",
                "started_at": f"2026-06-0{night}T10:00:00Z",
                "stop_reason": "terminal" if night == 1 else "hangup",
                "completed": night == 1,
                "errored": task == 0,
                "error": said,
                "events": [
                    {"type": "state_entered", "t": 0.0, "state": "greet"},
                    {"type": "guard_evaluated", "t": 1.5, "guard": "is_open", "result": said, "error": said},
                    {"type": "slot_filled", "t": 2.0, "slot": "phone", "value": said, "state": "greet"},
                    {"type": "state_exited", "t": 3.0, "state": "greet", "to_state": "book", "reason": said},
                    {"type": "state_entered", "t": 3.0, "state": "book"},
                ],
                "turns": [{"role": role, "text": said, "t": t} for t, role in enumerate(("agent", "caller"), 1)],
                "tool_calls": [
                    {"t": 2.2, "name": "find", "arguments": {"q": said}, "result": said},
                    {"t": 3.2, "name": "book", "arguments": {"q": said}, "error": said},
                ],
            }


def build_wordy(folder: Path, said: str, **more: str) -> Path:
    """Build a store of two nights in which everything but names is in the same words, reasons of judges too."""
    lines = [json.dumps({**call, **more}) for call in wordy_calls(said)]
    (folder / "flow-transcripts-viewing.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    named = [{key: call[key] for key in ("run_id", "conversation_id")} for call in wordy_calls(said)]
    verdicts = [json.dumps({**call, "judge": "codex", "score": 8.5, "rationale": said}) for call in named]
    (folder / "humanness-viewing.jsonl").write_text("\n".join(verdicts) + "\n", encoding="utf-8")
    noted = {"schema": "riff.annotation/1", "flow": "viewing", "turn": 1, "verdict": "fail", "author": "ann"}
    of_night = [{**noted, **call, "id": f"n{number}", "code": said, "note": said} for number, call in enumerate(named)]
    (folder / "notes.jsonl").write_text("".join(f"{json.dumps(note)}\n" for note in of_night[20:]), encoding="utf-8")
    with open_store(folder / "store.db", write=True, create=True) as opened:
        writer = Writer(opened)
        assert ingest([folder], writer).conversations("taken") == len(named)
        with writer.batch():
            writer.put_edits("root", {"viewing": [FlowEdit("viewing", "ab" * 20, 1, said, said, "viewing.toml")]})
    return folder / "store.db"


def judged(call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what two judges say about a call, one of them with all that can be said of a verdict."""
    text = call["flow"]
    named = {"run_id": call["run_id"], "conversation_id": call["conversation_id"]}
    yield {**named, "judge": text, "score": 5}
    prompt = {"model": text, "prompt_hash": text, "prompt_version": text}
    yield {**named, **prompt, "judge": "codex", "score": 8.5, "rationale": text, "evidence": [1, 2, 99]}


def build(folder: Path, words: Sequence[str] = WORDS) -> Path:
    """Build a store of one call for each of the words, in which everything is called so."""
    lines = [json.dumps(call) for call in calls(words)]
    (folder / "flow-transcripts-evil.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    verdicts = [json.dumps(verdict) for call in calls(words) for verdict in judged(call)]
    (folder / "humanness-evil.jsonl").write_text("\n".join(verdicts) + "\n", encoding="utf-8")
    with open_store(folder / "store.db", write=True, create=True) as opened:
        writer = Writer(opened)
        summary = ingest([folder], writer)
        assert summary.conversations("taken") == len(words)
        with writer.batch():
            writer.put_edits("root", {text: [FlowEdit(text, text, 1, text, text, text)] for text in words})
        found = candidates(opened)
        drawn = draw(found, {"random": len(found), "failing": 0, "outlier": 0}, 1)
        keep_list(opened, KeptList(Sample(len(found), {"random": len(found)}, 1, words[0], 1), drawn.calls))
    return folder / "store.db"
