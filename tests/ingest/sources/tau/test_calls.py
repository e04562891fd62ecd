"""Simulations of tau2-bench: what each part of one becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from riff_ingest import Conversation, read_source
from tests.support.tau_runs import (
    action,
    answer,
    check,
    info,
    moment,
    results,
    rewarded,
    said,
    simulation,
    task,
    tool,
    write_results,
)
from tests.surface.ingest import (
    Action,
    AgentInfo,
    AudioConfig,
    Criteria,
    Ending,
    GuardEvaluated,
    Info,
    Reference,
    StateEntered,
    Task,
    ToolCall,
    TurnComplete,
    agent_name,
    ending_of,
    family_of,
    final_status,
    is_of_another_task,
    label_of,
    matches,
    phase_of,
    spoken,
    steps_of,
    tool_of,
    writes,
)


def _call(folder: Path, given: dict[str, Any], *tasks: dict[str, Any], **more: Any) -> Conversation:
    (found,) = read_source(write_results(folder / "run.json", results([given], *tasks, **more)))
    return found


def _states(call: Conversation) -> list[tuple[str, str | None]]:
    return [(event.state, event.segment) for event in call.events if isinstance(event, StateEntered)]


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("user_stop", Ending(True, False, "terminal")),
        ("agent_stop", Ending(True, False, "terminal")),
        ("max_steps", Ending(False, False, "max_turns")),
        ("timeout", Ending(False, False, "timeout")),
        ("too_many_errors", Ending(False, False, "error")),
        ("context_window_exceeded", Ending(False, False, "error")),
        ("agent_error", Ending(False, True, "error")),
        ("infrastructure_error", Ending(False, True, "error")),
        ("struck_by_lightning", Ending(None, False, "struck_by_lightning")),
        (None, Ending(None, False, None)),
    ],
)
def test_the_reason_says_how_a_call_ended(reason: str | None, ending: Ending) -> None:
    assert ending_of(reason) == ending


def test_words_that_steer_a_simulation_are_its_status_and_not_said() -> None:
    assert spoken(" Thanks. ###STOP### ") == "Thanks."
    assert spoken("###OUT-OF-SCOPE###") == spoken(None) == ""
    assert final_status("user_stop", "Bye ###OUT-OF-SCOPE###") == "out_of_scope"
    assert final_status("max_steps", "Hello?") == final_status("max_steps", None) == "max_steps"


@pytest.mark.parametrize(
    ("tool", "kind", "write", "phase"),
    [
        ("find_user_id_by_email", None, False, "auth"),
        ("get_customer_by_phone", "read", False, "auth"),
        ("can_send_mms", None, False, "verify"),
        ("transfer_to_human_agents", "generic", False, "exit"),
        ("search_direct_flight", None, False, "lookup"),
        ("update_reservation_baggages", None, True, "action"),
        ("log_verification_8812", "read", False, "other"),
        ("log_verification_8812", None, True, "action"),
        ("calculate", None, False, "other"),
        ("give_discoverable_user_tool", None, False, "other"),
        ("KB_search_bm25", None, False, "lookup"),
    ],
)
def test_kind_and_name_of_a_tool_say_whether_it_writes_and_where_in_a_call_it_is(
    tool: str, kind: str | None, write: bool, phase: str
) -> None:
    assert writes(tool, kind) is write
    assert phase_of(tool, kind) == phase


@pytest.mark.parametrize(
    ("id", "references", "family"),
    [
        ("[mms_issue]airplane_mode_on|break_apn[PERSONA:Hard]", [], "mms_issue"),
        ("[]odd", ["get_order"], "no-write"),
        ("7", ["get_order", "cancel_order", "cancel_item"], "cancel"),
        ("7", ["cancel_order", "modify_order"], "multi"),
        ("7", [], "no-write"),
        (None, ["cancel_order"], "cancel"),
    ],
)
def test_a_family_is_in_the_name_of_a_task_or_what_it_writes(
    id: str | None, references: list[str], family: str
) -> None:
    assert family_of(id, [Reference(Action(name)) for name in references]) == family


def test_an_agent_is_its_model_and_all_that_tells_it_from_another_of_the_same_model() -> None:
    ordinary = AgentInfo("llm_agent", "gpt-4.1", {})
    assert agent_name(Info()) == "(unknown)"
    assert agent_name(Info(agent_info=ordinary)) == "gpt-4.1"
    assert agent_name(Info(agent_info=AgentInfo("llm_agent_solo", "gpt-4.1"))) == "gpt-4.1/llm_agent_solo"
    assert agent_name(Info(agent_info=AgentInfo("llm_agent", "o4", {"reasoning_effort": "high"}))) == "o4 (high)"
    voice = AgentInfo("discrete_time_audio_native_agent", "livekit:x")
    config = AudioConfig(cascaded_config_name="fast", reasoning_effort="low")
    assert agent_name(Info(agent_info=voice, audio_native_config=config)) == "livekit:x (fast, low)"


def test_a_run_is_named_after_its_file_or_its_folder_and_copies_alike(tmp_path: Path) -> None:
    assert label_of(tmp_path / "nightly.json.gz") == label_of(tmp_path / "updated_nightly.json") == "nightly"
    assert label_of(tmp_path / "nightly" / "results.json") == "nightly"
    assert label_of(tmp_path / "nightly" / "results_reviewed.json") == "nightly"


@pytest.mark.parametrize(
    ("wanted", "compare", "called", "matched"),
    [
        ({"a": 1, "b": 2}, None, {"a": 1, "b": 2}, True),
        ({"a": 1, "b": 2}, None, {"a": 1}, True),  # what a call leaves out differs in nothing
        ({"a": 1, "b": 2}, None, {}, True),
        ({"a": 1}, None, {"a": 1, "b": 2}, False),
        ({"a": 1, "b": 2}, ["a"], {"a": 1, "b": 3}, True),
        ({"a": 1, "b": 2}, ["a", "b"], {"a": 1}, False),
        ({"a": 1}, [], {"a": 2}, True),
        ({"a": 1}, None, {"a": 1.0}, True),
        ({"a": [1]}, None, {"a": [1, 2]}, False),
    ],
)
def test_arguments_are_compared_as_the_benchmark_does(
    wanted: dict[str, Any], compare: list[str] | None, called: dict[str, Any], matched: bool
) -> None:
    reference = Action("pay", arguments=wanted, compare_args=compare)
    assert matches(reference, ToolCall("pay", arguments=called)) is matched
    assert not matches(reference, ToolCall("repay", arguments=called))


def test_a_step_is_of_the_side_that_took_it() -> None:
    references = [Reference(Action("toggle", "user")), Reference(Action("pay", "assistant")), Reference(Action("hang"))]
    calls = [ToolCall("toggle", by="agent"), ToolCall("pay", by="agent"), ToolCall("pay", by="caller")]
    assert [(step.name, step.by, step.called) for step in steps_of(references, calls, solo=False)] == [
        ("toggle", "agent", True),
        ("pay", "agent", True),
        ("hang", "agent", False),
    ]
    assert [step.by for step in steps_of(references[:1], [], solo=False)] == ["caller"]
    assert [step.by for step in steps_of(references[:1], [], solo=True)] == ["agent"]


def test_a_call_of_an_agent_alone_opens_with_its_first_tool(tmp_path: Path) -> None:
    call = _call(
        tmp_path,
        simulation(
            "a",
            "[mms_issue]x[PERSONA:None]",
            messages=[
                said("assistant", None, 1, tool("toggle_data"), tool("think", thought="so")),
                {"role": "tool", "tool_messages": [answer("toggle_data", "on", 2), answer("think", "", 2)]},
                said("assistant", "###STOP###", 3),
            ],
            reward_info=rewarded(1.0, check(action("toggle_data", "user"), True)),
            termination_reason="agent_stop",
        ),
    )
    assert _states(call) == [("opening", "opening"), ("toggle_data", "action"), ("think", "other")]
    assert [each.result for each in call.tool_calls] == ["on", ""]
    assert [(step.by, step.called, step.matched) for step in call.expected_steps or ()] == [("agent", True, True)]
    assert (call.flow, call.persona, call.turns, call.final_status) == ("retail/mms_issue", "None", [], "agent_stop")


def test_tools_of_callers_are_states_of_their_own_and_their_failures_no_errors(tmp_path: Path) -> None:
    call = _call(
        tmp_path,
        simulation(
            "a",
            messages=[
                said("user", None, 1, tool("toggle_data", "user")),
                answer("toggle_data", "no signal", 2, error=True),
                said("assistant", None, 3, tool("toggle_data"), tool("toggle_data", id="again")),
                answer("toggle_data", "locked", 4, error=True),
                answer("toggle_data", "done", 5, id="again"),
                said("user", "###OUT-OF-SCOPE###", 6),
            ],
        ),
    )
    assert [state for state, _ in _states(call)] == ["opening", "user:toggle_data", "toggle_data"]
    assert [(each.by, each.error, each.result) for each in call.tool_calls] == [
        ("caller", "no signal", None),
        ("agent", "locked", None),
        ("agent", None, "done"),
    ]
    assert call.error_count() == 1
    assert [event.error for event in call.events if isinstance(event, GuardEvaluated)] == ["locked"]
    assert call.final_status == "out_of_scope"


def test_the_tool_behind_a_discoverable_call_is_the_state(tmp_path: Path) -> None:
    hidden: dict[str, Any] = {"agent_tool_name": "freeze_card_4471", "arguments": "{}"}
    reference = action("call_discoverable_agent_tool", **hidden)
    call = _call(
        tmp_path,
        simulation("a", messages=[said("assistant", None, 1, tool("call_discoverable_agent_tool", **hidden))]),
        task("1", reference),
    )
    assert _states(call)[-1] == ("freeze_card_4471", "action")
    assert [(step.name, step.called, step.matched) for step in call.expected_steps or ()] == [
        ("freeze_card_4471", True, True)
    ]
    assert call.flow == "retail/freeze"
    assert tool_of("call_discoverable_agent_tool", {"agent_tool_name": 3}) == "call_discoverable_agent_tool"


def test_an_answer_is_found_also_where_somebody_spoke_before_it(tmp_path: Path) -> None:
    messages = [
        said("assistant", None, 1, tool("get_order")),
        said("user", "Are you there?", 2),
        answer("get_order", "sent", 3),
        said("assistant", None, 4, tool("get_order"), tool("pay")),
        answer("pay", "paid", 5),
    ]
    call = _call(tmp_path, simulation("a", messages=messages))
    assert [each.result for each in call.tool_calls] == ["sent", None, "paid"]


def test_a_hand_over_is_an_escalation_unless_the_task_asks_for_it(tmp_path: Path) -> None:
    handed = simulation("a", messages=[said("assistant", None, 1, tool("transfer_to_human_agents", summary="x"))])
    call = _call(tmp_path, handed)
    assert call.contract is not None
    assert call.contract.escalation_terminals == ["transfer_to_human_agents"]
    wanted = _call(tmp_path, handed, task("1", action("transfer_to_human_agents", summary="y")))
    assert wanted.contract is not None
    assert wanted.contract.escalation_terminals == []


def test_latency_is_the_time_since_the_message_before_and_nothing_where_the_clock_does_not_tell(tmp_path: Path) -> None:
    call = _call(
        tmp_path,
        simulation(
            "a",
            messages=[
                said("assistant", "Hi", 1),
                said("user", "Hello", 4),
                said("assistant", None, 6, tool("get_order")),
                answer("get_order", "{}", 7),
                said("assistant", "Here", 9.5),
                said("assistant", "Backwards", 8),
                said("user", "Well", 11, timestamp=None),
                said("assistant", "Lost", 12),
                said("assistant", "Odd", 13, timestamp="soon"),
            ],
        ),
    )
    assert [event.latency_ms for event in call.events if isinstance(event, TurnComplete)] == [
        None,
        2500.0,
        None,
        None,
        None,
    ]


def test_a_call_without_a_reward_is_errored_and_says_why(tmp_path: Path) -> None:
    broken = simulation(
        "a",
        messages=[],
        duration=0.0,
        reward_info=None,
        termination_reason="infrastructure_error",
        info={"error": "rate limit", "error_type": "RateLimitError"},
    )
    call = _call(tmp_path, broken, task("1", action("cancel_order", "user")))
    assert (call.errored, call.error, call.passed, call.completed) == (True, "rate limit", None, False)
    assert (call.duration_s, call.events, call.final_state) == (None, [], None)
    assert [(step.by, step.called, step.matched) for step in call.expected_steps or ()] == [("caller", False, False)]
    stopped = _call(tmp_path, simulation("a", reward_info=None))
    assert (stopped.errored, stopped.error, stopped.stop_reason) == (True, "not scored", "terminal")


def test_a_caller_is_its_model_and_fails_where_it_broke_the_rules(tmp_path: Path) -> None:
    kept = _call(tmp_path, simulation("a"))
    assert (kept.caller, kept.caller_ok) == ("gpt-4.1-mini", None)
    broke = _call(tmp_path, simulation("a", termination_reason="user_error"))
    assert (broke.caller_ok, broke.errored, broke.error) == (False, True, "user_error")
    nobody = info(user_info={"implementation": "dummy_user", "llm": "gpt-4.1"})
    assert _call(tmp_path, simulation("a"), info=nobody).caller is None


def test_steps_of_a_cut_call_are_compared_anew(tmp_path: Path) -> None:
    cut = simulation(
        "a",
        messages=[said("assistant", None, 1, tool("cancel_order", order="#2"))],
        reward_info={"reward": 0.0, "action_checks": [], "info": {"note": "too early"}},
        termination_reason="max_steps",
    )
    call = _call(tmp_path, cut, task("1", action("cancel_order", order="#1"), action("cancel_order", order="#2")))
    assert [(step.called, step.matched) for step in call.expected_steps or ()] == [(True, False), (True, True)]
    assert (call.passed, call.stop_reason, call.errored) == (False, "max_turns", False)


def test_checks_of_another_task_count_and_are_noted(tmp_path: Path) -> None:
    odd = simulation("a", reward_info=rewarded(1.0, check(action("modify_order"), True)))
    path = write_results(tmp_path / "run.json", results([odd], task("1", action("cancel_order"))))
    found = read_source(path)
    (call,) = found
    assert call.flow == "retail/modify"
    assert [step.name for step in call.expected_steps or ()] == ["modify_order"]
    assert [(part.note.kind, part.note.conversation) for part in found.skipped] == [("mismatch", "a")]
    one = Task(1, Criteria([Action("pay", arguments={"a": 1})]))
    assert not is_of_another_task([Reference(Action("pay", arguments={"a": 1}))], one)


@pytest.mark.parametrize(
    ("more", "cost"),
    [
        ({"agent_cost": 0.02}, 0.02),
        ({"agent_cost": 0.0}, None),
        ({"agent_cost": None}, 0.02),
        ({"agent_cost": None, "messages": [said("assistant", "Hi", 1, cost=0.1), said("assistant", "?", 2)]}, None),
        ({"agent_cost": 0.5, "agent_usage": {"records": [], "cost": None}}, None),
        ({"agent_cost": 0.5, "agent_usage": {"records": [], "cost": 0.25}}, 0.25),
    ],
)
def test_a_cost_is_kept_where_there_is_a_price(tmp_path: Path, more: dict[str, Any], cost: float | None) -> None:
    assert _call(tmp_path, simulation("a", **more)).measured.get("agent_cost") == cost


def test_the_time_of_an_answer_that_comes_before_its_call_started_is_not_known(tmp_path: Path) -> None:
    call = _call(
        tmp_path, simulation("a", start_time=moment(5), messages=[said("user", "Hi", 2), said("user", "?", 8)])
    )
    assert [turn.t for turn in call.turns] == [None, 3.0]


def test_the_first_moment_of_a_year_is_no_time_that_anybody_knew(tmp_path: Path) -> None:
    unknown = "2025-01-01T00:00:00"
    messages = [said("user", "Hi", 1, timestamp=unknown), said("assistant", "Yes?", 1, timestamp=unknown)]
    call = _call(tmp_path, simulation("a", start_time=unknown, messages=messages), timestamp=unknown)
    assert call.started_at is None
    assert "2025" not in (call.run_id or "")
    assert [turn.t for turn in call.turns] == [None, None]
    assert not any(isinstance(event, TurnComplete) and event.latency_ms is not None for event in call.events)


def test_whole_numbers_stand_for_names(tmp_path: Path) -> None:
    call = _call(
        tmp_path, simulation("a") | {"task_id": 13, "trial": None}, task("x") | {"id": 13}, info=info(domain="airline")
    )
    assert (call.scenario, call.trial, call.flow) == ("13", 0, "airline/no-write")


@pytest.mark.parametrize(
    ("ticks", "defects"), [("[ ]", {}), ("[\n  ]", {}), ("null", {}), ("{}", {"ticks are not a list": 1})]
)
def test_a_call_without_ticks_is_one_of_text_however_that_is_written(
    tmp_path: Path, ticks: str, defects: dict[str, int]
) -> None:
    spoken = [said("user", "Hello?", 1), said("assistant", "Hi.", 2)]
    path = write_results(tmp_path / "run.json", results([simulation("s-1", messages=spoken, ticks="HERE")]))
    path.write_text(path.read_text("utf-8").replace('"HERE"', ticks), "utf-8")
    (call,) = read_source(path)
    assert ([turn.text for turn in call.turns], call.voice, call.defects) == (["Hello?", "Hi."], None, defects)
