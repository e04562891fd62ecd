"""The list of calls: its order, its pages, and what it knows of a call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put, state, verdict
from tests.support.random_stores import World, world
from tests.surface.store import (
    PLAIN,
    Annotation,
    Call,
    Store,
    UsageError,
    add_notes,
    calls_of,
    conversation_ids,
    conversations,
    count_conversations,
)
from tests.surface.tui import parse


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def made() -> World:
    return world(11, 40)


@pytest.fixture(scope="module")
def full(made: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with made.store(tmp_path_factory.mktemp("list") / "store.db") as opened:
        yield opened


def named(calls: list[Call]) -> list[str]:
    return [call.conversation for call in calls]


def test_a_call_carries_what_is_known_of_it(store: Store) -> None:
    facts = call(
        "c1", persona="hurried", scenario="s1", trial=2, started_at=5, duration_s=12.5, completed=False,
        stop_reason="max_turns", final_state="collect", final_status="open", error="late", error_count=3, defects=1,
        aspects={"correctness": 6.8, "turn_count": 7.0, "latency_p95": 1.5},
    )  # fmt: skip
    put(store, "calls.jsonl", [facts])
    [found] = conversations(store)
    assert found == Call(
        id=found.id, run="night-1", conversation="c1", flow="viewing", agent="model-a", persona="hurried",
        scenario="s1", trial=2, started_at=5, duration_s=12.5, completed=False, stop_reason="max_turns",
        final_state="collect", final_status="open", errored=False, error="late", correctness=6.8, turn_count=7.0,
        latency_p95=1.5, error_count=3, defects=1, success=False, lost=None, last_ok="greet", first_failed="collect",
        failure="off contract", who="agent",
    )  # fmt: skip
    assert (found.failed, found.moment) == (True, {"turn": None, "t": None})


def test_what_is_not_known_of_a_call_is_none(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1", aspects={}, errored=True)])
    [found] = conversations(store)
    assert (found.persona, found.completed, found.final_state, found.correctness) == (None, None, None, None)
    assert found.errored is True


def test_runs_come_in_order_of_time_then_flows_then_calls(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            call("b", run="undated", started_at=None),
            call("z", run="late", flow="a", started_at=900),
            call("y", run="late", flow="b", started_at=100),
            call("x", run="late", flow="a", started_at=950),
            call("w", run="early", started_at=50),
            call("a", run="early", started_at=None),
        ],
    )
    assert named(conversations(store)) == ["a", "w", "x", "z", "y", "b"]


def test_pages_are_parts_of_the_whole(full: Store) -> None:
    whole = conversations(full)
    assert len(whole) == count_conversations(full) == 40
    pages = [conversations(full, limit=7, offset=start) for start in range(0, 42, 7)]
    assert [found for page in pages for found in page] == whole
    assert conversations(full, offset=35) == whole[35:]
    assert conversations(full, limit=0) == []


def test_keys_read_a_window_at_a_time(full: Store) -> None:
    keys = conversation_ids(full, parse("flow:dent"), "-correctness")
    assert calls_of(full, keys) == conversations(full, parse("flow:dent"), "-correctness")
    assert calls_of(full, [keys[3], 10**9, keys[0]]) == [*calls_of(full, [keys[3]]), *calls_of(full, [keys[0]])]


COLUMNS = [
    "run", "conversation", "flow", "agent", "persona", "scenario", "stop_reason", "final_state", "final_status",
    "correctness", "turn_count", "latency_p95", *PLAIN,
]  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS)
def test_sorts_by_any_column_with_the_not_measured_last(column: str, full: Store) -> None:
    default = conversations(full)

    def place(found: Call) -> Any:
        return getattr(found, column)

    measured = [found for found in default if place(found) is not None]
    rest = [found for found in default if place(found) is None]
    # Text sorts as its UTF-8 bytes, the same in every locale.
    key: Any = (lambda found: place(found).encode()) if measured and isinstance(place(measured[0]), str) else place
    assert conversations(full, sort=column) == sorted(measured, key=key) + rest
    assert conversations(full, sort=f"-{column}") == sorted(measured, key=key, reverse=True) + rest


def test_sorts_by_the_highest_score_since_judges_have_no_mean_in_common(store: Store) -> None:
    put(store, "calls.jsonl", [call(name) for name in "abc"])
    scores = [("a", "codex", 2.0), ("a", "gemini", 8.0), ("b", "codex", 6.0), ("c", "codex", None)]
    put(
        store,
        "verdicts.jsonl",
        [verdict(name, score, judge=judge, line=line) for line, (name, judge, score) in enumerate(scores)],
    )
    assert named(conversations(store, sort="humanness")) == ["b", "a", "c"]


def test_sorts_by_what_one_judge_gave(store: Store) -> None:
    put(store, "calls.jsonl", [call("a"), call("b"), call("c")])
    scores = [("a", 2.0, "codex"), ("a", 9.0, "gemini"), ("b", 5.0, "codex"), ("b", 1.0, "gemini")]
    put(
        store,
        "humanness.jsonl",
        [verdict(name, score, judge=judge, line=n) for n, (name, score, judge) in enumerate(scores)],
    )
    assert named(conversations(store, sort="humanness.codex")) == ["a", "b", "c"]
    assert named(conversations(store, sort="-humanness.codex")) == ["b", "a", "c"]
    assert named(conversations(store, sort="humanness.gemini")) == ["b", "a", "c"]
    with pytest.raises(UsageError):
        conversations(store, sort="correctness.codex")


@pytest.mark.parametrize("kept", ["success", "quality"])
def test_sorts_by_what_is_kept_with_each_call(store: Store, kept: str) -> None:
    aspects = {"a": (10.0, 10.0), "b": (0.0, 0.0), "c": (10.0, 0.0)}
    put(store, "calls.jsonl", [
        call(name, aspects={"correctness": correctness, "completion": completion})
        for name, (correctness, completion) in aspects.items()
    ])  # fmt: skip
    assert named(conversations(store, sort=f"-{kept}"))[0] == "a"
    assert named(conversations(store, sort=kept))[0] == "b"


def test_calls_that_stalled_in_the_state_come_first(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            call("fine", states=[state("collect"), state("greet", stall=1)]),
            call("stalled", states=[state("collect", stall=1)]),
            call("elsewhere", states=[state("greet", stall=1)]),
            call("broken", states=[state("collect", stall=1)], errored=True),
        ],
    )
    assert named(conversations(store, parse("state=collect"), sort="-stall")) == ["stalled", "fine", "broken"]
    assert named(conversations(store, parse("(state=collect) flow:view"), sort="-stall")) == [
        "stalled", "fine", "broken",
    ]  # fmt: skip
    assert named(conversations(store, sort="-stall")) == ["elsewhere", "fine", "stalled", "broken"]


@pytest.mark.parametrize("column", ["weather", "operability", "id; DROP TABLE flow", "", "-", "state", "segment"])
def test_a_column_that_calls_do_not_have_is_refused(column: str, store: Store) -> None:
    with pytest.raises(UsageError, match="no column"):
        conversations(store, sort=column)


def test_calls_tell_what_people_say_of_them_and_are_sorted_by_it(store: Store) -> None:
    put(store, "a.jsonl", [call(f"c-{number}") for number in range(4)])
    said: list[tuple[int, str, dict[str, Any]]] = [
        (0, "ann", {"verdict": "fail", "code": "rude"}),
        (0, "ann", {"code": "early"}),
        (0, "bob", {"verdict": "pass"}),
        (1, "bob", {"verdict": "fail", "code": "early"}),
        (3, "bob", {"note": "hm"}),
    ]
    lines = [
        Annotation(f"n-{at}", f"c-{number}", author, at=at, **given)
        for at, (number, author, given) in enumerate(said)
    ]  # fmt: skip
    add_notes(store, lines)
    found = {one.conversation: (one.verdict, one.codes, one.noted_by, len(one.notes)) for one in conversations(store)}
    assert found == {
        "c-0": ("split", ["rude", "early"], ["ann", "bob"], 3),
        "c-1": ("fail", ["early"], ["bob"], 1),
        "c-2": (None, None, None, 0),
        "c-3": (None, [], ["bob"], 1),
    }
    assert named(conversations(store, sort="verdict")) == ["c-1", "c-0", "c-2", "c-3"]
    assert named(conversations(store, sort="-verdict")) == ["c-0", "c-1", "c-2", "c-3"]
    assert named(conversations(store, sort="codes")) == ["c-1", "c-0", "c-2", "c-3"]
    assert named(conversations(store, sort="noted_by")) == ["c-0", "c-1", "c-3", "c-2"]
    assert named(conversations(store, sort="-notes", limit=2, offset=1)) == ["c-1", "c-3"]
