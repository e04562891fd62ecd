"""What is blamed for a failed call, each rule of docs/metrics.md, section 15."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from tests.support import blame_oracle, failure_oracle
from tests.support.random_streams import demanding_call, random_call
from tests.surface.ingest import (
    DERIVED,
    Contract,
    Conversation,
    Event,
    ExpectedAnswer,
    GuardEvaluated,
    ReferenceStep,
    SlotFilled,
    StateContract,
    StateEntered,
    StateExited,
    ToolCall,
    Turn,
    TurnComplete,
    facts_of,
)
from tests.surface.store import ConversationFacts, Failure

BOOKING = Contract(success_terminals=["booked"], escalation_terminals=["human"])


def facts(events: list[Event], *tools: ToolCall, **given: Any) -> ConversationFacts:
    settings: dict[str, Any] = {"completed": False, "contract": BOOKING, "tool_calls": list(tools)}
    call = Conversation(conversation_id="1", flow="viewing", events=events, **(settings | given))
    return facts_of(call, default_run="night-1")[0]


def failure(events: list[Event], *tools: ToolCall, **given: Any) -> Failure | None:
    return facts(events, *tools, **given).failure


Blame = tuple[str | None, str | None, str, str | None, str | None]


def blame(events: list[Event], *tools: ToolCall, **given: Any) -> Blame | None:
    """The last good state, the one that is blamed, the kind, its detail and the error."""
    found = failure(events, *tools, **given)
    return None if found is None else (found.last_ok, found.first_failed, found.kind, found.detail, found.error)


def moment(events: list[Event], *tools: ToolCall, **given: Any) -> tuple[str | None, int | None, float | None]:
    """Which entry of which list it was, and when."""
    found = failure(events, *tools, **given)
    assert found is not None
    return found.list, found.place, found.t


def walk(*states: str, apart: float = 10.0) -> list[Event]:
    """A clean stream through states, `apart` seconds in each; the last one stays open."""
    events: list[Event] = []
    for place, state in enumerate(states):
        if place:
            events.append(StateExited(states[place - 1], state, t=place * apart))
        events.append(StateEntered(state, t=place * apart))
    return events


# Which calls failed


@pytest.mark.parametrize(
    ("events", "given", "success"),
    [
        (walk("greet", "booked"), {"completed": True, "stop_reason": "terminal"}, True),
        # A success terminal serves whatever the flag says; a call that is not complete is no success all the same.
        (walk("greet", "booked"), {"completed": None}, True),
        (walk("greet", "booked"), {"completed": False}, False),
        (walk("greet", "booked"), {"completed": True, "stop_reason": "max_turns"}, False),
        (walk("greet", "human"), {"completed": True, "stop_reason": "terminal"}, False),
        (walk("greet"), {"contract": None, "completed": True, "stop_reason": "terminal"}, True),
        (walk("greet"), {"contract": None, "completed": False}, False),
        # Known without correctness; unknown where neither a flag nor a terminal tells.
        (walk("greet"), {"contract": None, "completed": None}, None),
        (walk("greet", "escalated"), {"contract": None, "completed": None}, False),
        ([], {"contract": None, "completed": None}, None),
        # Where the source knows whether the task was done, that counts.
        (walk("greet"), {"contract": None, "completed": True, "stop_reason": "terminal", "passed": False}, False),
        (walk("greet"), {"contract": None, "completed": None, "passed": True}, True),
        (walk("greet"), {"contract": None, "completed": False, "passed": True}, False),
    ],
)
def test_a_call_is_a_success_where_it_was_served_and_is_correct_and_complete(
    events: list[Event], given: dict[str, Any], success: bool | None
) -> None:
    found = facts(events, **given)
    assert found.success is success
    assert (found.failure is not None) is (success is False)


def test_a_call_whose_integration_broke_has_no_failure_and_is_lost_nowhere() -> None:
    for broken in ({"errored": True}, {"caller_ok": False}):
        found = facts(walk("greet", "collect"), **broken)
        assert found.failure is None
        assert not any(row.lost for row in found.states)


# What is blamed


def test_a_call_that_just_ends_is_blamed_on_its_last_working_state() -> None:
    dead = ("greet", "collect", "dead end", "max_turns", None)
    assert blame(walk("greet", "collect"), stop_reason="max_turns") == dead
    assert blame(walk("greet")) == (None, "greet", "dead end", None, None)
    assert blame([*walk("greet", "collect"), StateExited("collect", "confirm")], stop_reason="max_turns") == dead


def test_a_call_that_is_handed_over_is_blamed_where_it_was_left() -> None:
    handed = ("greet", "collect", "hand-off", None, None)
    assert blame(walk("greet", "collect", "human")) == handed
    assert blame(walk("greet", "collect"), final_state="human") == handed
    assert blame([*walk("greet", "collect"), StateExited("collect"), StateEntered("human")]) == handed


def test_an_end_that_is_not_of_the_contract_is_blamed_on_the_last_working_state() -> None:
    over: dict[str, Any] = {"completed": True, "stop_reason": "terminal"}
    assert blame(walk("greet", "denied"), **over) == ("greet", "denied", "off contract", "denied", None)
    status = msgspec.structs.replace(BOOKING, final_statuses=["ok"])
    ended = walk("greet", "book", "booked")
    assert blame(ended, **over, contract=status, final_status="lost") == ("greet", "book", "off contract", "lost", None)
    assert blame(ended, **over, contract=status, final_status="ok") is None


def test_a_guard_that_raises_comes_before_what_follows_from_it_unless_it_is_evaluated_well_later() -> None:
    raised = GuardEvaluated("has_date", error="LookupError: no 'date' in 17 slots", t=12.0)
    events = [*walk("greet", "collect"), raised, StateExited("collect", "confirm"), StateEntered("confirm")]
    assert blame(events) == ("greet", "collect", "guard error", "has_date", "LookupError: no * in * slots")
    assert moment(events) == ("events", 3, 12.0)
    assert blame([*events, GuardEvaluated("other")]) == blame(events)
    assert blame([*events, GuardEvaluated("has_date", False)]) == ("collect", "confirm", "dead end", None, None)
    assert blame([GuardEvaluated("has_date", False), *events]) == blame(events)


@pytest.mark.parametrize("nothing", [None, False, 0, 0.0, ""])
def test_an_error_that_says_nothing_is_none(nothing: object) -> None:
    events = [*walk("greet", "collect"), GuardEvaluated("has_date", error=nothing)]
    found = blame(events, ToolCall("find", t=12.0, error=nothing))
    assert found == ("greet", "collect", "dead end", None, None)


def test_a_tool_that_fails_is_blamed_unless_it_is_called_well_later_in_the_call() -> None:
    events = walk("greet", "find_unit", "confirm")
    broken, good, later = ToolCall("find", t=12.0, error="timeout after 5 s"), ToolCall("find", t=14.0), 25.0
    found = ("greet", "find_unit", "tool error", "find", "timeout after * s")
    assert blame(events, broken) == found
    assert moment(events, broken) == ("tool_calls", 0, 12.0)
    assert blame(events, broken, good) == ("find_unit", "confirm", "dead end", None, None)
    assert blame(events, broken, ToolCall("find", t=later)) == ("find_unit", "confirm", "dead end", None, None)
    assert blame(events, good, broken) == found
    assert blame(events, broken, ToolCall("other", t=14.0)) == found
    assert blame(events, broken, ToolCall("find", t=14.0, by="caller")) == found


def test_arguments_that_do_not_fit_the_schema_of_a_tool_are_an_error_of_it() -> None:
    misfit = ToolCall("find", t=12.0, fits=False)
    said = "arguments do not fit the schema"
    assert blame(walk("greet", "find_unit"), misfit) == ("greet", "find_unit", "tool error", "find", said)
    assert blame(walk("greet", "find_unit"), misfit, ToolCall("find", t=13.0, fits=True)) == (
        "greet", "find_unit", "dead end", None, None,
    )  # fmt: skip


def test_a_tool_that_is_called_as_the_state_changes_belongs_to_the_state_that_called_it() -> None:
    broken = ToolCall("find", t=10.0, error="timeout")
    assert blame(walk("collect", "confirm"), broken) == (None, "collect", "tool error", "find", "timeout")
    assert blame(walk("collect", "find"), broken) == ("collect", "find", "tool error", "find", "timeout")


def test_a_tool_is_of_the_state_that_it_names_then_of_the_one_that_the_flow_gives_it_to() -> None:
    events, own = walk("greet", "collect", "confirm"), {"collect": StateContract(tool="find")}
    broken = ToolCall("find", error="timeout")
    flow = msgspec.structs.replace(BOOKING, states=own)
    assert failure(events, broken, contract=flow).first_failed == "collect"  # type: ignore[union-attr]
    named = msgspec.structs.replace(broken, state="greet")
    assert failure(events, named, contract=flow).first_failed == "greet"  # type: ignore[union-attr]
    both = msgspec.structs.replace(BOOKING, states=own | {"confirm": StateContract(tool="find")})
    placed = msgspec.structs.replace(broken, seq=5, t=0.0)
    assert failure(events, placed, contract=both).first_failed == "confirm"  # type: ignore[union-attr]


def test_the_order_of_lines_places_a_tool_before_its_time_does() -> None:
    still: list[Event] = [StateEntered("greet", t=0.0), StateEntered("collect", t=0.0), StateEntered("end", t=0.0)]
    assert blame(still, ToolCall("find", t=0.0, error="no", seq=2)) == ("greet", "collect", "tool error", "find", "no")
    turns = [Turn("caller", "Hi"), Turn("agent", "Hello")]
    spoken: list[Event] = [StateEntered("greet"), TurnComplete(), StateEntered("collect")]
    assert blame(spoken, ToolCall("find", error="no", seq=4), turns=turns) == (
        None, "greet", "tool error", "find", "no",
    )  # fmt: skip
    assert blame(spoken, ToolCall("find", error="no", seq=5), turns=turns) == (
        "greet", "collect", "tool error", "find", "no",
    )  # fmt: skip


def test_tools_of_which_nothing_tells_where_make_no_visit_fail() -> None:
    broken = ToolCall("find", error="timeout")
    assert blame(walk("greet", "collect"), broken) == ("greet", "collect", "dead end", None, None)
    unclocked: list[Event] = [StateEntered("greet"), StateEntered("collect")]
    assert blame(unclocked, ToolCall("find", t=3.0, error="timeout")) == ("greet", "collect", "dead end", None, None)


@pytest.mark.parametrize(
    ("tool", "who"),
    [
        (ToolCall("find", t=11.0, error="no such unit"), "agent"),
        (ToolCall("find", t=11.0, error="HTTP 503"), "backend"),
        (ToolCall("find", t=11.0, error={"message": "connection reset by peer"}), "backend"),
        (ToolCall("find", t=11.0, error="the lease runs 5 years"), "agent"),
        (ToolCall("reboot", t=11.0, error="timed out", by="caller"), "caller"),
    ],
)
def test_says_whose_fault_it_was(tool: ToolCall, who: str) -> None:
    found = failure(walk("greet", "collect"), tool)
    assert found is not None
    assert (found.kind, found.who) == ("tool error", who)
    assert found.detail == found.tool == ("user:reboot" if who == "caller" else "find")


ASKING = msgspec.structs.replace(
    BOOKING, states={"collect": StateContract(required_slots=["name"]), "book": StateContract(tool=["hold", "pay"])}
)


def test_a_state_that_is_left_forward_without_its_slot_is_blamed_unless_the_slot_is_filled_later() -> None:
    events = walk("greet", "collect", "confirm")
    found = ("greet", "collect", "missing slot", "name", None)
    assert blame(events, contract=ASKING) == found
    assert moment(events, contract=ASKING) == ("events", 3, 20.0)
    assert blame([*events, SlotFilled("name", "Ada")], contract=ASKING) == (
        "collect",
        "confirm",
        "dead end",
        None,
        None,
    )
    assert blame(events, contract=ASKING, slots={"name": "Ada"}) == ("collect", "confirm", "dead end", None, None)
    assert blame([*events, SlotFilled("name", None)], contract=ASKING) == found
    # Whoever is stuck in a state or hands over there has not left it forward.
    assert blame(walk("greet", "collect"), contract=ASKING) == ("greet", "collect", "dead end", None, None)
    assert blame(walk("greet", "collect", "human"), contract=ASKING) == ("greet", "collect", "hand-off", None, None)


def test_a_state_that_is_left_forward_without_a_call_of_its_tool_is_blamed() -> None:
    events, hold, pay = walk("greet", "book", "booked"), ToolCall("hold", t=11.0), ToolCall("pay", t=12.0)
    over: dict[str, Any] = {"completed": True, "stop_reason": "terminal", "contract": ASKING}
    assert facts(events, hold, pay, **over).success is True
    assert blame(events, hold, **over) == ("greet", "book", "missing action", "pay", None)
    assert failure(events, hold, **over).tool == "pay"  # type: ignore[union-attr]
    refused = msgspec.structs.replace(pay, error="no funds")
    assert blame(events, hold, refused, **over) == ("greet", "book", "tool error", "pay", "no funds")
    # Somebody else's tool of the same name is not that of the state.
    assert blame(events, hold, msgspec.structs.replace(pay, by="caller"), **over) == (
        "greet", "book", "missing action", "pay", None,
    )  # fmt: skip
    # A call that says of itself that it ended at the goal has left its last state for it.
    assert blame(walk("greet", "book"), hold, **over, final_state="booked") == (
        "greet", "book", "missing action", "pay", None,
    )  # fmt: skip


def test_what_the_whole_flow_asks_for_and_no_state_does_is_missed_where_the_call_ended() -> None:
    over: dict[str, Any] = {"completed": True, "stop_reason": "terminal"}
    events = walk("greet", "book", "booked")
    flow = msgspec.structs.replace(BOOKING, required_tools=["pay"])
    assert blame(events, **over, contract=flow) == ("greet", "book", "missing action", "pay", None)
    assert moment(events, **over, contract=flow) == (None, None, 20.0)
    flow = msgspec.structs.replace(BOOKING, required_slots=["name"])
    assert blame(events, **over, contract=flow) == ("greet", "book", "missing slot", "name", None)


def test_a_slot_with_another_value_than_the_caller_gave_is_blamed_unless_it_is_corrected() -> None:
    wrong = SlotFilled("name", "Bob", t=5.0)
    events: list[Event] = [StateEntered("greet", t=0.0), wrong, StateEntered("collect", t=10.0)]
    found = (None, "greet", "wrong slot", "name", None)
    assert blame(events, facts={"name": "Ada"}) == found
    assert moment(events, facts={"name": "Ada"}) == ("events", 1, 5.0)
    assert blame(events, facts={"name": "bob "}) == ("greet", "collect", "dead end", None, None)
    assert blame(events, facts={"date": "May"}) == ("greet", "collect", "dead end", None, None)
    right = SlotFilled("name", "Ada", t=12.0)
    assert blame([*events, right], facts={"name": "Ada"}) == ("greet", "collect", "dead end", None, None)
    assert blame(events, facts={"name": "Ada"}, slots={"name": "Ada"}) == ("greet", "collect", "dead end", None, None)
    # A value that no event shows is blamed at the end.
    assert blame(walk("greet", "collect"), facts={"name": "Ada"}, slots={"name": "Bob"}) == (
        "greet", "collect", "wrong slot", "name", None,
    )  # fmt: skip


def test_coming_back_twice_with_nothing_new_is_a_loop() -> None:
    events = walk("greet", "collect", "greet", "collect", "greet", "collect", "confirm")
    assert blame(events) == ("collect", "greet", "loop", None, None)
    assert moment(events) == ("events", 8, 40.0)
    learnt = SlotFilled("name", "Ada", "collect")
    assert blame([*events[:6], learnt, *events[6:]]) == ("greet", "collect", "loop", None, None)
    again = SlotFilled("name", "Ada", "collect")
    assert blame([learnt, *events[:6], again, *events[6:]]) == ("collect", "greet", "loop", None, None)


def test_of_several_things_in_one_visit_the_order_of_the_kinds_decides_and_of_several_visits_the_first() -> None:
    wrong, raised = SlotFilled("name", "Bob", t=11.0), GuardEvaluated("has_date", error="no date", t=13.0)
    tool = ToolCall("find", t=12.0, error="timeout")
    events = [*walk("greet", "collect"), wrong, raised, StateExited("collect", "confirm", t=20.0)]
    told: dict[str, Any] = {"contract": ASKING, "facts": {"name": "Ada"}}
    assert failure(events, tool, **told).kind == "guard error"  # type: ignore[union-attr]
    events.remove(raised)
    assert failure(events, tool, **told).kind == "tool error"  # type: ignore[union-attr]
    assert failure(events, **told).kind == "wrong slot"  # type: ignore[union-attr]
    earlier = msgspec.structs.replace(tool, t=1.0)
    assert blame([*events, raised], earlier, **told) == (None, "greet", "tool error", "find", "timeout")


def test_what_happens_in_a_terminal_is_of_the_working_state_before_it() -> None:
    events = [*walk("greet", "collect", "human"), GuardEvaluated("bye", error="no bye")]
    assert blame(events) == ("greet", "collect", "guard error", "bye", "no bye")


def test_a_call_without_visits_is_kept_with_nothing_found() -> None:
    nothing = (None, None, "none", None, None)
    assert blame([]) == nothing
    assert blame(walk("human")) == nothing
    brought = [{"state": "greet", "stall": 1}]
    assert blame([], state_aspects=brought) == nothing


def test_the_moment_is_a_turn_as_well() -> None:
    turns = [
        Turn("caller", "Hi", 1.0),
        Turn("agent", "Hello", 2.0),
        Turn("caller", "Now", 8.0),
        Turn("agent", "?", 14.0),
    ]
    events = walk("greet", "collect")
    broken = failure(events, ToolCall("find", t=12.0, error="timeout"), turns=turns)
    ended = failure(events, turns=turns)
    assert broken is not None
    assert ended is not None
    assert (broken.turn, broken.t) == (3, 12.0)
    assert (ended.turn, ended.t, ended.list) == (4, 14.0, None)


@pytest.mark.parametrize("make", [random_call, demanding_call])
def test_random_streams_fail_where_a_second_computation_says(make: Any) -> None:
    chance = random.Random(11)
    kinds = set()
    for number in range(2000):
        line = make(number, chance)
        found = facts_of(msgspec.convert(line, Conversation), default_run="r")[0]
        wanted = failure_oracle.blame(line)
        if not blame_oracle.is_errored(line):
            assert found.success is blame_oracle.success(line), line
        assert not any(row.lost for row in found.states) or found.failure is not None
        blamed = found.failure
        if blamed is None:
            assert wanted is None, line
        else:
            names = (blamed.last_ok or "(start)", blamed.first_failed or "(none found)")
            assert (*names, blamed.kind, blamed.detail) == wanted, line
            kinds.add(blamed.kind)
            assert blamed.list is None or blamed.place is not None
    always = {"guard error", "tool error", "hand-off", "dead end", "loop", "off contract", "none"}
    assert kinds == always | ({"wrong slot", "missing slot", "missing action"} if make is demanding_call else set())


# Calls whose states are derived from tools


def step(name: str, *, called: bool = True, matched: bool | None = True, **given: Any) -> ReferenceStep:
    return ReferenceStep(name, called=called, matched=matched if called else None, **given)


def derived(
    *steps: ReferenceStep, states: tuple[str, ...] = ("opening", "find"), tools: tuple[ToolCall, ...] = (), **given: Any
) -> Blame | None:
    settings: dict[str, Any] = {
        "contract": None, "completed": True, "passed": False, "origin": DERIVED, "stop_reason": "terminal",
        "expected_steps": list(steps),
    }  # fmt: skip
    return blame(walk(*states), *tools, **(settings | given))


def test_a_changing_step_that_was_never_taken_is_blamed_and_a_reading_one_where_nothing_else_is_found() -> None:
    missed = ("find", "user:toggle_roaming", "missing action", None, None)
    steps = (
        step("find"), step("toggle_roaming", called=False, by="caller"), step("enable_roaming", called=False)
    )  # fmt: skip
    assert derived(*steps) == missed
    assert derived(*steps, completed=False) == missed
    assert derived(step("find", called=False), step("pay", called=False))[1:3] == ("pay", "missing action")  # type: ignore[index]
    assert derived(step("pay", called=False)) == (None, "pay", "missing action", None, None)
    assert derived(step("find", called=False)) == (None, "find", "missing step", None, None)
    # The source says so before the name does.
    assert derived(step("find", called=False, changes=True))[2] == "missing action"  # type: ignore[index]
    assert derived(step("pay", called=False, changes=False))[2] == "missing step"  # type: ignore[index]
    assert derived(*steps, passed=True) is None
    assert derived(*steps, errored=True) is None


def test_a_step_that_was_never_taken_is_of_the_phase_that_its_tool_is_of() -> None:
    def phase(name: str) -> str | None:
        missed = failure(
            walk("opening"), contract=None, completed=True, passed=False, origin=DERIVED, stop_reason="terminal",
            expected_steps=[step(name, called=False)],
        )  # fmt: skip
        assert missed is not None
        return missed.segment

    assert [phase(name) for name in ("exchange_items", "grant_permission", "transfer_to_human_agents")] == [
        "action", "action", "exit"
    ]  # fmt: skip


def test_an_action_that_matches_no_step_is_wrong_unless_it_is_taken_rightly_later() -> None:
    wanted = step("book", matched=False, arguments={"day": "May 2", "seats": 2})
    states = ("opening", "book", "find", "book")
    wrong = ToolCall("book", t=11.0, arguments={"day": "May 3", "seats": 2})
    right = ToolCall("book", t=31.0, arguments={"day": "May 2", "seats": 2})
    assert derived(wanted, states=states, tools=(wrong,)) == ("opening", "book", "wrong action", "day", None)
    assert derived(step("pay", called=False), wanted, states=states, tools=(wrong, right))[2] == "missing action"  # type: ignore[index]
    assert derived(wanted, states=states, tools=(wrong, ToolCall("cancel", t=32.0)))[3] == "day"  # type: ignore[index]
    unasked = ToolCall("cancel", t=11.0)
    assert derived(states=states, tools=(unasked,))[2:4] == ("wrong action", "not asked for")  # type: ignore[index]
    # Reading another way round is not a fault.
    assert derived(states=("opening", "get_user"), tools=(ToolCall("get_user", t=11.0),), completed=False,
                   stop_reason="max_turns") == ("opening", "get_user", "dead end", "max_turns", None)  # fmt: skip


def test_an_action_that_is_refused_and_never_made_good_is_blamed_at_its_call() -> None:
    refused = ToolCall("pay", t=11.0, error="no funds")
    states = ("opening", "pay", "find")
    assert derived(step("pay"), states=states, tools=(refused,)) == (
        "opening", "pay", "refused action", None, "no funds",
    )  # fmt: skip
    assert derived(step("pay"), states=states, tools=(refused, ToolCall("pay", t=25.0)))[2] != "refused action"  # type: ignore[index]
    # The earlier of a wrong and a refused action.
    wrong = ToolCall("cancel", t=5.0)
    assert derived(step("pay"), states=("opening", "cancel", "pay"), tools=(wrong, refused))[1] == "cancel"  # type: ignore[index]


def test_what_the_agent_was_to_say_and_never_said_is_blamed_on_its_last_turn() -> None:
    turns = [Turn("agent", "Hello", 1.0), Turn("agent", "Bye", 12.0), Turn("caller", "Bye", 13.0)]
    answers = [ExpectedAnswer("the total", True), ExpectedAnswer("the fee is 5", False)]
    given: dict[str, Any] = {"turns": turns, "expected_answers": answers}
    assert derived(**given) == (None, "find", "missing answer", "the fee is 5", None)
    found = failure(walk("opening", "find"), contract=None, completed=True, passed=False, origin=DERIVED,
                    stop_reason="terminal", expected_steps=[], **given)  # fmt: skip
    assert found is not None
    assert (found.list, found.place, found.turn, found.t) == ("turns", 1, 2, 12.0)
    # Actions come first, reading last.
    assert derived(step("pay", called=False), **given)[2] == "missing action"  # type: ignore[index]
    assert derived(step("find", called=False), **given)[2] == "missing answer"  # type: ignore[index]


def test_a_reading_tool_with_other_arguments_is_blamed_where_nothing_else_is_found() -> None:
    wrong = step("find", matched=False, arguments={"id": 1})
    asked = ToolCall("find", t=11.0, arguments={"id": 2})
    assert derived(wrong, tools=(asked,)) == (None, "find", "wrong arguments", "id", None)
    assert derived(wrong, step("pay", called=False), tools=(asked,))[2] == "missing action"  # type: ignore[index]


def test_without_a_task_a_derived_call_tells_of_tools_that_failed_and_of_no_loop() -> None:
    again = ("opening", "find", "look", "find", "look", "find", "close")
    given: dict[str, Any] = {"expected_steps": None, "states": again}
    assert derived(**given) == ("find", "close", "dead end", "terminal", None)
    assert derived(**given, completed=False, stop_reason="max_turns")[2:4] == ("dead end", "max_turns")  # type: ignore[index]
    failed = ToolCall("find", t=12.0, error="no such line")
    assert derived(expected_steps=None, tools=(failed,)) == ("opening", "find", "tool error", "find", "no such line")


def test_steps_of_the_task_say_nothing_of_calls_with_states_of_their_own() -> None:
    steps = [step("find", called=False)]
    found = blame(walk("greet", "booked"), completed=True, passed=False, expected_steps=steps, stop_reason="terminal")
    assert found == (None, "greet", "off contract", "booked", None)
