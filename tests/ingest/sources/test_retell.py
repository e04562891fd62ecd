"""Calls of Retell: what is taken of them, what is left out, and what is never stored."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dirty_inputs import packed
from tests.support.limits import limited
from tests.support.retell_calls import (
    FLOW_ID,
    SECONDS,
    answered,
    greeting,
    invoked,
    moved,
    retell_call,
    retell_flow,
    served_call,
    spoke,
    stuck_call,
    transferred_call,
    written,
)
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.surface.ingest import (
    NO_FLOW_FILE,
    Conversation,
    ReadContext,
    SlotFilled,
    StateEntered,
    StateExited,
    TurnComplete,
    detect,
    facts_of,
)
from tests.surface.ingest import RETELL_SOURCE as SOURCE
from tests.surface.ingest import flow_files_read as read_flow_file
from tests.surface.ingest import retell_read as read
from tests.surface.store import JudgedScore, Skipped

FOLDER = "monday"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    return tmp_path / FOLDER


def items_of(path: Path, context: ReadContext | None = None) -> list[Any]:
    """What a file holds, but for the note that no flow file is known."""
    found = (each[1] if isinstance(each, tuple) else each for each in read(path, context or ReadContext()))
    return [each for each in found if not (isinstance(each, Skipped) and each.reason.startswith("no flow file"))]


def one(folder: Path, record: dict[str, Any], context: ReadContext | None = None) -> Conversation:
    """The call of a file that holds nothing else."""
    calls = [each for each in items_of(written(folder / "c.json", record), context) if isinstance(each, Conversation)]
    assert len(calls) == 1
    return calls[0]


def scores(folder: Path, record: dict[str, Any]) -> dict[str, float | None]:
    found = items_of(written(folder / "c.json", record))
    return {each.aspect: each.score for each in found if isinstance(each, JudgedScore)}


def described(folder: Path) -> ReadContext:
    """What is known after the flow's file was read."""
    flow = read_flow_file(written(folder / "flow.json", retell_flow()))
    return ReadContext({flow.described.flow: flow.contract})


def states(call: Conversation) -> list[str]:
    return [event.state for event in call.events if type(event) is StateEntered]


def latencies(call: Conversation) -> list[float | None]:
    return [event.latency_ms for event in call.events if type(event) is TurnComplete]


CALLS = [retell_call("call_1"), retell_call("call_2")]
HOOKS = [{"event": "call_analyzed", "call": call, "event_timestamp": 1} for call in CALLS]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("one.json", CALLS[0]),
        ("list.json", CALLS),
        ("page.json", {"items": CALLS, "has_more": False}),
        ("hook.json", HOOKS[0]),
        ("hooks.json", HOOKS),
        ("lines.jsonl", CALLS),
        ("hooks.jsonl", HOOKS),
    ],
)
def test_every_form_in_which_teams_keep_calls_is_known_and_gives_the_same_calls(
    folder: Path, name: str, value: Any
) -> None:
    path = written(folder / name, value)
    expected = CALLS if isinstance(value, list) or name == "page.json" else CALLS[:1]
    assert detect(path).kind == "retell"
    found = items_of(path)
    assert [call.conversation_id for call in found] == [call["call_id"] for call in expected]
    assert [states(call) for call in found] == [["Welcome", "Ask intent", "Collect address"]] * len(expected)
    zipped = folder / f"{name}.gz"
    zipped.write_bytes(packed(path.read_bytes()))
    assert (detect(zipped).kind, items_of(zipped)) == ("retell", found)
    path.write_text(json.dumps(value, indent=2))
    assert (detect(path).kind, items_of(path)) == ("retell", found)


