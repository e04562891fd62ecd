"""The names that a store knows, for lists to pick from and for completion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, state, verdict
from tests.surface.store import Store, counted_names, known_names
from tests.surface.tui import parse


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as store:
        put(
            store,
            "calls.jsonl",
            [
                call("c1", persona="angry", started_at=2_000_000),
                call("c2", persona="calm", agent="model-b", started_at=2_000_000),
                call("c3", run="night-2", errored=True, started_at=9_000_000),
                call("c4", flow="weather", run="old", states=[state("lookup")], started_at=1_000_000),
            ],
        )
        put(store, "verdicts.jsonl", [verdict("c1", 3.0), verdict("c2", 3.0, judge="gemini", line=2)])
        yield store


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("flow", ["viewing", "weather"]),
        ("agent", ["model-a", "model-b"]),
        ("persona", ["angry", "calm"]),
        ("state", ["booked", "collect", "greet", "lookup"]),
        ("run", ["night-1", "night-2", "old"]),
        ("judge", ["codex", "gemini"]),
        ("conversation", []),
        ("stall", []),
    ],
)
def test_every_name_is_known_once_and_in_order(known: Store, field: str, names: list[str]) -> None:
    assert known_names(known, field) == names


def test_states_are_those_of_the_calls_that_are_asked_about(known: Store) -> None:
    assert known_names(known, "state", parse("flow=weather")) == ["lookup"]
    assert known_names(known, "state", parse("run=night-1 agent=model-b")) == ["collect", "greet"]
    assert known_names(known, "state", parse("persona=angry")) == known_names(known, "state")


def test_names_are_counted_among_the_calls_that_are_asked_about(known: Store) -> None:
    def counted(field: str, where: str = "") -> list[tuple[str, int]]:
        return [each[:2] for each in counted_names(known, field, parse(where))]

    assert counted("flow") == [("viewing", 3), ("weather", 1)]
    assert counted("flow", "agent=model-b") == [("viewing", 1)]
    assert counted("agent", "persona=angry") == [("model-a", 1)]
    assert counted("run") == [("night-2", 1), ("night-1", 2), ("old", 1)]
