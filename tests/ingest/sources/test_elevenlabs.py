"""Conversations of ElevenLabs: nodes, tools, latencies, verdicts and slots, and what is never stored."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import source_files
from tests.support.elevenlabs_calls import (
    NUMBERS,
    audio,
    hook,
    invocation,
    item,
    never_came_about,
    plain,
    plant_desk,
    simulated,
    waited,
)
from tests.support.source_files import written
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.surface.ingest import ELEVENLABS_SOURCE as SOURCE
from tests.surface.ingest import (
    Contract,
    Conversation,
    GuardEvaluated,
    ReadContext,
    SlotFilled,
    StateContract,
    StateEntered,
    StateExited,
    detect,
    facts_of,
)
from tests.surface.store import Annotation, JudgedScore, Skipped

DAY = "2026-01-13"


items_of = partial(source_files.items_of, SOURCE)


def one(folder: Path, record: Any, context: ReadContext | None = None) -> Conversation:
    found = items_of(written(folder / "c.json", record), context)
    (call,) = [each for each in found if isinstance(each, Conversation)]
    return call


def scores(folder: Path, record: Any) -> dict[str, float | None]:
    found = items_of(written(folder / "c.json", record))
    return {each.aspect: each.score for each in found if isinstance(each, JudgedScore)}


def reasons(folder: Path, *records: Any) -> list[str]:
    return [each.reason for each in items_of(written(folder / "c.json", list(records))) if isinstance(each, Skipped)]


def entered(call: Conversation) -> list[tuple[str, float | None]]:
    return [(event.state, event.t) for event in call.events if isinstance(event, StateEntered)]


def spoken(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return plain(transcript=list(items), **more)


def used(name: str, result: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """An item that calls a tool, with its result."""
    call = {"type": "webhook", "request_id": "r", "tool_name": name, "params_as_json": '{"a": 1}'} | more
    results = (
        [{"request_id": "r", "tool_name": name, "is_error": False, "result_value": "ok"} | result] if result else []
    )
    return item("agent", None, 1, tool_calls=[call], tool_results=results)


def test_a_call_with_a_workflow_is_told_by_its_nodes(tmp_path: Path) -> None:
    call = one(tmp_path, plant_desk())
    assert (call.conversation_id, call.run_id) == ("c-77", f"{DAY}@q00001")
    assert (call.flow, call.agent_model) == ("Plant desk", "Plant desk@q00001")
    assert (call.started_at, call.duration_s) == (f"{DAY}T10:26:40.000+00:00", 24.0)
    assert entered(call) == [("n_hello", 0), ("n_stock", 5), ("n_sorry", 5)]
    left = [event.reason for event in call.events if isinstance(event, StateExited)]
    assert left == ["notify_condition_1_met", None]
    assert [(turn.role, turn.t, turn.state, turn.latency_ms) for turn in call.turns] == [
        ("agent", 0.0, "n_hello", None),
        ("caller", 2.0, "n_hello", None),
        ("agent", 9.0, "n_sorry", 3100.0),
        ("caller", 14.0, "n_sorry", None),
        ("agent", 15.0, "n_sorry", 1000.0),
    ]
    assert [(tool.name, tool.arguments, tool.error, tool.state) for tool in call.tool_calls] == [
        ("stock", {"plant": "fern"}, "no answer in 20 s", "n_stock"),
        ("end_call", {}, None, "n_sorry"),
    ]
    assert [event.guard for event in call.events if isinstance(event, GuardEvaluated)] == ["stock"]
    assert (call.stop_reason, call.final_state, call.completed) == ("agent_hangup", "n_sorry", None)
    assert call.slots == {"plant": "fern"}
    assert scores(tmp_path, plant_desk()) == {"call_successful": None, "kind": 10.0, "sold": 2.5}
    assert call.voice is not None
    assert [turn.caller_interrupted for turn in call.voice.turns] == [False, False, True]


def test_neither_numbers_nor_secrets_nor_what_nobody_heard_reach_the_store(tmp_path: Path) -> None:
    record = plant_desk()
    record["user_id"] = "5550100003"
    record["conversation_initiation_client_data"] = {
        "dynamic_variables": {
            "secret__key": "sk-hidden-77",
            "system__caller_id": "+15550100004",
            "name": "Ann Unasked",
            "system__conversation_history": "all of it",
        }
    }
    record["analysis"]["data_collection_results"]["phone"] = {"value": 15550100005, "rationale": "Told in private."}
    record["transcript"][6]["message"] = "I am 1 555 010-0005, or 555 0100003, key sk-hidden-77, from 15550100004."
    record["transcript"][7]["tool_calls"][0] |= {"tool_details": {"url": "https://x.example/private", "headers": {}}}
    record["transcript"][7]["reasoning"] = ["It is a fool."]
    call = one(tmp_path, record)
    assert call.turns[3].text == "I am [number], or [number], key [token], from [number]."
    assert call.slots == {"plant": "fern", "phone": "[number]"}
    kept = repr(facts_of(call, default_run="r")) + repr(items_of(tmp_path / "c.json"))
    for secret in (*(number[-7:] for number in NUMBERS), "stock today", "sk-hidden", "Ann Unasked", "all of it",
                   "0100003", "0100005", "in private", "x.example", "a fool", "CA1"):  # fmt: skip
        assert secret not in kept, secret


def test_variables_and_numbers_that_results_name_are_slots_without_them(tmp_path: Path) -> None:
    updates = [
        {"variable_name": "city", "old_value": None, "new_value": "Bonn"},
        {"variable_name": "phone", "new_value": "+4915550100"},
        {"variable_name": "secret__pin", "new_value": "hidden-pin"},
        {"variable_name": "system__time", "new_value": "now"},
    ]
    call = one(
        tmp_path,
        spoken(used("save", {"result_value": "hidden-pin for 4915550100", "dynamic_variable_updates": updates})),
    )
    filled = [(event.slot, event.value, event.t) for event in call.events if isinstance(event, SlotFilled)]
    assert filled == [("city", "Bonn", 1.0), ("phone", "[number]", 1.0)]
    assert call.tool_calls[0].result == "[token] for [number]"


@pytest.mark.parametrize(
    ("value", "calls"),
    [
        (plain(), 1),
        (plain(agent_id=None), 1),
        (hook(plain()), 1),
        ({"data": plain()}, 1),
        ([plain(), hook(plain("c-2"))], 2),
        (simulated(), 1),
        (invocation(), 2),
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.jsonl"])
def test_every_form_is_known_and_read(tmp_path: Path, value: Any, calls: int, name: str) -> None:
    listed = value if isinstance(value, list) else [value]
    text = "\n".join(map(json.dumps, listed)) if name == "a.jsonl" else json.dumps(value, indent=1)
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert detect(path).kind == "elevenlabs"
    assert sum(isinstance(each, Conversation) for each in items_of(path)) == calls


@pytest.mark.parametrize(
    "value",
    [
        {"conversation_id": "c", "transcript": [{"speaker": "A", "text": "Hi"}]},
        {"conversation_id": "c", "agent_id": "a", "transcript": "Agent: Hi"},
        {"conversation_id": "c", "agent_id": "a", "messages": []},
        {"type": "post_call_audio", "data": {}},
        {"test_runs": [{"id": 1}]},
    ],
)
def test_what_only_looks_alike_is_none(tmp_path: Path, value: Any) -> None:
    assert detect(written(tmp_path / "a.json", value)).kind is None


def test_a_page_of_calls_without_words_is_refused_with_what_to_do(tmp_path: Path) -> None:
    page = {"conversations": [{"conversation_id": "a", "agent_id": "b", "message_count": 3}], "has_more": False}
    found = detect(written(tmp_path / "a.json", page))
    assert found == (None, "a list of ElevenLabs conversations without their words; fetch each conversation")


def test_the_caller_of_an_eva_record_is_no_call(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("{}")
    found = detect(written(tmp_path / "elevenlabs_conversation_details.json", plain()))
    assert found.kind is None
    assert found.reason.startswith("it is of EVA's simulated caller")


def test_of_several_records_of_a_call_the_one_that_tells_most_counts(tmp_path: Path) -> None:
    going_on = plain(status="processing", transcript=[])
    analysed = plain(analysis={"call_successful": "success", "transcript_summary": "s"})
    assert scores(tmp_path, [hook(analysed), hook(plain()), hook(going_on), audio()]) == {"call_successful": 10.0}
    found = items_of(tmp_path / "c.json")
    assert [each.kind for each in found if isinstance(each, Skipped)] == ["superseded"] * 3
    later = analysed | {"analysis": {"call_successful": "failure"}}
    assert scores(tmp_path, [hook(later, 1768300200), hook(analysed)]) == {"call_successful": 0.0}
    assert reasons(tmp_path, going_on) == ["the call had not ended when this was written"]


def test_sounds_and_calls_that_never_came_about_are_no_calls_and_keep_nothing(tmp_path: Path) -> None:
    found = items_of(written(tmp_path / "c.json", [audio(), never_came_about()]))
    assert [(each.kind, each.conversation) for each in found] == [("superseded", "c-1"), ("skipped", "c-9")]
    assert found[0].reason.startswith("the sound of a call")
    assert found[1].reason == "the call never came about: busy"


def test_only_the_first_answer_to_what_was_said_has_a_latency(tmp_path: Path) -> None:
    call = one(
        tmp_path,
        spoken(
            item("agent", "Hello.", 0, **waited(0.2)),
            item("user", "Hm.", 1, ignored_as_backchannel=True),
            item("agent", "Still there?", 3, **waited(2.0)),
            item("user", "Yes.", 5),
            item("agent", "...", 6, interrupted=True, **waited(9.0)),
            item("agent", "One moment.", 7, **waited(1.25)),
            item("agent", "Done.", 9, **waited(3.0)),
            item("user", "In writing", 10, source_medium="text"),
            item("agent", "Fine.", 11, **waited(4.0)),
        ),
    )
    assert [turn.latency_ms for turn in call.turns if turn.role == "agent"] == [None, None, 1250.0, None, None]
    assert call.voice is not None
    assert [entry.text for entry in call.voice.trace] == [turn.text for turn in call.turns], "what was said aside too"
    written_only = spoken(item("user", "A", 1), item("agent", "B", 2, **waited(1)), metadata={"text_only": True})
    text = one(tmp_path, written_only)
    assert ([turn.latency_ms for turn in text.turns], text.channel, text.voice) == ([None, None], "text", None)


def test_results_of_one_id_belong_to_their_calls_by_order(tmp_path: Path) -> None:
    call = one(tmp_path, spoken(used("a", {"result_value": "1"}), used("a", {"is_error": True, "result_value": "no"})))
    assert [(tool.result, tool.error) for tool in call.tool_calls] == [("1", None), (None, "no")]


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (None, None),
        ({"is_error": True, "result_value": "no", "raw_error_message": "raw"}, "raw"),
        ({"error_type": "timeout", "result_value": ""}, "timeout"),
        ({"is_blocked": True}, "blocked"),
        ({"result": {"result_type": "play_dtmf_error"}, "result_value": ""}, "play_dtmf_error"),
        ({"tool_latency_secs": 2}, None),
    ],
)
def test_a_tool_fails_where_its_result_says_so(tmp_path: Path, result: Any, error: str | None) -> None:
    call = one(tmp_path, spoken(used("find", result)))
    assert [tool.error for tool in call.tool_calls] == [error]
    assert [event.error for event in call.events if isinstance(event, GuardEvaluated)] == ([error] if error else [])


def test_tools_that_do_nothing_in_a_flow_are_no_states(tmp_path: Path) -> None:
    call = one(tmp_path, spoken(used("find", {}), used("skip_turn", {}), used("play_keypad_touch_tone", {})))
    assert [state for state, _ in entered(call)] == ["opening", "find"]
    assert [(tool.name, tool.arguments) for tool in call.tool_calls][1:] == [
        ("skip_turn", {"a": 1}),
        ("play_keypad_touch_tone", None),
    ]


@pytest.mark.parametrize(
    ("words", "result_type", "stop", "final"),
    [
        ("Client disconnected: 1000", None, "hangup", "find"),
        ("Call ended by remote party", None, "hangup", "find"),
        ("end_call tool was called.", None, "agent_hangup", "find"),
        ("Conversation ended after silence", None, "timeout", "find"),
        ("Max duration reached", None, "timeout", "find"),
        ("An odd end", None, "An odd end", "find"),
        (None, None, None, "find"),
        ("Client disconnected: 1000", "transfer_to_number_twilio_success", "transfer", "escalated"),
        ("Client disconnected: 1000", "voicemail_detection_success", "voicemail", "find"),
        ("Client disconnected: 1000", "transfer_to_agent_success", "hangup", "find"),
    ],
)
def test_how_a_call_ended_is_told_by_its_tools_else_in_words(
    tmp_path: Path, words: str | None, result_type: str | None, stop: str | None, final: str
) -> None:
    record = spoken(used("find", {"result": {"result_type": result_type, "transfer_number": NUMBERS[0]}}))
    record["metadata"]["termination_reason"] = words
    call = one(tmp_path, record)
    assert (call.stop_reason, call.final_state, call.final_status) == (stop, final, words)
    assert call.unknown_end == (words == "An odd end")


def test_a_call_that_failed_does_not_count(tmp_path: Path) -> None:
    record = plain()
    record["metadata"]["error"] = {"code": 1011, "reason": "unpaid"}
    assert (one(tmp_path, record).errored, one(tmp_path, record).error) == (True, "1011 unpaid")
    assert one(tmp_path, plain(status="failed")).errored


def test_agents_are_states_where_there_are_several_and_no_nodes(tmp_path: Path) -> None:
    other = item("agent", "Billing.", 4) | {"agent_metadata": {"agent_id": "ag2"}}
    call = one(tmp_path, spoken(item("agent", "Hello.", 0), used("transfer_to_agent", {}), other, agent_name="Desk"))
    assert [state for state, _ in entered(call)] == ["Desk", "ag2"]
    assert (call.flow, call.final_state, [tool.name for tool in call.tool_calls]) == (
        "Desk",
        "ag2",
        ["transfer_to_agent"],
    )


def test_a_hand_over_within_a_workflow_is_routing_and_too_many_steps_are_an_error(tmp_path: Path) -> None:
    asked = {"request_id": "t", "tool_name": "transfer_to_agent", "params_as_json": "{}"}
    moved = asked | {"result": {"result_type": "transfer_to_agent_success", "to_agent": "n2"}}
    steps = [
        {"type": "nested_tools", "node_id": "n1", "requests": [asked], "results": [moved]},
        {"type": "edge", "target_node_id": "n2"},
        {"type": "max_iterations_exceeded", "max_iterations": 9},
    ]
    told = {
        "type": "workflow",
        "request_id": "w",
        "tool_name": "progress_workflow",
        "result_value": json.dumps({"steps": steps}),
    }
    call = one(tmp_path, spoken(item("agent", "Hi.", 0, "n1"), item("agent", None, 3, "n1", tool_results=[told])))
    assert (entered(call), call.tool_calls, call.defects) == ([("n1", 0.0), ("n2", 3.0)], [], {})
    assert call.errors == [{"kind": "workflow", "message": "max iterations exceeded (9)", "t": 3.0}]


def test_a_flow_file_names_nodes_and_tells_whether_a_call_was_completed(tmp_path: Path) -> None:
    states = {
        "Hello": StateContract(id="n_hello"),
        "Sorry": StateContract(id="n_sorry"),
        "n_stock": StateContract(id="n_stock"),
    }
    for successes, completed in ((["Sorry"], True), (["Sold"], None)):
        contract = Contract(success_terminals=successes, escalation_terminals=[], states=states)
        call = one(tmp_path, plant_desk(), ReadContext({"ag1": contract}))
        assert ([state for state, _ in entered(call)], call.flow) == (["Hello", "n_stock", "Sorry"], "ag1")
        assert call.completed is completed


def test_what_the_caller_thought_of_a_turn_is_a_note_on_it(tmp_path: Path) -> None:
    record = spoken(item("user", "A", 1), item("agent", "B", 2, feedback={"score": "dislike", "time_in_call_secs": 3}))
    found = [each for each in items_of(written(tmp_path / "c.json", record)) if isinstance(each, Annotation)]
    assert [(each.turn, each.labels, each.verdict, each.author) for each in found] == [(2, ["dislike"], None, "caller")]


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ({"result": "success"}, 10.0),
        ({"result": "failure"}, 0.0),
        ({"result": "unknown"}, None),
        ({"result": "success", "scoring_mode": "numeric_uniform", "score": 3, "max_score": 4}, 7.5),
        ({"result": "success", "scoring_mode": "numeric_uniform", "score": 5, "max_score": 4}, None),
        ({"result": "success", "scoring_mode": "numeric_uniform", "score": 5, "max_score": 0}, 10.0),
    ],
)
def test_criteria_are_scores_in_an_object_and_in_a_list_alike(tmp_path: Path, given: Any, score: float | None) -> None:
    listed = {"evaluation_criteria_results_list": [given | {"criteria_id": "k"}]}
    assert scores(tmp_path, plain(analysis={"evaluation_criteria_results": {"k": given}})) == {"k": score}
    assert scores(tmp_path, plain(analysis=listed)) == {"k": score}


def test_simulations_are_calls_without_times(tmp_path: Path) -> None:
    call = one(tmp_path, simulated())
    assert (call.conversation_id, call.run_id, call.flow, call.caller) == ("c", tmp_path.name, "ag1", "simulated")
    assert ({turn.t for turn in call.turns}, call.started_at, call.channel) == ({None}, None, "text")
    assert scores(tmp_path, simulated()) == {"call_successful": 10.0}


def test_runs_of_tests_are_trials_with_a_verdict(tmp_path: Path) -> None:
    found = items_of(written(tmp_path / "c.json", invocation()))
    calls = [each for each in found if isinstance(each, Conversation)]
    assert [(call.conversation_id, call.run_id, call.trial, call.scenario) for call in calls] == [
        ("r-1", "inv-1", 0, "A table"),
        ("r-2", "inv-1", 1, "A table"),
    ]
    judged = [(each.aspect, each.score, each.rationale) for each in found if isinstance(each, JudgedScore)]
    assert judged == [("test", 10.0, "It booked. At once."), ("test", 0.0, None)]
    assert [each.reason for each in found if isinstance(each, Skipped)] == [
        "a test of one answer, no call",
        "the test had not ended",
    ]
    assert "example.org" not in repr(found)


RICH = plant_desk()
RICH["conversation_initiation_client_data"] = {"dynamic_variables": {"secret__a": "x" * 9}}
RICH["transcript"][4]["feedback"] = {"score": "like"}
WHOLE = [hook(RICH), plain("whole"), invocation(), simulated(), audio(), never_came_about()]
TEXT = json.dumps(WHOLE).encode()


@given(st.integers(0, len(TEXT)))
def test_a_file_that_was_cut_anywhere_gives_reasons_and_no_exception(
    tmp_path_factory: pytest.TempPathFactory, place: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "calls.json"
    path.write_bytes(TEXT[:place])
    for each in items_of(path):
        assert isinstance(each, Conversation | JudgedScore | Annotation | Skipped)


@given(st.sampled_from(spots(WHOLE)), JSON)
@example((0, "data", "status"), [])
def test_values_of_wrong_types_give_calls_or_reasons(
    tmp_path_factory: pytest.TempPathFactory, spot: tuple[Any, ...], value: Any
) -> None:
    path = written(tmp_path_factory.mktemp("odd") / "c.json", with_value_at(WHOLE, spot, value))
    detect(path)
    for each in items_of(path):
        if isinstance(each, Conversation):
            facts_of(each, default_run="r")
        elif isinstance(each, JudgedScore):
            assert each.score is None or 0 <= each.score <= 10


@pytest.mark.parametrize("seconds", [1768300000, 1768300000000])
def test_a_time_in_milliseconds_is_one_as_well(tmp_path: Path, seconds: int) -> None:
    call = one(tmp_path, spoken(metadata={"start_time_unix_secs": seconds}))
    assert call.started_at is not None
    assert (call.started_at[:19], call.run_id) == ("2026-01-13T10:26:40", DAY)


def test_a_call_in_which_nobody_says_a_word_is_told_of(tmp_path: Path) -> None:
    assert reasons(tmp_path, plain("a") | {"transcript": []}) == ["nothing that was said is in this report"]
    assert reasons(tmp_path, plain("a")) == []


def test_calls_one_after_the_other_are_read(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("\n".join(json.dumps(plain(name), indent=1) for name in "ab"), encoding="utf-8")
    assert detect(path).kind == "elevenlabs"
    assert [each.conversation_id for each in items_of(path)] == ["a", "b"]


def test_what_a_step_of_a_workflow_sets_is_set_and_what_it_must_not_tell_is_hidden(tmp_path: Path) -> None:
    updates = [
        {"variable_name": "plant", "old_value": None, "new_value": "fern"},
        {"variable_name": "secret__pin", "old_value": "48213", "new_value": "59324"},
    ]
    nested = {"request_id": "t1", "tool_name": "look", "is_error": False, "result_value": "48213, 59324 or 5550100009",
              "result": {"transfer_number": "+15550100009"}, "dynamic_variable_updates": updates}  # fmt: skip
    step = {"type": "nested_tools", "node_id": "n2", "requests": [{"request_id": "t1", "tool_name": "look"}],
            "results": [nested]}  # fmt: skip
    routed = {"type": "workflow", "request_id": "w", "tool_name": "notify_condition_1_met", "result": {"steps": [step]}}
    call = one(tmp_path, spoken(item("agent", "Hi", 0, "n1"), item("agent", None, 3, "n1", tool_results=[routed])))
    assert [(event.slot, event.value, event.t) for event in call.events if isinstance(event, SlotFilled)] == [
        ("plant", "fern", 3.0)
    ]
    assert [(tool.name, tool.result, tool.state) for tool in call.tool_calls] == [
        ("look", "[token], [token] or [number]", "n2")
    ]