def test_a_list_that_is_too_large_to_be_looked_at_whole_is_known_by_how_it_begins(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riff_ingest.lines.MIB", 1000)
    with limited(document_mib=1):
        assert detect(written(folder / "large.json", CALLS)).kind == "retell"


def test_nodes_are_states_and_turns_have_the_time_between_the_callers_end_and_the_agents_begin(folder: Path) -> None:
    call = one(folder, stuck_call(0))
    assert (call.flow, call.agent_model, call.run_id) == ("Plumb line", "Plumb line@v3", "2026-06-15@v3")
    assert (call.started_at, call.duration_s) == ("2026-06-15T01:00:00.000+00:00", 60.0)
    assert (call.stop_reason, call.final_status, call.final_state) == ("hangup", "user_hangup", "Collect address")
    exits = [(event.state, event.to_state, event.reason) for event in call.events if type(event) is StateExited]
    assert exits == [("Welcome", "Ask intent", "normal"), ("Ask intent", "Collect address", "normal")]
    assert [(turn.role, turn.t, turn.state) for turn in call.turns[:3]] == [
        ("agent", 0.5, "Welcome"),
        ("caller", 3.0, "Ask intent"),
        ("agent", 5.0, "Collect address"),
    ]
    assert latencies(call) == [None, 1000.0, 2000.0, 2000.0, 2000.0]


def test_everything_keeps_its_place_and_what_has_no_time_has_that_of_what_follows(folder: Path) -> None:
    items = [
        moved("start", "n1"),
        spoke("user", "Hello?", 4.0, 5.0),
        spoke("agent", "Plumb and Son.", 1.0, 2.0),
        moved("n1", "n2"),
    ]
    call = one(folder, retell_call(items=items))
    assert [(turn.role, turn.t, turn.state) for turn in call.turns] == [
        ("caller", 4.0, "Welcome"),
        ("agent", 1.0, "Welcome"),
    ]
    assert [(e.state, e.t) for e in call.events if type(e) is StateEntered] == [("Welcome", 4.0), ("Ask intent", 5.0)]


def test_the_node_that_a_call_begins_in_is_a_state_where_something_was_said_in_it(folder: Path) -> None:
    items = [spoke("agent", "Hello.", 0.5, 1.0), moved("n1", "n2", 2.0), spoke("user", "Hi.", 3.0, 3.5)]
    call = one(folder, retell_call(items=items))
    assert [turn.state for turn in call.turns] == ["Welcome", "Ask intent"]
    facts, notes = facts_of(call, default_run="r")
    assert (facts.defects, notes) == (0, [])


def test_overlapping_speech_and_backchannels_have_no_latency(folder: Path) -> None:
    items = [
        moved("start", "n1", 0.0),
        spoke("user", "It is the tap in the kitchen.", 1.0, 4.0),
        spoke("agent", "Mhm.", 2.0, 2.3, is_backchannel=True),
        spoke("agent", "I see.", 3.5, 4.5),
        spoke("user", "So?", 5.0, 5.5),
        spoke("agent", "We come.", 6.25, 7.0),
    ]
    call = one(folder, retell_call(items=items))
    assert [turn.text for turn in call.turns] == ["It is the tap in the kitchen.", "Mhm.", "I see.", "So?", "We come."]
    assert latencies(call) == [None, 750.0]


def test_measured_latencies_count_for_turns_only_where_there_is_one_for_each_answer(folder: Path) -> None:
    items = [{"role": role, "content": "…"} for role in ("agent", "user", "agent", "user", "agent")]
    call = one(folder, retell_call(items=items, latency={"e2e": {"values": [800, 900], "p95": 890}}))
    assert latencies(call) == [None, 800.0, 900.0]
    assert "latency_p95" not in call.measured
    call = one(folder, retell_call(items=items, latency={"e2e": {"values": [800, 900, 700], "p95": 890}}))
    assert latencies(call) == [None, None, None]
    facts, _ = facts_of(call, default_run="r")
    assert (facts.aspects["latency_p95"], facts.aspects["latency_mean"]) == (0.89, 0.8)


def test_tools_are_joined_to_their_results(folder: Path) -> None:
    items = [
        *greeting(),
        invoked("a", "check", '{"day": "Tue"}', 7.0),
        invoked("b", "book", "", 8.0),
        invoked("c", "note", "not an object", 8.5),
        answered("a", '["10:00"]', t=7.5),
        answered("b", "no slot", successful=False, t=8.2),
        answered("z", "nobody asked", t=9.0),
        invoked("d", "end_call", "{}", 9.5, "end_call"),
    ]
    call = one(folder, retell_call(items=items))
    tools = [(tool.name, tool.t, tool.arguments, tool.result, tool.error) for tool in call.tool_calls]
    assert tools == [
        ("check", 7.0, {"day": "Tue"}, '["10:00"]', None),
        ("book", 8.0, None, None, "no slot"),
        ("note", 8.5, "not an object", None, "no result"),
        ("end_call", 9.5, {}, None, None),
    ]
    assert (call.error_count(), call.defects) == (2, {"tool result without its invocation": 1})


def test_a_slot_has_the_place_where_it_was_extracted_else_only_a_value_at_the_end(folder: Path) -> None:
    collected = {"current_node": "Goodbye", "previous_node": "x", "street": "Elm Street", "mood": "calm"}
    call = one(folder, served_call(1) | {"collected_dynamic_variables": collected})
    filled = [(each.slot, each.value, each.state, each.t) for each in call.events if type(each) is SlotFilled]
    assert filled == [("street", "Elm Street", "Extract address", 8.2), ("zip", "12", "Extract address", 8.2)]
    assert call.slots == {"street": "Elm Street", "mood": "calm"}


def test_without_transitions_the_states_are_the_tools_that_were_called(folder: Path) -> None:
    items = [spoke("agent", "Hello.", 0.0, 1.0), invoked("a", "check_day", "{}", 2.0), answered("a", "ok", t=2.5)]
    call = one(folder, retell_call(items=items))
    assert (states(call), call.origin) == (["opening", "check_day"], "derived")


def test_an_older_record_has_only_what_was_said(folder: Path) -> None:
    record = retell_call(transcript_object=[spoke("user", "Hello?", 1.0, 2.0)])
    del record["transcript_with_tool_calls"]
    assert [turn.text for turn in one(folder, record).turns] == ["Hello?"]
    record["transcript_object"], record["transcript"] = [], "Agent: Plumb and Son.\nUser: Hello: me.\nnoise"
    assert [(turn.role, turn.text) for turn in one(folder, record).turns] == [
        ("agent", "Plumb and Son."),
        ("caller", "Hello: me.\nnoise"),
    ]


def test_pressed_keys_are_told_but_not_a_long_number(folder: Path) -> None:
    items = [*greeting(), {"role": "dtmf", "digit": "2"}, spoke("agent", "Your card?", 7.0, 8.0)]
    items += [{"role": "dtmf", "digit": digit} for digit in "4242"]
    said = [turn.text for turn in one(folder, retell_call(items=items)).turns if turn.role == "caller"]
    assert said == ["My tap leaks.", "[pressed 2]", "[pressed 4 keys]"]


def test_without_a_flow_file_nothing_says_whether_a_call_was_completed(folder: Path) -> None:
    facts, _ = facts_of(one(folder, served_call(1)), default_run="r")
    assert (facts.completed, facts.aspects["completion"], facts.aspects["correctness"]) == (None, None, None)
    assert {row.state: row.stall for row in facts.states}["Confirm visit"] is None


def test_it_is_told_once_that_the_flow_file_is_missing(folder: Path) -> None:
    path = written(folder / "c.json", [served_call(1), stuck_call(2), stuck_call(3)])
    reason = NO_FLOW_FILE.format(flow="Plumb line")
    assert [each for each in read(path, ReadContext()) if isinstance(each, Skipped)] == [
        Skipped("defect", None, reason)
    ]
    assert not [each for each in read(path, described(folder)) if isinstance(each, Skipped)]


def test_with_the_flow_file_a_call_counts_for_the_flow_and_its_ends_decide(folder: Path) -> None:
    context = described(folder)
    found = [one(folder, make(1), context) for make in (served_call, stuck_call, transferred_call)]
    assert {call.flow for call in found} == {FLOW_ID}
    assert [(call.completed, call.stop_reason, call.final_state) for call in found] == [
        (True, "terminal", "Goodbye"),
        (False, "hangup", "Collect address"),
        (False, "transfer", "Transfer"),
    ]
    scored = [facts_of(call, default_run="r")[0] for call in found]
    assert [(each.aspects["correctness"], each.aspects["completion"]) for each in scored] == [(10, 10), (0, 0), (0, 0)]
    assert [row.state for row in scored[1].states if row.stall] == ["Collect address"]
    assert [row.state for row in scored[2].states if row.lost] == ["Ask intent"]


def test_a_flow_is_known_by_its_id_and_names_nodes_that_a_call_tells_by_id_alone(folder: Path) -> None:
    context = described(folder)
    call = one(folder, retell_call(conversation_flow_id=FLOW_ID, items=[moved("x", "y", 1.0)]), context)
    assert call.flow == FLOW_ID
    bare = [{"role": "node_transition", "former_node_id": "start", "new_node_id": "n3", "time_sec": 1.0}]
    assert states(one(folder, retell_call(items=bare), context)) == ["Collect address"]
    assert one(folder, retell_call(items=[moved("n1", "elsewhere", 1.0)]), context).flow == "Plumb line"


def test_a_transfer_that_no_node_tells_of_is_an_escalation_all_the_same(folder: Path) -> None:
    for context in (ReadContext(), described(folder)):
        facts, _ = facts_of(one(folder, retell_call(disconnection_reason="call_transfer"), context), default_run="r")
        assert facts.final_state == "escalated"
        assert [row.state for row in facts.states if row.escalation] == ["Collect address"]


def test_a_node_that_only_transfers_is_no_place_where_a_call_was_lost(folder: Path) -> None:
    facts, _ = facts_of(one(folder, transferred_call(1)), default_run="r")
    assert (facts.final_state, facts.stop_reason, facts.terminals) == (
        "Transfer",
        "transfer",
        {"Transfer": "escalation"},
    )
    assert [row.state for row in facts.states if row.lost] == ["Ask intent"]
    assert (facts.completed, facts.aspects["completion"], facts.aspects["correctness"]) == (None, None, None)


@pytest.mark.parametrize(
    ("reason", "stop", "is_errored"),
    [
        ("user_hangup", "hangup", False),
        ("user_requested_dnc", "hangup", False),
        ("agent_hangup", "agent_hangup", False),
        ("call_take_over", "transfer", False),
        ("ivr_reached", "voicemail", False),
        ("max_duration_reached", "timeout", False),
        ("error_llm_websocket_open", "error", True),
        ("error_of_tomorrow", "error", True),
        ("telephony_provider_unavailable", "error", True),
        ("no_valid_payment", "error", True),
        ("quantum_tunnelled", "quantum_tunnelled", False),
        (None, None, False),
    ],
)
def test_the_reason_of_disconnection_says_how_a_call_ended(
    folder: Path, reason: str | None, stop: str | None, is_errored: bool
) -> None:
    call = one(folder, retell_call(disconnection_reason=reason))
    facts, _ = facts_of(call, default_run="r")
    assert (facts.stop_reason, facts.errored, facts.final_status) == (stop or None, is_errored, reason)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"disconnection_reason": "dial_busy"}, "the call never connected: dial_busy"),
        ({"disconnection_reason": "error_user_not_joined"}, "the call never connected: error_user_not_joined"),
        ({"call_status": "not_connected", "disconnection_reason": None}, "the call never connected"),
        ({"call_status": "ongoing"}, "the call had not ended when this was written"),
    ],
)
def test_what_never_was_a_call_is_left_out_with_the_reason(folder: Path, fields: dict[str, Any], why: str) -> None:
    path = written(folder / "two.json", [retell_call("call_1", **fields), retell_call("call_2")])
    left_out, call = items_of(path)
    assert left_out == Skipped("skipped", 1, why, "call_1")
    assert call.conversation_id == "call_2"


