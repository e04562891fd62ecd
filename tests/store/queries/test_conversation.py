"""One call with everything that the store knows of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from tests.support.facts import call, detail_of, fresh, put, state, verdict
from tests.surface.store import NotAStore, Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def packed(document: object) -> bytes:
    return zstandard.ZstdCompressor().compress(json.dumps(document).encode())


def test_tells_a_call_from_its_facts_to_its_words(store: Store) -> None:
    document = {"turns": [{"role": "agent", "text": "Hi [bold]"}], "events": [], "slots": {"date": "Tuesday"}}
    rows = [
        state("greet", to={"collect": 2}),
        state("collect", stall=1, latency_p95_ms=None, to={"booked": 1, "greet": 1}),
    ]
    facts = call(
        "c1", line=7, states=rows, aspects={"errors": 7.5, "correctness": 0.0}, transcript=json.dumps(document).encode()
    )
    put(store, "calls.jsonl", [facts, call("c1", run="night-2")])
    put(store, "verdicts.jsonl", [verdict("c1", 3.0, model="m", rationale="flat", line=4)])
    found = detail_of(store, "night-1", "c1")
    assert found is not None
    assert found.call.run == "night-1"
    assert found.aspects == {"correctness": 0.0, "errors": 7.5}
    assert [(one.judge, one.aspect, one.score, one.model, one.rationale) for one in found.verdicts] == [
        ("codex", "humanness", 3.0, "m", "flat")
    ]
    assert [(row.state, row.stall, row.latency_p95_ms, dict(row.to_states)) for row in found.states] == [
        ("collect", 1, None, {"booked": 1, "greet": 1}),
        ("greet", 0, 500.0, {"collect": 2}),
    ]
    assert found.document == document
    assert found.source_path.endswith("calls.jsonl")
    assert found.source_line == 7


def test_a_call_that_is_not_there_is_none(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    assert detail_of(store, "night-1", "c2") is None
    assert detail_of(store, "night-2", "c1") is None


def test_without_text_there_is_no_document(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    found = detail_of(store, "night-1", "c1")
    assert found is not None
    assert found.document is None


def test_of_several_verdicts_of_a_judge_the_one_that_counts_is_told(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    put(
        store,
        "a.jsonl",
        [
            verdict("c1", 1.0, judged_at=100, line=1),
            verdict("c1", 2.0, judged_at=300, line=2),
            verdict("c1", 3.0, judged_at=None, line=3),
            verdict("c1", 4.0, judge="gemini", judged_at=None, line=4),
            verdict("c1", 5.0, judge="gemini", judged_at=None, line=5),
            verdict("c1", 6.0, aspect="politeness", line=6),
        ],
    )
    put(store, "b.jsonl", [verdict("c1", 7.0, judged_at=300, line=1)])
    found = detail_of(store, "night-1", "c1")
    assert found is not None
    assert [(one.aspect, one.judge, one.score) for one in found.verdicts] == [
        ("humanness", "codex", 7.0),
        ("humanness", "gemini", 5.0),
        ("politeness", "codex", 6.0),
    ]
    counted = store.execute_sql("SELECT value FROM aspect_score WHERE judge_id <> 1 ORDER BY value")
    assert [value for (value,) in counted] == [5.0, 6.0, 7.0]


@pytest.mark.parametrize(
    "body",
    [b"not zstd", 2**40, "text", packed({})[:-3], zstandard.ZstdCompressor().compress(b"{oops"), packed("x")[:6],
     zstandard.ZstdCompressor().compress(b"[" * 100_000), zstandard.ZstdCompressor().compress(b"\xff\xfe")],
)  # fmt: skip
def test_a_damaged_transcript_is_named_as_such(body: object, store: Store) -> None:
    put(store, "calls.jsonl", [call("c1", transcript=b"{}")])
    with store.writing():
        store.execute_sql("UPDATE transcript SET body = ?", (body,))
    with pytest.raises(NotAStore, match="transcript of this call is damaged"):
        detail_of(store, "night-1", "c1")
