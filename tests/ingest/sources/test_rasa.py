"""Trackers of Rasa: sessions are calls, flows or forms states, actions of the team's own tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.facts import fresh
from tests.support.rasa_trackers import event, forms, tracker
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.surface.ingest import RASA_SOURCE as SOURCE
from tests.surface.ingest import Conversation, ReadContext, StateEntered, detect, facts_of, ingest
from tests.surface.store import Writer


def calls(path: Path, value: Any) -> list[Conversation]:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    assert detect(path).kind == "rasa"
    items = [each[1] if isinstance(each, tuple) else each for each in SOURCE.items(path, ReadContext())]
    return [each for each in items if isinstance(each, Conversation)]


def states(call: Conversation) -> list[tuple[str, float | None]]:
    return [(each.state, each.t) for each in call.events if isinstance(each, StateEntered)]


def test_sessions_are_calls_and_flows_their_states(tmp_path: Path) -> None:
    first, second = calls(tmp_path / "tracker.json", tracker())
    assert (first.conversation_id, first.run_id, first.flow, first.channel) == ("s-1", "2026-01-13", "bank", "text")
    assert (first.started_at, first.duration_s) == ("2026-01-13T10:26:40.000+00:00", 5.6)
    assert states(first) == [("transfer_money", 1.1), ("fees", 3.1), ("transfer_money", 3.5)]
    assert [(turn.role, turn.text, turn.t, turn.latency_ms) for turn in first.turns] == [
        ("caller", "Send 50 to Ann.", 1.0, None),
        ("agent", "Your phone?", 1.4, None),
        ("caller", "What does it cost? I am at [number].", 3.0, None),
        ("agent", "Nothing.", 3.3, None),
        ("agent", "Done.", 5.5, None),
    ]
    assert [(tool.name, tool.state) for tool in first.tool_calls] == [("action_transfer", "transfer_money")]
    assert first.slots == {"recipient": "Ann", "phone_number": "[number]"}
    assert (first.completed, first.stop_reason, first.errored) == (None, None, False)
    assert (second.conversation_id, second.run_id, len(second.turns)) == ("s-1/2", "2026-01-14", 1)
    facts, notes = facts_of(first, default_run="x")
    assert (notes, facts.error) == ([], None)


def test_without_flows_forms_are_states_and_else_the_tools(tmp_path: Path) -> None:
    (call,) = calls(tmp_path / "a.json", forms())
    assert states(call) == [("table_form", 0.1)]
    assert [turn.text for turn in call.turns] == ["A table", "How many?", "/six"]
    assert [(tool.name, tool.error) for tool in call.tool_calls] == [
        ("action_book", None), ("action_pay", "its execution was rejected"),
    ]  # fmt: skip
    changed = forms()
    changed["events"] = [each for each in changed["events"] if "form" not in str(each.get("name"))]
    (call,) = calls(tmp_path / "b.json", changed)
    assert [state for state, _ in states(call)] == ["opening", "action_book", "action_pay"]


def test_a_flow_that_another_called_gives_way_to_it(tmp_path: Path) -> None:
    changed = tracker()
    changed["events"] = [
        event("user", 0, text="Hi"), event("flow_started", 1, flow_id="a"), event("flow_started", 2, flow_id="b"),
        event("flow_completed", 3, flow_id="b"), event("flow_cancelled", 4, flow_id="a"),
    ]  # fmt: skip
    assert [state for state, _ in states(calls(tmp_path / "a.json", changed)[0])] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("added", "stop", "final"),
    [
        ([event("pause", 6)], "transfer", "escalated"),
        ([event("pause", 6), event("resume", 7)], None, "transfer_money"),
        ([event("action", 6, name="action_human_handoff")], "transfer", "escalated"),
        ([event("action", 6, name="action_transfer_to_agent")], "transfer", "escalated"),
        ([event("action_execution_rejected", 6, name="action_handover")], None, "transfer_money"),
        ([event("flow_started", 6, flow_id="pattern_human_handoff")], "transfer", "pattern_human_handoff"),
        (
            [
                event("flow_started", 6, flow_id="pattern_human_handoff"),
                event("action", 6, name="utter_human_handoff_not_available"),
            ],
            None,
            "pattern_human_handoff",
        ),
    ],
)
def test_a_conversation_that_a_human_takes_over_is_handed_over(
    tmp_path: Path, added: list[Any], stop: str | None, final: str
) -> None:
    changed = tracker()
    changed["events"] = [*changed["events"][:-2], *added]
    (found,) = calls(tmp_path / "a.json", changed)
    assert (found.stop_reason, found.final_state, found.completed) == (stop, final, None)
    facts, _ = facts_of(found, default_run="x")
    assert facts.success is (None if stop is None else False)


def test_lists_and_lines_are_trackers_too(tmp_path: Path) -> None:
    both = [tracker(), forms()]
    expected = ["s-1", "s-1/2", "s-2"]
    for name, text in (("a.json", json.dumps(both)), ("a.jsonl", "".join(f"{json.dumps(each)}\n" for each in both))):
        assert [call.conversation_id for call in calls(tmp_path / name, text)] == expected


@pytest.mark.parametrize("sender", ["whatsapp:+15550100002", "15550100002"])
def test_a_sender_who_is_a_number_is_not_named(tmp_path: Path, sender: str) -> None:
    folder = tmp_path / "calls"
    folder.mkdir()
    first, _ = calls(folder / "chat.json", tracker(sender))
    assert first.conversation_id == "chat"
    with fresh(tmp_path / "s.db") as store:
        ingest([folder], Writer(store))
    kept = (tmp_path / "s.db").read_bytes()
    assert b"15550100002" not in kept
    assert b"03012345678" not in kept


@given(st.sampled_from(spots(tracker())), JSON)
def test_values_of_wrong_types_give_calls_or_reasons(
    tmp_path_factory: pytest.TempPathFactory, spot: tuple[Any, ...], value: Any
) -> None:
    path = tmp_path_factory.mktemp("odd") / "a.json"
    path.write_text(json.dumps(with_value_at(tracker(), spot, value)), encoding="utf-8")
    detect(path)
    for item in SOURCE.items(path, ReadContext()):
        if isinstance(item, tuple):
            facts_of(item[1], default_run="r")
