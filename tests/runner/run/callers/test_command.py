"""A caller that is a program: it is told who calls and why, and its failures are the caller's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.programs import program
from tests.support.toy_calls import ToyAgent, play, stays, toy_case, walks
from tests.surface.runner import CALLER_MOST_MESSAGES as MOST_MESSAGES
from tests.surface.runner import CommandCaller, EndpointRefused, Program, SpokenFact, Unavailable

READY = "hear(); tell(type='ready')\n"


def caller(source: str, timeout_s: float = 60.0) -> CommandCaller:
    return CommandCaller(program(source), timeout_s)


async def test_it_knows_who_calls_and_speaks_for_them() -> None:
    case = replace(toy_case(), facts={"name": SpokenFact("Ana", "it's Ana")})
    source = """
start = hear()
assert (start["type"], start["protocol"], start["flow"], start["scenario"]) == ("start", 1, "toy", "plain"), start
assert start["persona"]["name"] and start["facts"] == {"name": {"value": "Ana", "say": "it's Ana"}}, start
tell(type="ready")
agent = hear()
assert agent == {"type": "agent", "text": "", "turn": 0, "state": None, "again": False}, agent
tell(type="say", text="Hello,", final=False)
tell(type="say", text=start["facts"]["name"]["say"])
agent = hear()
assert (agent["text"], agent["turn"]) == ("That brings us to ask.", 1), agent
tell(type="say", text="Ana.")
"""
    call = (await play(ToyAgent(walks), caller(source), case=case)).conversation
    assert [turn.text for turn in call.turns if turn.role == "caller"] == ["Hello, it's Ana", "Ana."]
    assert (call.stop_reason, call.caller_ok, call.slots) == ("terminal", True, {"name": "Ana."})


async def test_it_hangs_up_with_its_opinion_and_the_agent_answers_once_more() -> None:
    source = (
        READY
        + """
hear(); tell(type="say", text="Hello.")
hear(); tell(type="say", text="Thanks, bye.", final=False); tell(type="end_call", success=False, reason="no flat")
"""
    )
    call = (await play(ToyAgent(stays), caller(source))).conversation
    assert (call.stop_reason, call.errored, call.completed) == ("hangup", False, False)
    assert [turn.text for turn in call.turns] == ["Hello.", "And then?", "Thanks, bye.", "And then?"]


async def test_errors_that_it_survives_are_kept_beside_the_call() -> None:
    source = READY + "hear(); tell(type='error', kind='slow', message='busy'); tell(type='end_call', text='Bye.')"
    made = await play(ToyAgent(stays), caller(source))
    assert made.extra["caller_requests"] == [{"error": "slow", "message": "busy"}]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("sys.exit('no model')", "caller: it ended, exit status 1: no model"),
        (READY + "hear(); print('Hi there')", "caller: a line is not a JSON object: 'Hi there'"),
        (READY + "hear()\nwhile True: tell(type='thinking')", f"caller: it sent more than {MOST_MESSAGES:,} messages"),
    ],
)
async def test_its_failures_are_on_its_side(source: str, why: str) -> None:
    with pytest.raises(Unavailable) as failed:
        await play(ToyAgent(stays), caller(source))
    assert why in str(failed.value)


async def test_it_is_not_waited_for_longer_than_a_turn_may_take() -> None:
    with pytest.raises(Unavailable, match=r"caller: no answer within 0\.5 s"):
        await play(ToyAgent(stays), caller(READY + "hear(); time.sleep(600)", 0.5))


async def test_one_that_is_not_there_is_refused() -> None:
    missing = CommandCaller(Program(("no-such-program-anywhere",), {"PATH": "/bin"}), 60.0)
    assert missing.name == "no-such-program-anywhere"
    with pytest.raises(EndpointRefused, match="caller: no-such-program-anywhere cannot be started"):
        await missing.check()
