"""Where a call that was not served first went wrong, each rule of docs/metrics.md, section 15."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from tests.support import failure_oracle
from tests.support.random_streams import random_call
from tests.surface.ingest import (
    DERIVED,
    Contract,
    Conversation,
    Event,
    GuardEvaluated,
    ReferenceStep,
    SlotFilled,
    StateEntered,
    StateExited,
    ToolCall,
    facts_of,
)
from tests.surface.store import Failure

BOOKING = Contract(success_terminals=["booked"], escalation_terminals=["human"])


def failure(events: list[Event], *tools: ToolCall, **given: Any) -> Failure | None:
    settings: dict[str, Any] = {"completed": False, "contract": BOOKING, "tool_calls": list(tools)}
    call = Conversation(conversation_id="1", flow="viewing", events=events, **(settings | given))
    return facts_of(call, default_run="night-1")[0].failure


def walk(*states: str, apart: float = 10.0) -> list[Event]:
    """A clean stream through states, `apart` seconds in each; the last one stays open."""
    events: list[Event] = []
    for place, state in enumerate(states):
        if place:
            events.append(StateExited(states[place - 1], state, t=place * apart))
        events.append(StateEntered(state, t=place * apart))
    return events


def test_a_call_that_was_served_or_errored_has_no_failure() -> None:
    assert failure(walk("greet", "booked"), completed=True) is None
    assert failure(walk("greet", "booked")) is None
    assert failure(walk("greet", "collect"), errored=True) is None


def test_a_call_of_which_nobody_knows_how_it_ended_has_none() -> None:
    assert failure(walk("greet", "collect"), completed=None, contract=None) is None
    assert failure([], completed=None) is None


def test_a_call_that_just_ends_stalls_in_its_last_working_state() -> None:
    assert failure(walk("greet", "collect")) == Failure("greet", "collect", "stall")
    assert failure(walk("greet")) == Failure(None, "greet", "stall")
    assert failure([*walk("greet", "collect"), StateExited("collect", "confirm")]) == Failure(
        "greet", "collect", "stall"
    )


def test_a_call_that_is_handed_over_escalates_where_it_was_left() -> None:
    handed = Failure("greet", "collect", "escalation")
    assert failure(walk("greet", "collect", "human")) == handed
    assert failure(walk("greet", "collect"), final_state="human") == handed
    assert failure([*walk("greet", "collect"), StateExited("collect"), StateEntered("human")]) == handed


def test_a_guard_that_raises_comes_before_what_follows_from_it() -> None:
    raised = GuardEvaluated("has_date", error="LookupError: no 'date' in 17 slots")
    events = [*walk("greet", "collect"), raised, StateExited("collect", "confirm"), StateEntered("confirm")]
    assert failure(events) == Failure("greet", "collect", "guard error", "has_date", "LookupError: no * in * slots")


@pytest.mark.parametrize("nothing", [None, False, 0, 0.0, ""])
def test_an_error_that_says_nothing_is_none(nothing: object) -> None:
    events = [*walk("greet", "collect"), GuardEvaluated("has_date", error=nothing)]
    found = failure(events, ToolCall("find", t=12.0, error=nothing))
    assert found == Failure("greet", "collect", "stall")


def test_a_tool_that_fails_counts_unless_it_is_made_good_in_the_visit() -> None:
    events = walk("greet", "find_unit", "confirm")
    broken, good, later = ToolCall("find", t=12.0, error="timeout after 5 s"), ToolCall("find", t=14.0), 25.0
    assert failure(events, broken) == Failure("greet", "find_unit", "tool error", "find", "timeout after * s")
    assert failure(events, broken, good) == Failure("find_unit", "confirm", "stall")
    assert failure(events, broken, ToolCall("find", t=later)) == failure(events, broken)
    assert failure(events, broken, ToolCall("other", t=14.0)) == failure(events, broken)


def test_a_tool_that_is_called_as_the_state_changes_belongs_to_the_state_that_called_it() -> None:
    broken = ToolCall("find", t=10.0, error="timeout")
    assert failure(walk("collect", "confirm"), broken) == Failure(None, "collect", "tool error", "find", "timeout")
    derived = failure(walk("collect", "find"), broken)
    assert derived == Failure("collect", "find", "tool error", "find", "timeout")


def test_tools_without_a_clock_make_no_visit_fail() -> None:
    broken = ToolCall("find", error="timeout")
    assert failure(walk("greet", "collect"), broken) == Failure("greet", "collect", "stall")
    unclocked: list[Event] = [StateEntered("greet"), StateEntered("collect")]
    assert failure(unclocked, ToolCall("find", t=3.0, error="timeout")) == Failure("greet", "collect", "stall")


def test_callers_tools_are_named_as_theirs() -> None:
    found = failure(walk("greet", "collect"), ToolCall("reboot", t=11.0, error="refused", by="caller"))
    assert found == Failure("greet", "collect", "tool error", "user:reboot", "refused")


def test_coming_back_twice_with_nothing_new_is_a_loop() -> None:
    events = walk("greet", "collect", "greet", "collect", "greet", "collect", "confirm")
    assert failure(events) == Failure("collect", "greet", "loop")
    learnt = SlotFilled("name", "Ada", "collect")
    assert failure([*events[:6], learnt, *events[6:]]) == Failure("greet", "collect", "loop")
    again = SlotFilled("name", "Ada", "collect")
    assert failure([learnt, *events[:6], again, *events[6:]]) == Failure("collect", "greet", "loop")


def test_a_call_without_visits_is_kept_with_nothing_found() -> None:
    assert failure([]) == Failure(None, None, "none")
    assert failure(walk("human")) == Failure(None, None, "none")
    brought = [{"state": "greet", "stall": 1}]
    assert failure([], state_aspects=brought) == Failure(None, None, "none")


def test_random_streams_fail_where_a_second_computation_says() -> None:
    chance = random.Random(11)
    kinds = set()
    for number in range(1000):
        line = random_call(number, chance)
        found = facts_of(msgspec.convert(line, Conversation), default_run="r")[0].failure
        wanted = failure_oracle.first_failed(line)
        if found is None:
            assert wanted is None, line
        else:
            names = (found.last_ok or "(start)", found.first_failed or "(none found)")
            assert (*names, found.kind, found.detail) == wanted, line
            kinds.add(found.kind)
    assert kinds == {"guard error", "tool error", "stall", "escalation", "loop", "none"}


# calls whose states are derived from tools


def step(name: str, *, called: bool = True, matched: bool | None = True, by: str = "agent") -> ReferenceStep:
    return ReferenceStep(name, by, called, matched if called else None)


def derived(*steps: ReferenceStep, states: tuple[str, ...] = ("opening", "find"), **given: Any) -> Failure | None:
    settings: dict[str, Any] = {"contract": None, "completed": True, "passed": False, "origin": DERIVED}
    return failure(walk(*states), **(settings | given), expected_steps=list(steps))


def test_a_derived_call_that_ended_well_and_did_not_do_its_task_failed_at_the_first_step_that_it_missed() -> None:
    missed = Failure("find", "user:toggle_roaming", "missed step")
    steps = (step("find"), step("toggle_roaming", called=False, by="caller"), step("enable_roaming", called=False))
    assert derived(*steps) == missed
    assert derived(*steps, completed=False) == missed
    assert derived(*steps, passed=None, completed=False) == missed
    assert derived(step("pay", called=False)) == Failure(None, "pay", "missed step")
    assert derived(*steps, passed=True) is None
    assert derived(*steps, passed=True, completed=False) is None
    assert derived(*steps, passed=None) is None
    assert derived(*steps, errored=True) is None


def test_a_step_with_other_arguments_is_where_a_derived_call_failed_unless_one_before_it_was_missed() -> None:
    wrong = step("book", matched=False)
    assert derived(step("find"), wrong, step("pay", called=False)) == Failure("find", "book", "wrong arguments")
    assert derived(step("pay", called=False), wrong) == Failure(None, "pay", "missed step")
    assert derived(step("find"), step("book", matched=None)) == Failure(None, None, "none")


def test_a_derived_call_with_all_its_steps_right_tells_of_tools_that_failed_and_of_no_end_or_loop() -> None:
    again = ("opening", "find", "look", "find", "look", "find", "close")
    assert derived(step("find"), states=again) == Failure(None, None, "none")
    assert derived(step("find"), states=again, completed=False) == Failure("find", "close", "stall")
    events = [*walk("opening", "find"), GuardEvaluated("find", None, "no such line")]
    assert failure(events, contract=None, completed=True, passed=False, origin=DERIVED) == Failure(
        "opening", "find", "guard error", "find", "no such line"
    )


def test_steps_and_the_outcome_of_the_task_say_nothing_of_calls_with_states_of_their_own() -> None:
    steps = [step("find", called=False)]
    assert failure(walk("greet", "booked"), completed=True, passed=False, expected_steps=steps) is None
    assert failure(walk("greet", "collect"), passed=True, expected_steps=steps) == Failure("greet", "collect", "stall")