def test_what_retell_thinks_of_a_call_is_a_verdict_and_never_its_completion(folder: Path) -> None:
    analysis = {
        "call_summary": "A leak was told of to +1 (415) 555-0123.",
        "user_sentiment": "Negative",
        "call_successful": True,
        "custom_analysis_data": {"wants_callback": False, "party_size": 4, "topic": "tap"},
    }
    record = retell_call(call_analysis=analysis)
    assert scores(folder, record) == {"call_successful": 10.0, "user_sentiment": 0.0, "wants_callback": 0.0}
    verdict = next(each for each in items_of(folder / "c.json") if isinstance(each, JudgedScore))
    assert (verdict.judge, verdict.rationale) == ("retell", "A leak was told of to [number].")
    assert (verdict.run, verdict.judged_at) == ("2026-06-15@v3", (SECONDS + 60) * 1_000_000)
    assert one(folder, record).completed is None


@pytest.mark.parametrize("said", [None, "yes", 1, {}])
def test_an_opinion_that_is_none_is_unscored_and_not_0(folder: Path, said: Any) -> None:
    analysis = {"call_successful": said, "user_sentiment": "Unknown"}
    assert scores(folder, retell_call(call_analysis=analysis)) == {"call_successful": None, "user_sentiment": None}


def test_the_last_word_on_a_call_counts_and_the_hooks_before_it_are_no_calls(folder: Path) -> None:
    ended, analyzed = retell_call(), retell_call(call_analysis={"call_successful": False})
    hooks = [
        {"event": "call_started", "call": retell_call(call_status="ongoing", items=[])},
        {"event": "call_analyzed", "call": analyzed},
        {"event": "call_ended", "call": ended},
        {"event": "call_started", "call": retell_call("call_2", call_status="ongoing", items=[])},
    ]
    before, call, verdict, again, left_out = items_of(written(folder / "hooks.jsonl", hooks))
    assert before == Skipped("superseded", 1, "line 2 has more of this call", "call_1")
    assert (again.kind, again.line) == ("superseded", 3)
    assert (call.conversation_id, verdict.score) == ("call_1", 0.0)
    assert left_out == Skipped("skipped", 4, "the call had not ended when this was written", "call_2")
    later = one(folder, {"event": "call_ended", "call": ended})
    assert call.filled > later.filled


