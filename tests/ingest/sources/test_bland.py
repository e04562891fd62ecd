"""Calls of Bland: from their record, from the events of a pathway, and from both in one folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import source_files
from tests.support.bland_calls import NUMBERS, call, events, pathway
from tests.support.facts import fresh
from tests.support.source_files import written
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.surface.ingest import BLAND_SOURCE as SOURCE
from tests.surface.ingest import (
    BrokenInput,
    Conversation,
    ReadContext,
    SlotFilled,
    StateEntered,
    StateExited,
    detect,
    facts_of,
    flow_files_read,
    ingest,
)
from tests.surface.store import Skipped, Writer

items_of = partial(source_files.items_of, SOURCE)


def one(path: Path, value: Any, context: ReadContext | None = None) -> Conversation:
    (found,) = [each for each in items_of(written(path, value), context) if isinstance(each, Conversation)]
    return found


def states(found: Conversation) -> list[tuple[str, float | None]]:
    return [(event.state, event.t) for event in found.events if isinstance(event, StateEntered)]


def test_a_record_tells_what_was_said_and_which_nodes_were_chosen(tmp_path: Path) -> None:
    found = one(tmp_path / "call.json", call())
    assert (found.conversation_id, found.run_id, found.flow, found.agent_model) == ("b-1", "2026-01-13", "pw-1", "pw-1")
    assert (found.started_at, found.duration_s) == ("2026-01-13T10:26:40.000+00:00", 33.0)
    assert [(turn.role, turn.text, turn.t, turn.state, turn.latency_ms) for turn in found.turns] == [
        ("agent", "Plant desk.", 1.0, "1", None),
        ("caller", "Two ferns. I am at [number].", 6.0, "1", None),
        ("agent", "I cannot see the stock.", 10.0, "3", None),
    ]
    assert states(found) == [("1", 0.5), ("3", 9.5)]
    assert [(tool.name, tool.result) for tool in found.tool_calls] == [("agent-action", "Ended call")]
    assert (found.stop_reason, found.completed, found.errored, found.origin) == ("hangup", None, False, "observed")


def test_variables_that_were_neither_handed_in_nor_of_the_line_are_slots(tmp_path: Path) -> None:
    variables = call()["variables"] | {"now": "Tue", "offer": "ten", "day": None}
    found = one(tmp_path / "call.json", call(variables=variables, request_data={"offer": "ten"}))
    assert found.slots == {"plant": "fern", "phone": "[number]"}


def test_events_of_the_pathway_beside_it_tell_nodes_and_webhooks(tmp_path: Path) -> None:
    written(tmp_path / "events.json", events())
    found = one(tmp_path / "call.json", call())
    assert states(found) == [("1", 0.5), ("2", 6.5), ("3", 9.5)]
    stock, action = found.tool_calls
    assert (stock.name, stock.arguments, stock.error, stock.t, stock.state) == (
        "stock", {"plant": "fern", "phone": "[number]"}, "no answer in 2 s", 7.0, "2",
    )  # fmt: skip
    assert (action.name, action.state) == ("agent-action", "3")
    (left,) = items_of(tmp_path / "events.json")
    assert (left.kind, left.conversation) == ("superseded", "b-1")


def test_events_alone_are_a_call_in_which_nothing_is_said(tmp_path: Path) -> None:
    for name, value in (("list.json", events()), ("page.json", {"data": events(), "errors": None})):
        found = one(tmp_path / name, value)
        assert (found.conversation_id, found.flow, found.run_id) == ("b-1", "bland", "2026-01-13")
        assert states(found) == [("1", 0.0), ("2", 6.0), ("3", 9.0)]
        assert [each.reason for each in items_of(tmp_path / name) if isinstance(each, Skipped)] == [
            "only the events of its pathway are here, so nothing that was said; put its record beside them"
        ]
        (tmp_path / name).unlink()


def test_a_transition_may_name_the_node_that_it_leads_to(tmp_path: Path) -> None:
    logged = events()
    logged[1] |= {"node_id": "1", "payload": {"to": {"id": "2"}, "to_node_name": "Stock"}}
    assert [state for state, _ in states(one(tmp_path / "events.json", logged))] == ["1", "Stock", "3"]


def test_the_order_of_arrival_in_a_folder_changes_nothing(tmp_path: Path) -> None:
    for number, order in enumerate(((True, False), (False, True))):
        folder = tmp_path / f"calls{number}"
        folder.mkdir()
        with fresh(tmp_path / f"{number}.db") as store:
            for is_record in order:
                if is_record:
                    written(folder / "call.json", call())
                else:
                    written(folder / "events.json", events())
                ingest([folder], Writer(store))
            assert [each.status for each in ingest([folder], Writer(store)).results] == ["unchanged"] * 2
        calls = [each for path in folder.iterdir() for each in items_of(path) if isinstance(each, Conversation)]
        assert [state for state, _ in states(calls[0])] == ["1", "2", "3"]
        assert len(calls) == 1


def test_a_pathway_is_a_flow_file_by_whose_nodes_calls_are_known(tmp_path: Path) -> None:
    path = written(tmp_path / "pathway.json", {"status": "success", "data": pathway()})
    assert detect(path).kind == "flow-file"
    file = flow_files_read(path)
    assert file.described.flow == "Plant desk"
    assert file.described.edges == [("Hello", "Stock"), ("Stock", "Sorry")]
    assert [(state.name, state.outcome, state.required_slots) for state in file.described.states] == [
        ("Hello", None, ()), ("Stock", None, ("plant", "phone")), ("Sorry", "success", ()),
        ("Human", "escalation", ()),
    ]  # fmt: skip
    assert [each.reason for each in file.left_out] == ["edges: one leads to '9', which is not a node"]
    context = ReadContext({file.described.flow: file.contract})
    written(tmp_path / "events.json", events())
    found = one(tmp_path / "call.json", call(), context)
    assert (found.flow, found.agent_model) == ("Plant desk", "pw-1")
    assert [state for state, _ in states(found)] == ["Hello", "Stock", "Sorry"]
    assert (found.completed, found.stop_reason, found.final_state) == (True, "terminal", "Sorry")
    assert found.slots == {"plant": "fern", "phone": "[number]"}
    filled = [(each.slot, each.state, each.t) for each in found.events if isinstance(each, SlotFilled)]
    assert filled == [("plant", "Stock", 9.5), ("phone", "Stock", 9.5)]
    left = [(each.state, each.to_state, each.reason) for each in found.events if isinstance(each, StateExited)]
    assert left == [("Hello", "Stock", "names a plant"), ("Stock", "Sorry", "none left")]


@pytest.mark.parametrize(
    ("changes", "stop", "error", "final"),
    [
        ({"call_ended_by": "ASSISTANT"}, "agent_hangup", None, "3"),
        ({"transferred_to": NUMBERS[0]}, "transfer", None, "escalated"),
        ({"answered_by": "voicemail"}, "voicemail", None, "3"),
        ({"call_ended_by": "MOON"}, "MOON", None, "3"),
        ({"error_message": f"line to {NUMBERS[0]} broke", "completed": False}, "error", "line to [number] broke", "3"),
    ],
)
def test_how_a_call_ended(tmp_path: Path, changes: dict[str, Any], stop: str, error: str | None, final: str) -> None:
    found = one(tmp_path / "call.json", call(**changes))
    assert (found.stop_reason, found.error, found.final_state, found.completed) == (stop, error, final, None)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"completed": False}, "the call had not ended when this was written"),
        ({"error_message": "Busy", "transcripts": []}, "the call never came about: Busy"),
        ({"answered_by": "no-answer", "transcripts": []}, "the call never came about"),
    ],
)
def test_what_was_no_call_is_said_to_be_none(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    record = call(**changes)
    if not record["transcripts"]:
        record["pathway_logs"] = []
    (left,) = items_of(written(tmp_path / "call.json", record))
    assert (left.kind, left.reason, left.conversation) == ("skipped", reason, "b-1")


def test_words_without_times_stand_with_the_nodes_of_the_log(tmp_path: Path) -> None:
    record = call(transcripts=[])
    for each in record["pathway_logs"]:
        del each["created_at"]
    found = one(tmp_path / "call.json", record)
    assert [(turn.text, turn.state, turn.t) for turn in found.turns] == [
        ("Plant desk.", "1", None), ("I cannot see the stock.", "3", None),
    ]  # fmt: skip
    text = "user: Hello?\n assistant: Plant desk.\n agent-action: Ended call\n"
    found = one(tmp_path / "call.json", call(transcripts=[], pathway_logs=[], concatenated_transcript=text))
    assert [(turn.role, turn.text) for turn in found.turns] == [("caller", "Hello?"), ("agent", "Plant desk.")]
    assert [tool.result for tool in found.tool_calls] == ["Ended call"]


def test_an_unknown_speaker_is_shown_and_is_no_turn(tmp_path: Path) -> None:
    record = call()
    record["transcripts"][2]["user"] = "moderator"
    found = one(tmp_path / "call.json", record)
    assert [(turn.role, turn.text) for turn in found.turns][-1] == ("moderator", "I cannot see the stock.")
    assert sum(type(event).__name__ == "TurnComplete" for event in found.events) == 1


def test_no_number_and_no_token_is_kept(tmp_path: Path) -> None:
    written(tmp_path / "events.json", events())
    written(tmp_path / "pathway.json", pathway())
    written(tmp_path / "call.json", call())
    with fresh(tmp_path / "s.db") as store:
        ingest([tmp_path], Writer(store))
    kept = (tmp_path / "s.db").read_bytes()
    assert not [each for each in (*NUMBERS, "15550100002", "s3cr3t", "sound.example") if each.encode() in kept]


def test_a_list_without_words_is_refused(tmp_path: Path) -> None:
    page = {"count": 1, "calls": [{"call_id": "b-1", "call_length": 0.5, "completed": True, "to": NUMBERS[0]}]}
    assert detect(written(tmp_path / "calls.json", page)).reason.startswith("a list of Bland calls without their words")
    with pytest.raises(BrokenInput):
        list(SOURCE.read(tmp_path / "missing.json", ReadContext()))


BOTH = {"record": call(), "events": events(), "pathway": pathway()}


@given(st.sampled_from(spots(BOTH)), JSON)
def test_values_of_wrong_types_give_calls_or_reasons(
    tmp_path_factory: pytest.TempPathFactory, spot: tuple[Any, ...], value: Any
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    paths = [written(folder / f"{name}.json", each) for name, each in with_value_at(BOTH, spot, value).items()]
    for path in paths:
        detect(path)
    for each in [item for path in paths[:2] for item in items_of(path)]:
        if isinstance(each, Conversation):
            facts_of(each, default_run="r")


def test_a_number_in_a_pathway_is_not_kept(tmp_path: Path) -> None:
    given_ = pathway()
    given_["nodes"][3]["data"] |= {"name": f"To {NUMBERS[2]}", "transferNumber": NUMBERS[2]}
    file = flow_files_read(written(tmp_path / "pathway.json", given_))
    assert "To [number]" in [state.name for state in file.described.states]
    assert NUMBERS[2] not in repr(file)
