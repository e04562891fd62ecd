"""LiveKit's session reports: agents as states, latencies, judges, and two lanes of sound."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riff_ingest import Conversation
from tests.support.facts import fresh
from tests.support.livekit_reports import START, assistant, handed_over, handoff, in_camel_case, report, tool, user
from tests.support.strategies import JSON
from tests.surface.ingest import LIVEKIT_SOURCE as SOURCE
from tests.surface.ingest import (
    Contract,
    ReadContext,
    StateEntered,
    TurnComplete,
    compute_state_aspects,
    detect,
    facts_of,
    ingest,
)
from tests.surface.ingest import livekit_read as read
from tests.surface.store import JudgedScore, Skipped, Span, Writer


def written(directory: Path, *reports: Any, name: str = "session_report.json") -> Path:
    path = directory / name
    path.write_text("\n".join(json.dumps(each) for each in reports), encoding="utf-8")
    return path


def items(path: Path, **context: Any) -> list[Any]:
    found = SOURCE.items(path, ReadContext(**context))
    return [item[1] if isinstance(item, tuple) else item for item in found]


def call_of(directory: Path, given: Any, **context: Any) -> Conversation:
    (call,) = [item for item in items(written(directory, given), **context) if isinstance(item, Conversation)]
    return call


def scores(found: list[Any]) -> list[tuple[str, float | None]]:
    return [(item.judge, item.score) for item in found if isinstance(item, JudgedScore)]


def states(call: Conversation) -> list[str]:
    return [event.state for event in call.events if isinstance(event, StateEntered)]


def test_agents_are_the_states_that_a_call_went_through(tmp_path: Path) -> None:
    call = call_of(tmp_path, handed_over())
    assert (states(call), call.origin, call.final_state) == (["greeter", "booking"], "observed", "booking")
    assert [(turn.role, turn.state) for turn in call.turns] == [
        ("agent", "greeter"),
        ("caller", "greeter"),
        ("agent", "booking"),
        ("caller", "booking"),
        ("agent", "booking"),
    ]
    rows = compute_state_aspects(call.events, None, call.completed)
    assert [(row.state, row.progress, row.guard_error) for row in rows] == [("greeter", 1, 0), ("booking", 0, 1)]


def test_times_count_from_the_first_item_and_latencies_are_those_that_the_caller_heard(tmp_path: Path) -> None:
    call = call_of(tmp_path, handed_over())
    assert [turn.t for turn in call.turns] == [0.5, 6.0, 7.0, 10.0, 12.0]
    assert [turn.latency_ms for turn in call.turns] == [None, None, 1300.0, None, 2200.0]
    assert [event.latency_ms for event in call.events if isinstance(event, TurnComplete)] == [None, 1300.0, 2200.0]
    assert (call.started_at, call.duration_s) == ("2025-08-22T10:00:00+00:00", 61.0)


def test_tools_are_joined_to_their_answers(tmp_path: Path) -> None:
    call = call_of(tmp_path, handed_over())
    assert [(tool.name, tool.t, tool.arguments, tool.error) for tool in call.tool_calls] == [
        ("book", 10.5, {"day": "Tuesday"}, "slot is taken"),
        ("book", 11.5, {"day": "Tuesday", "hour": 10}, None),
    ]
    assert call.errors == [{"kind": "tool", "message": "slot is taken", "t": 10.5}]


def test_who_answered_and_how_it_ended(tmp_path: Path) -> None:
    call = call_of(tmp_path, handed_over())
    assert (call.conversation_id, call.flow, call.agent_model) == (
        "AJ_1",
        "garden_centre",
        "hearer-3 + thinker-2 + speaker-1",
    )
    assert (call.completed, call.passed, call.stop_reason, call.final_status) == (
        True,
        True,
        "terminal",
        "CR_USER_INITIATED",
    )
    assert not call.errored


def test_judges_are_kept_apart_and_one_who_is_not_sure_gives_half(tmp_path: Path) -> None:
    tags = [
        "lk.judge.task:pass",
        "lk.judge.tone:maybe",
        "lk.judge.safety:fail",
        "lk.judge.odd:perhaps",
        "lk.judge.:fail",
    ]
    found = items(written(tmp_path, handed_over(tags=tags)))
    assert scores(found) == [("task", 10.0), ("tone", 5.0), ("safety", 0.0), ("odd", None)]
    assert {item.aspect for item in found if isinstance(item, JudgedScore)} == {"task", "tone", "safety", "odd"}


@pytest.mark.parametrize(
    ("tags", "reason", "ended"),
    [
        (["lk.success"], "CR_PARTICIPANT_DISCONNECTED", (True, True, "terminal")),
        (["lk.success"], "CR_JOB_SHUTDOWN", (True, True, "terminal")),
        (["lk.success"], "CR_ERROR", (True, True, "error")),
        (["lk.success", "lk.fail"], "CR_USER_INITIATED", (False, False, "terminal")),
        (["lk.fail"], "participant_disconnected", (False, False, "hangup")),
        ([], "CR_TASK_COMPLETED", (None, True, "terminal")),
        ([], "CR_JOB_SHUTDOWN", (None, None, "job_shutdown")),
        ([], "CR_SOMETHING_NEW", (None, None, "something_new")),
        ([], None, (None, None, None)),
    ],
)
def test_an_end_is_as_good_as_the_application_says(
    tmp_path: Path, tags: list[str], reason: str | None, ended: tuple[Any, ...]
) -> None:
    call = call_of(tmp_path, handed_over(tags=tags, close_reason=reason))
    assert (call.passed, call.completed, call.stop_reason) == ended


@pytest.mark.parametrize(
    ("errors", "reason", "errored"),
    [
        ({"llm": 2, "stt": 0}, "CR_ERROR", "closed by an error (llm 2)"),
        ({"llm": 2}, "CR_USER_INITIATED", None),
        ({"llm": 0}, "CR_ERROR", None),
        (None, "error", "closed by an error"),
    ],
)
def test_a_call_is_errored_where_errors_closed_it(
    tmp_path: Path, errors: Any, reason: str, errored: str | None
) -> None:
    call = call_of(tmp_path, handed_over(errors=errors, close_reason=reason))
    assert (call.error, call.errored) == (errored, errored is not None)


def test_errors_that_a_call_survived_count(tmp_path: Path) -> None:
    call = call_of(tmp_path, report(assistant("Hello", 0), errors={"tts": 2, "llm": 1}))
    facts, _ = facts_of(call, default_run="r")
    assert (facts.error_count, facts.aspects["errors"]) == (3, 2.5)


def test_without_a_hand_over_the_tools_are_the_states_and_the_agent_is_the_first(tmp_path: Path) -> None:
    given = report(assistant("Hello", 0), tool("find_plant", 2), user("Thanks", 4), tool("order", 5))
    call = call_of(tmp_path, given)
    assert (states(call), call.origin) == (["garden_centre", "find_plant", "order"], "derived")
    begun = call_of(tmp_path, report(handoff(None, "greeter", 0), assistant("Hello", 1), tool("order", 5)))
    assert states(begun) == ["greeter", "order"]
    named = call_of(tmp_path, report(assistant("Hello", 0), handoff(None, "greeter", 1)))
    assert states(named) == ["garden_centre", "greeter"]
    nameless = call_of(tmp_path, report(assistant("Hello", 0), agent_name=""))
    assert (states(nameless), nameless.flow) == (["opening"], "livekit")


def test_a_tool_that_hands_the_call_to_a_human_escalates_it(tmp_path: Path) -> None:
    by_agent = call_of(
        tmp_path, report(handoff("greeter", "booking", 0), tool("transfer_to_human", 1), assistant("Bye", 2))
    )
    assert (states(by_agent), by_agent.final_state) == (["greeter", "booking", "escalated"], "escalated")
    by_tool = call_of(tmp_path, report(assistant("Hello", 0), tool("transferToOperator", 1)))
    for call, last in ((by_agent, "booking"), (by_tool, "garden_centre")):
        rows = compute_state_aspects(call.events, call.contract, call.completed)
        assert [(row.state, row.escalation) for row in rows][-1] == (last, 1)
        assert facts_of(call, default_run="r")[0].aspects["correctness"] is None


def test_a_call_has_its_two_lanes(tmp_path: Path) -> None:
    voice = call_of(tmp_path, handed_over()).voice
    assert voice is not None
    assert voice.agent == [Span(0, 0.5, 2.0), Span(1, 6.8, 9.5), Span(2, 12.0, 13.0)]
    assert voice.caller == [Span(1, 3.0, 5.5), Span(2, 9.2, 9.8)]
    assert [turn.latency for turn in voice.turns] == [None, 1.3, 2.2]
    assert [turn.turn for turn in voice.turns if turn.caller_interrupted] == [2]
    assert voice.turns[1].evidence == {
        "transcription_delay_ms": 200.0,
        "end_of_turn_delay_ms": 600.0,
        "llm_node_ttft_ms": 400.0,
        "tts_node_ttfb_ms": 250.0,
    }


def test_a_chat_has_no_lanes(tmp_path: Path) -> None:
    answer = assistant("Hello", 1, 0.8) | {"metrics": {"llm_node_ttft": 0.3}}
    assert call_of(tmp_path, report(user("Hello", 0), answer)).voice is None


def test_javascript_spells_the_same_otherwise(tmp_path: Path) -> None:
    python = items(written(tmp_path, handed_over()))
    script = items(written(tmp_path, in_camel_case(handed_over())))
    assert detect(tmp_path / "session_report.json").kind == "livekit"
    assert msgspec.json.encode(script) == msgspec.json.encode(python)


def test_a_report_of_an_older_version_is_a_call_of_which_less_is_known(tmp_path: Path) -> None:
    given = {"job_id": "AJ_2", "chat_history": {"items": [user("Hello", 0), assistant("Hello", 1)]}, "timestamp": START}
    call = call_of(tmp_path, given)
    assert (call.duration_s, call.completed, call.passed, call.stop_reason) == (None, None, None, None)
    facts, _ = facts_of(call, default_run="r")
    assert (facts.aspects["correctness"], facts.aspects["completion"], facts.aspects["latency_p95"]) == (None,) * 3


def test_neither_rooms_nor_recordings_nor_what_opens_them_are_kept(tmp_path: Path) -> None:
    given = report(
        user("My number is +1 555-0100.", 0),
        tool("look_up", 1, "see https://files.example/a?X-Amz-Signature=abc", number="15550100", access_token="s3cret"),
    )
    found = items(written(tmp_path, given))
    assert found[0].turns[0].text == "My number is [number]."
    assert found[0].tool_calls[0].arguments == {"number": "[number]", "access_token": "[hidden]"}
    stored = msgspec.json.encode(found)
    assert not any(secret in stored for secret in (b"5550100", b"Signature", b"signature", b"s3cret", b"RM_1"))


def test_names_keep_no_numbers_and_no_signatures_either(tmp_path: Path) -> None:
    private = "+1 555-0100 https://files.example/a?sig=abc"
    given = report(
        user("Hello", 0),
        handoff(f"greeter {private}", f"booking {private}", 1),
        agent_name=f"garden {private}",
        close_reason=f"CR_OTHER {private}",
        tags=[f"lk.judge.tone {private}:pass"],
    )
    stored = msgspec.json.encode(items(written(tmp_path, given)))
    assert not any(secret in stored for secret in (b"0100", b"sig="))


def test_only_the_text_of_a_message_is_taken(tmp_path: Path) -> None:
    sound = {"type": "audio_content", "frame": ["data:xyz"], "transcript": "at this"}
    content = ["Look", {"type": "image_content", "image": "data:xyz"}, sound]
    call = call_of(tmp_path, report({**user("", 0), "content": content}))
    assert [turn.text for turn in call.turns] == ["Look\nat this"]


def test_a_message_without_a_word_is_no_turn(tmp_path: Path) -> None:
    call = call_of(tmp_path, report(user("", 0), user("  ", 1), user("Hello", 2)))
    assert [turn.text for turn in call.turns] == ["Hello"]


def test_instructions_are_no_turns(tmp_path: Path) -> None:
    system = {**user("You are a gardener", 0), "role": "system"}
    update = {"type": "agent_config_update", "instructions": "You are", "created_at": START}
    assert call_of(tmp_path, report(system, update, user("Hello", 1))).turns[0].text == "Hello"


def test_an_answer_without_its_call_is_a_tool_all_the_same(tmp_path: Path) -> None:
    call = call_of(tmp_path, report(tool("order", 1)[1:], tool("pay", 2, None)))
    assert [(tool.name, tool.result, tool.error) for tool in call.tool_calls] == [
        ("order", "ok", None),
        ("pay", None, None),
    ]


@pytest.mark.parametrize(
    ("place", "run"),
    [
        ("nightly/AJ_1.json", "nightly"),
        ("nightly/AJ_1/session_report.json", "nightly"),
        ("nightly/RM_1/session_report.json", "nightly"),
        ("console-recordings/session-08-22/session_report.json", "2025-08-22"),
    ],
)
def test_a_run_is_the_directory_of_its_reports(tmp_path: Path, place: str, run: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    assert items(written(path.parent, handed_over(), name=path.name))[0].run_id == run


def test_a_report_without_a_job_is_named_by_where_it_lies(tmp_path: Path) -> None:
    given = {**handed_over(), "job_id": None}
    assert call_of(tmp_path, given).conversation_id == tmp_path.name
    assert items(written(tmp_path, given, name="call-7.json"))[0].conversation_id == "call-7"


def test_a_flow_file_promises_for_calls_of_the_agent(tmp_path: Path) -> None:
    contract = Contract(success_terminals=["booking"])
    call = call_of(tmp_path, handed_over(tags=[]), contracts={"garden_centre": contract})
    facts, _ = facts_of(call, default_run="r")
    assert (facts.aspects["correctness"], facts.aspects["completion"]) == (10.0, 10.0)
    stuck = call_of(
        tmp_path, report(handoff(None, "greeter", 0), assistant("Hello", 1)), contracts={"garden_centre": contract}
    )
    facts, _ = facts_of(stuck, default_run="r")
    assert (facts.aspects["correctness"], facts.aspects["completion"]) == (0.0, 0.0)
    assert [(row.state, row.stall) for row in facts.states] == [("greeter", 1)]


def test_what_nobody_says_of_the_end_is_not_measured(tmp_path: Path) -> None:
    call = call_of(tmp_path, handed_over(tags=[], close_reason="CR_PARTICIPANT_DISCONNECTED"))
    facts, _ = facts_of(call, default_run="r")
    assert (facts.aspects["correctness"], facts.aspects["completion"]) == (None, None)
    assert [row.stall for row in facts.states] == [None, None]


def test_reports_are_read_line_by_line_and_a_broken_one_costs_no_other(tmp_path: Path) -> None:
    path = written(tmp_path, handed_over(), {"job_id": 1}, handed_over(job_id="AJ_2"), name="reports.jsonl")
    path.write_bytes(path.read_bytes() + b"\n{broken\n")
    assert detect(path).kind == "livekit"
    found = items(path)
    assert [item.conversation_id for item in found if isinstance(item, Conversation)] == ["AJ_1", "AJ_2"]
    assert [(item.line, item.reason) for item in found if isinstance(item, Skipped)] == [
        (2, "it is not a session report: there is no chat_history with items"),
        (4, "line is not JSON: the name of a key is missing at character 2"),
    ]


def test_reports_come_into_the_store_with_all_their_verdicts(tmp_path: Path) -> None:
    written(tmp_path, handed_over(), handed_over(job_id="AJ_2"), name="reports.jsonl")
    with fresh(tmp_path / "calls.db") as store:
        summary = ingest([tmp_path / "reports.jsonl"], Writer(store))
        assert (summary.conversations("taken"), summary.scores, summary.skipped) == (2, 4, 0)


def test_items_that_are_none_are_left_out_and_noted(tmp_path: Path) -> None:
    found = items(written(tmp_path, report(7, user("Hello", 1), None)))
    assert found[0].turns[0].text == "Hello"
    assert [item.kind for item in found[1:]] == ["defect"]


def test_items_keep_their_order_and_the_call_begins_with_the_earliest(tmp_path: Path) -> None:
    given = handed_over()
    given["chat_history"]["items"].reverse()
    assert [turn.t for turn in call_of(tmp_path, given).turns] == [12.0, 10.0, 7.0, 6.0, 0.5]


def test_a_file_that_was_cut_anywhere_says_so(tmp_path: Path) -> None:
    whole = json.dumps(handed_over(), indent=1).encode()
    path = tmp_path / "session_report.json"
    for end in range(0, len(whole) - 1, 37):
        path.write_bytes(whole[:end])
        assert {type(item) for item in items(path)} <= {Skipped}, end
    packed = gzip.compress(whole, mtime=0)
    for end in range(20, len(packed) - 1, 61):
        path.with_suffix(".json.gz").write_bytes(packed[:end])
        assert {type(item) for item in items(path.with_suffix(".json.gz"))} == {Skipped}, end


@given(data=st.data())
def test_wrong_types_anywhere_never_raise_and_never_score(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    given_report = handed_over()
    places = [given_report, given_report["chat_history"], *given_report["chat_history"]["items"]]
    places += [item["metrics"] for item in given_report["chat_history"]["items"] if "metrics" in item]
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.sampled_from(places))
        if place:
            place[data.draw(st.sampled_from(sorted(place)))] = data.draw(JSON)
    path = written(tmp_path_factory.mktemp("reports"), given_report)
    for item in items(path):
        assert isinstance(item, Conversation | JudgedScore | Skipped)
        if isinstance(item, Conversation):
            facts, _ = facts_of(item, default_run="r")
            assert facts.aspects["latency_p95"] is None or facts.aspects["latency_p95"] > 0


def test_a_chat_of_another_program_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, {"chat_history": {"items": []}, "model": "m"}, name="chat.json")
    assert detect(path).kind is None
    (note,) = read(written(tmp_path, {"chat_history": "none"}), ReadContext())
    assert isinstance(note, Skipped)