def test_a_run_without_a_day_is_the_directory(folder: Path) -> None:
    assert one(folder, retell_call(start_timestamp=None)).run_id == FOLDER


def test_text_without_personal_data_is_preferred_and_said_to_be_that(folder: Path) -> None:
    record = retell_call(
        items=[spoke("user", "I am Ann Onymous.", 1.0, 2.0)],
        scrubbed_transcript_with_tool_calls=[spoke("user", "I am [NAME].", 1.0, 2.0)],
        transcript="User: I am Ann Onymous.",
        collected_dynamic_variables={"customer_name": "Ann Onymous"},
        call_analysis={"call_summary": "Ann Onymous called.", "call_successful": True},
    )
    call, note, verdict = items_of(written(folder / "c.json", record))
    assert [turn.text for turn in call.turns] == ["I am [NAME]."]
    assert note == Skipped("defect", 1, "its text is the one that Retell took personal data out of", "call_1")
    assert "Onymous" not in repr((call, note, verdict))


def test_whatever_was_scrubbed_is_preferred(folder: Path) -> None:
    record = retell_call(
        items=[spoke("user", "I am Ann Onymous.", 1.0, 2.0)],
        scrubbed_transcript_object=[spoke("user", "I am [NAME].", 1.0, 2.0)],
        collected_dynamic_variables={"customer_name": "Ann Onymous", "day": "Tuesday"},
        scrubbed_collected_dynamic_variables={"customer_name": "[NAME]", "day": "Tuesday"},
        call_analysis={"call_summary": "Ann Onymous called.", "call_successful": True},
        scrubbed_call_analysis={"call_summary": "[NAME] called."},
    )
    call, _, verdict = items_of(written(folder / "c.json", record))
    assert (verdict.aspect, verdict.score) == ("call_successful", 10.0)
    assert [turn.text for turn in call.turns] == ["I am [NAME]."]
    assert call.slots == {"customer_name": "[NAME]", "day": "Tuesday"}
    assert verdict.rationale == "[NAME] called."
    text = retell_call(items=[], transcript="User: I am Ann.", scrubbed_transcript="User: I am [NAME].")
    assert [turn.text for turn in one(folder, text).turns] == ["I am [NAME]."]


