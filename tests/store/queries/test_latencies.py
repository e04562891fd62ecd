"""The pooled latency of a state: all its turns at once, from transcripts that may be damaged or missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import zstandard

from riff_store.database import Store
from riff_store.facts import ConversationFacts
from riff_store.predicates import Term
from riff_store.queries import latencies
from riff_store.queries.latencies import pooled_latency
from tests.store.building import call, fresh, put


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def packed(document: object) -> bytes:
    return zstandard.ZstdCompressor().compress(json.dumps(document).encode())


def turns(name: str, waits: Sequence[float | None], **given: object) -> ConversationFacts:
    """A call with a turn of 9 s in `greet` and these in `collect`."""
    events = [
        {"type": "state_entered", "state": "greet"},
        {"type": "turn_complete", "latency_ms": 9000},
        {"type": "state_exited", "state": "greet", "to_state": "collect"},
        {"type": "state_entered", "state": "collect"},
        *({"type": "turn_complete", "latency_ms": wait} for wait in waits),
    ]
    return call(name, transcript=packed({"turns": [], "events": events}), **given)


def test_turns_of_all_calls_count_alike(store: Store) -> None:
    put(store, "calls.jsonl", [turns("c-1", [1000] * 19), turns("c-2", [2000, None, -5]), turns("c-3", [])])
    found = pooled_latency(store, "viewing", "collect")
    assert found is not None
    assert found.p95 == pytest.approx(1.05)
    assert (found.turns, found.calls) == (20, 2)


def test_calls_of_the_filter_only_and_no_errored_ones(store: Store) -> None:
    calls = [turns("c-1", [1000]), turns("c-2", [3000], agent="model-b"), turns("c-3", [5000], errored=True)]
    put(store, "calls.jsonl", calls)
    found = pooled_latency(store, "viewing", "collect", Term("agent", "=", "model-b"))
    assert found is not None
    assert (found.p95, found.calls) == (3.0, 1)
    whole = pooled_latency(store, "viewing", "collect")
    assert whole is not None
    assert whole.calls == 2


def test_without_transcripts_nothing_is_measured(store: Store) -> None:
    put(store, "calls.jsonl", [call("c-1"), call("c-2", transcript=b"damaged"), call("c-3", transcript=packed([1]))])
    assert pooled_latency(store, "viewing", "collect") is None
    assert pooled_latency(store, "viewing", "nowhere") is None


def test_nobody_waits_for_more_calls_than_can_be_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, "calls.jsonl", [turns(f"c-{number}", [1000]) for number in range(3)])
    monkeypatch.setattr(latencies, "MOST_CALLS", 2)
    assert pooled_latency(store, "viewing", "collect") is None
