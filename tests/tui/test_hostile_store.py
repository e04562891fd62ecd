"""A store full of names and words that try to act: nothing live leaves it, and every row still leads to its calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from riff_ingest.pipeline import ingest
from riff_store.database import Store, open_store
from riff_store.facts import FlowEdit
from riff_store.writer import Writer
from riff_tui.catalog import Request, show
from riff_tui.output.sinks import FORMATS
from tests.support.golden import printed
from tests.support.hostile import HOSTILE

# Line ends are the format's own; anything else below a blank, and C1, is live on some terminal.
LIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
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


def judged(call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What two judges say of a call, one of them with all that can be said of a verdict."""
    text = call["flow"]
    named = {"run_id": call["run_id"], "conversation_id": call["conversation_id"]}
    yield {**named, "judge": text, "score": 5}
    prompt = {"model": text, "prompt_hash": text, "prompt_version": text}
    yield {**named, **prompt, "judge": "codex", "score": 8.5, "rationale": text, "evidence": [1, 2, 99]}


def build(folder: Path, words: Sequence[str] = WORDS) -> Path:
    """A store of one call for each of the words, in which everything is called so."""
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
    return folder / "store.db"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(build(tmp_path_factory.mktemp("hostile"))) as opened:
        yield opened


@pytest.mark.parametrize("format", sorted(FORMATS))
@pytest.mark.parametrize(
    "view",
    [
        "flows",
        "segments",
        "states",
        "worklist",
        "conversations",
        "runs",
        "judges",
        "agreement",
        "disputes",
        "repeats",
        "archetypes",
        "timeline",
        "flow-table",
        "effects",
        "edits",
        "skipped",
    ],
)
def test_no_view_lets_a_name_act(store: Store, view: str, format: str) -> None:
    text = printed(show(store, view, Request()), format)
    assert not LIVE.search(text.replace("\r\n", "\n"))


def test_no_call_lets_a_word_act(store: Store) -> None:
    for row in show(store, "conversations", Request()).rows:
        for text in (True, False):
            table = show(store, "conversation", Request(where=row.where, text=text))
            assert table.extras["call"]["conversation"] == row.record["conversation"]
            for format in FORMATS:
                assert not LIVE.search(printed(table, format).replace("\r\n", "\n"))


def test_a_row_leads_to_its_calls_whatever_it_is_called(store: Store) -> None:
    for view in ("flows", "states"):
        for row in show(store, view, Request(by=("run", "persona"))).rows:
            found = show(store, "conversations", Request(where=f"{row.where} errored=no")).rows
            assert len(found) == row.record["n"], row.where


def test_judges_that_differ_are_found_whatever_they_are_called(store: Store) -> None:
    every = show(store, "disputes", Request(limit=1000))
    assert {row.record["spread"] for row in every.rows} == {3.5}
    # The first call was errored, and nobody's score of it counts.
    assert len(every.rows) == len(WORDS) - 1
    pairs = show(store, "agreement", Request(where="n>0")).rows
    shared = [row for row in pairs if row.record["second"] != "correctness"]
    assert len(shared) == len(WORDS) - 1
    for row in shared:
        calls = show(store, "disputes", Request(where=row.where)).rows
        assert row.record["first"] in {name for call in calls for name in call.record["scores"]}


def test_a_state_has_its_neighbours_whatever_it_is_called(store: Store) -> None:
    for row in show(store, "states", Request(where="state:after")).rows:
        table = show(store, "neighbors", Request(where=row.where))
        assert [step.record["direction"] for step in table.rows] == ["in"], row.where
        assert not LIVE.search(printed(table, "text"))


def test_the_store_is_left_as_it_was(store: Store) -> None:
    before = Path(store.location).read_bytes()
    show(store, "flows", Request(where='flow:"\'; DROP TABLE flow; --"'))
    assert Path(store.location).read_bytes() == before