def test_a_call_whose_text_was_not_stored_says_so(folder: Path) -> None:
    path = written(folder / "c.json", retell_call(items=[], data_storage_setting="basic_attributes_only"))
    call, note = items_of(path)
    assert (call.turns, note.reason) == ([], "it has no text: Retell was set to store basic_attributes_only")


def test_tokens_numbers_and_signed_links_are_never_taken(folder: Path) -> None:
    signed = "https://files.example/a.pdf?name=a&X-Amz-Signature=5ecret"
    arguments = json.dumps({"phone": "415-555-0123", "access_token": "abc", "see": signed, "n": 14155550199})
    items = [
        *greeting(),
        spoke("user", "Call me at +1 415 555 0123.", 7.0, 8.0),
        invoked("a", "send", arguments, 8.5),
        answered("a", "Bearer 0123456789abcdef sent to 4155550199 with key-9f8e7d", t=9.0),
    ]
    record = retell_call(
        items=[*items, {**moved("n1", "n2", 9.5, "by +14155550123"), "new_node_name": "ask 415-555-0123"}],
        agent_name="Line +14155550123",
        disconnection_reason="carrier-said +14155550123",
        access_token="key-9f8e7d",
        metadata={"customer_phone": "+14155550123"},
        public_log_url="https://retell.example/log.txt",
        collected_dynamic_variables={"user_number": "+14155550123", "log": "see https://retell.example/log.txt"},
        call_analysis={"call_successful": True, "call_summary": f"Sent {signed}"},
    )
    found = repr(items_of(written(folder / "c.json", record)))
    for secret in ("0123", "0199", "5ecret", "9f8e7d", "0123456789abcdef", "log.txt", "recording", "'abc'"):
        assert secret not in found
    assert "https://files.example/a.pdf?[hidden]" in found


