"""The pooled latency of a state: all its turns at once, from transcripts that may be damaged or missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, state
from tests.surface.store import (
    And,
    Bucket,
    ConversationFacts,
    InState,
    LatencyReading,
    PooledLatency,
    Predicate,
    Store,
    Term,
    latencies,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def spelled(document: object) -> bytes:
    return json.dumps(document).encode()


def turns(name: str, waits: Sequence[float | None], **given: object) -> ConversationFacts:
    """A call with a turn of 9 s in `greet` and these in `collect`."""
    events = [
        {"type": "state_entered", "state": "greet"},
        {"type": "turn_complete", "latency_ms": 9000},
        {"type": "state_exited", "state": "greet", "to_state": "collect"},
        {"type": "state_entered", "state": "collect"},
        *({"type": "turn_complete", "latency_ms": wait} for wait in waits),
    ]
    return call(name, transcript=spelled({"turns": [], "events": events}), **given)


def pooled_latency(store: Store, flow: str, state: str, calls: Predicate | None = None) -> PooledLatency:
    """Read the pooled latencies of a state to the end."""
    with store.snapshot():
        reading = LatencyReading(store, flow, state, calls)
        for _ in reading.steps():
            pass
    return reading.answer()


def test_turns_of_all_calls_count_alike(store: Store) -> None:
    put(store, "calls.jsonl", [turns("c-1", [1000] * 19), turns("c-2", [2000, None, -5]), turns("c-3", [])])
    found = pooled_latency(store, "viewing", "collect")
    assert [found.p50, found.p95, found.p99] == pytest.approx([1.0, 1.05, 1.81])
    assert (found.turns, found.calls, found.kept, found.too_many) == (20, 2, 3, False)
    assert [each for each in found.buckets if each.count] == [Bucket(1.0, 1.1, 19), Bucket(2.0, 2.2, 1)]


def test_calls_of_the_filter_only_and_no_errored_ones(store: Store) -> None:
    calls = [turns("c-1", [1000]), turns("c-2", [3000], agent="model-b"), turns("c-3", [5000], errored=True)]
    put(store, "calls.jsonl", calls)
    found = pooled_latency(store, "viewing", "collect", Term("agent", "=", "model-b"))
    assert (found.p95, found.calls) == (3.0, 1)
    assert pooled_latency(store, "viewing", "collect").calls == 2


def test_without_transcripts_nothing_is_measured(store: Store) -> None:
    put(store, "calls.jsonl", [call("c-1"), call("c-2", transcript=b"{damaged"), call("c-3", transcript=spelled([1]))])
    found = pooled_latency(store, "viewing", "collect")
    assert (found.p50, found.p95, found.p99, found.turns, found.kept, found.buckets) == (None, None, None, 0, 2, [])
    assert pooled_latency(store, "viewing", "nowhere").kept == 0


def test_nobody_waits_for_more_calls_than_can_be_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, "calls.jsonl", [turns(f"c-{number}", [1000]) for number in range(3)])
    monkeypatch.setattr(latencies, "MOST_CALLS", 2)
    found = pooled_latency(store, "viewing", "collect")
    assert (found.p95, found.turns, found.too_many) == (None, 0, True)


def test_a_large_cell_is_read_in_steps_and_can_be_left_in_between(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "calls.jsonl", [turns(f"c-{number}", [1000 + number]) for number in range(5)])
    monkeypatch.setattr(latencies, "CHUNK", 2)
    reading = LatencyReading(store, "viewing", "collect")
    assert reading.kept == 5
    assert list(reading.steps()) == [2, 4, 5]
    assert reading.answer() == pooled_latency(store, "viewing", "collect")


def test_what_a_filter_says_of_the_state_is_said_of_its_own_row(store: Store) -> None:
    stalls, passes = ([state("greet", stall=passing), state("collect", stall=1 - passing)] for passing in (0, 1))
    put(store, "calls.jsonl", [turns("c-1", [1000], states=stalls), turns("c-2", [3000], states=passes)])
    stalled = InState(And((Term("state", "=", "collect"), Term("stall", "=", 1.0))))
    assert pooled_latency(store, "viewing", "collect", stalled).p50 == 1.0


def test_whether_the_agent_speaks_in_a_state_is_known_without_latencies(store: Store) -> None:
    put(store, "calls.jsonl", [turns("c-1", [None, -5]), turns("c-2", []), turns("c-3", [], flow="silent")])
    found = pooled_latency(store, "viewing", "collect")
    assert (found.turns, found.spoken) == (0, 2)
    assert pooled_latency(store, "silent", "collect").spoken == 0