def test_a_simulated_test_is_a_scored_call_of_its_scenario(folder: Path) -> None:
    messages = [
        {"role": "node_transition", "former_node_id": "start", "new_node_id": "n1", "new_node_name": "Welcome"},
        {"role": "agent", "content": "Plumb and Son."},
        {"role": "user", "content": "My tap leaks."},
    ]
    job = {
        "test_case_job_id": "job_1",
        "status": "fail",
        "result_explanation": "It never asked where.",
        "creation_timestamp": SECONDS * 1000,
        "transcript_snapshot": {"messages": messages},
        "test_case_definition_snapshot": {
            "name": "leaking tap",
            "response_engine": {"type": "conversation-flow", "conversation_flow_id": FLOW_ID, "version": 4},
        },
    }
    path = written(folder / "jobs.json", {"items": [job, job | {"test_case_job_id": "job_2", "status": "pending"}]})
    assert detect(path).kind == "retell"
    call, verdict, left_out = items_of(path)
    assert (call.flow, call.scenario, call.run_id) == (FLOW_ID, "leaking tap", "2026-06-15@v4")
    assert (states(call), len(call.turns), call.passed) == (["Welcome"], 2, None)
    assert (verdict.judge, verdict.aspect, verdict.score) == ("retell", "test_case", 0.0)
    assert left_out.reason == "the test had not ended when this was written"
    errored = one(folder, job | {"status": "error"})
    assert (errored.errored, scores(folder, job | {"status": "error"})) == (True, {"test_case": None})


WHOLE = json.dumps([served_call(1), retell_call(call_analysis={"call_successful": True})]).encode()


@given(st.integers(0, len(WHOLE)), st.booleans())
def test_a_file_that_was_cut_anywhere_gives_reasons_and_no_exception(
    tmp_path_factory: pytest.TempPathFactory, place: int, lines: bool
) -> None:
    path = tmp_path_factory.mktemp("cut") / "calls.json"
    whole = b"\n".join(json.dumps(call).encode() for call in json.loads(WHOLE)) if lines else WHOLE
    path.write_bytes(whole[:place])
    for item in SOURCE.items(path, ReadContext()):
        found = item[1] if isinstance(item, tuple) else item
        assert isinstance(found, Conversation | JudgedScore | Skipped)


RICH = served_call(1) | {
    "call_analysis": {"call_successful": True, "user_sentiment": "Positive", "custom_analysis_data": {"a": True}},
    "collected_dynamic_variables": {"street": "Elm"},
    "latency": {"e2e": {"values": [1, 2], "p95": 3}},
}


@given(st.sampled_from(spots(RICH)), JSON, st.randoms(use_true_random=False))
def test_values_of_wrong_types_and_items_out_of_order_give_a_call_or_a_reason(
    tmp_path_factory: pytest.TempPathFactory, spot: tuple[Any, ...], value: Any, order: random.Random
) -> None:
    record = with_value_at(RICH, spot, value)
    if isinstance(record["transcript_with_tool_calls"], list):
        order.shuffle(record["transcript_with_tool_calls"])
    path = written(tmp_path_factory.mktemp("odd") / "c.json", [record, retell_call("call_whole")])
    found = items_of(path)
    calls = [each for each in found if isinstance(each, Conversation)]
    for call in calls:
        facts_of(call, default_run="r")
    for verdict in (each for each in found if isinstance(each, JudgedScore)):
        assert verdict.score is None or 0 <= verdict.score <= 10
    assert "call_whole" in [call.conversation_id for call in calls] or spot == ("call_id",)
    assert len(calls) == 2 or any(isinstance(each, Skipped) for each in found) or spot == ("call_id",)
