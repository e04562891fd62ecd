"""An agent that is a program: what it tells is what the transcript says, and what it does wrong is told apart."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import program
from tests.support.toy_calls import FLOW, ToyCaller, play, toy_case
from tests.surface.ingest import Conversation, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from tests.surface.runner import COMMAND_MOST_MESSAGES as MOST_MESSAGES
from tests.surface.runner import (
    CallerTurn,
    CallLimits,
    CommandAgent,
    EndpointRefused,
    Program,
    Speech,
    StubbedTool,
    SystemClock,
    Unavailable,
    speaking_s,
)

READY = "hear(); tell(type='ready')\n"
REST = "for line in sys.stdin: tell(type='say', text='Yes?')\n"
BOOKS = """
hear()
tell(type="say", text="Yes?")
hear()
tell(type="event", event={"type": "state_entered", "state": "booked"})
tell(type="say", text="Done.")
hear()
tell(type="bye", status="booked")
"""


async def made(source: str, caller: ToyCaller | None = None, **limits: Any) -> Conversation:
    agent = CommandAgent(program(source), "acme")
    return (await play(agent, caller, limits=CallLimits(**limits) if limits else None)).conversation


def errors(call: Conversation) -> list[tuple[str, str]]:
    assert isinstance(call.errors, list)
    return [(error["kind"], error["message"]) for error in call.errors]


async def test_what_the_agent_tells_is_what_the_transcript_says() -> None:
    call = await made("""
hear()
tell(type="ready", agent_model="acme-v7", states=True, colour="blue")
def event(kind, **fields): tell(type="event", event={"type": kind, **fields})
event("state_entered", state="greet", segment="opening")
user = hear()
assert (user["type"], user["text"], user["turn"]) == ("user", "line 1", 1), user
event("state_exited", state="greet", to_state="ask", reason="known")
event("state_entered", state="ask")
tell(type="say", text="And your name?")
hear()
event("guard_evaluated", guard="has_name", result=True)
event("slot_filled", slot="name", value={"first": "Ana"}, state="ask")
event("turn_complete", latency_ms=12.5)
event("state_exited", state="ask", to_state="booked")
event("state_entered", state="booked")
tell(type="say", text="Booked.", final=True)
end = hear()
assert end == {"type": "end", "reason": "terminal"}, end
tell(type="bye", status="booked")
""")
    assert (call.agent_model, call.stop_reason, call.completed) == ("acme-v7", "terminal", True)
    assert (call.final_state, call.final_status, call.errored, call.errors) == ("booked", "booked", False, [])
    assert [type(event) for event in call.events] == [
        StateEntered, StateExited, StateEntered, TurnComplete, GuardEvaluated, SlotFilled, TurnComplete, StateExited,
        StateEntered,
    ]  # fmt: skip
    assert call.slots == {"name": {"first": "Ana"}}
    assert [(turn.role, turn.text, turn.state) for turn in call.turns] == [
        ("caller", "line 1", None),
        ("agent", "And your name?", "ask"),
        ("caller", "line 2", None),
        ("agent", "Booked.", "booked"),
    ]


async def test_the_agent_is_told_of_the_call_once(tmp_path: Path) -> None:
    told = tmp_path / "start"
    await made(f"start = hear(); json.dump(start, open({str(told)!r}, 'w')); tell(type='ready'); {BOOKS}")
    case = toy_case()
    assert told.read_text() == (
        f'{{"type": "start", "protocol": 1, "conversation_id": "{case.conversation_id}", "flow": "toy", '
        '"scenario": "plain", "trial": 0, "seed": 300, "slots": {}, "tools": ["look_up"]}'
    )


@pytest.mark.parametrize(
    "greeting",
    [
        "hear(); tell(type='say', text='Hello, ', final=False); tell(type='say', text='Acme.'); tell(type='ready')",
        "hear(); tell(type='ready', say='Hello, Acme.')",
        "hear(); tell(type='ready', say={'text': 'Hello, Acme.'})",
        "hear(); tell(type='ready', greets=True); time.sleep(0.2); tell(type='say', text='Hello, Acme.')",
        'hear(); sys.stdout.write(\'{"type":"ready"}\\n{"type":"say","text":"Hello, Acme."}\\n\'); sys.stdout.flush()',
    ],
    ids=["before", "within", "within-object", "announced", "at-once"],
)
async def test_an_agent_may_greet(greeting: str) -> None:
    caller = ToyCaller()
    agent = CommandAgent(program(greeting + BOOKS))
    call = (await play(agent, caller, clock=SystemClock())).conversation
    assert [turn.text for turn in call.turns] == ["Hello, Acme.", "line 1", "Yes?", "line 2", "Done."]
    assert caller.heard == ["Hello, Acme.", "Yes?"]
    latencies = [turn.latency_ms is not None for turn in call.turns]
    assert latencies == [False, False, True, False, True]  # nobody had asked for the greeting


async def test_speech_may_come_in_pieces_and_the_first_ends_the_wait() -> None:
    source = (
        READY
        + """
hear()
tell(type="say", text="Let me ", final=False)
time.sleep(0.3)
tell(type="say", text="look.", final=False)
tell(type="say", text="Found it.")
hear()
tell(type="bye")
"""
    )
    call = (await play(CommandAgent(program(source)), clock=SystemClock())).conversation
    turn = call.turns[1]
    assert turn.text == "Let me look. Found it."
    assert turn.latency_ms is not None
    assert turn.t is not None
    assert (turn.t - speaking_s("line 1")) * 1000 - turn.latency_ms > 250


def test_pieces_of_speech_are_joined_as_they_are_said() -> None:
    speech = Speech()
    for piece in ("Hel", "lo", ".", "How much? ", "3.", "5 Dollars!", "", None, 7, "Ok"):
        speech.add(piece)
    assert speech.taken() == "Hello. How much? 3.5 Dollars! Ok"
    assert not speech


async def test_tools_are_answered_by_the_runner_and_mistakes_are_counted() -> None:
    call = await made(
        READY
        + """
hear()
def ask(**message):
    tell(type="tool", **message)
    return hear()
assert ask(id="1", name="look_up", arguments={"day": "Monday"}) == {
    "type": "tool_result", "id": "1", "result": {"free": True}}
wrong = ask(id=2, name="lookup", arguments={})
assert wrong == {"type": "tool_result", "id": 2, "error": "no such tool 'lookup'; there are look_up"}, wrong
assert ask(id="3", name="look_up", arguments="Monday")["error"] == "arguments have to be an object"
tell(type="tool_done", name="own", arguments={"a": 1}, result={"b": 2}, latency_ms=40)
tell(type="tool_done", name="own", error="it broke", latency_ms=-1)
tell(type="bye", text="Bye.")
"""
    )
    assert [(tool.name, tool.arguments, tool.error is None, tool.result) for tool in call.tool_calls] == [
        ("look_up", {"day": "Monday"}, True, {"free": True}),
        ("lookup", {}, False, None),
        ("look_up", "Monday", False, None),
        ("own", {"a": 1}, True, {"b": 2}),
        ("own", None, False, None),
    ]
    assert [tool.latency_ms for tool in call.tool_calls if tool.name == "own"] == [40.0, None]
    assert [tool.fits for tool in call.tool_calls] == [True, None, False, None, None]
    assert (call.stop_reason, call.turns[-1].text) == ("agent_hangup", "Bye.")


async def test_a_tool_without_a_result_says_so_and_is_no_mistake() -> None:
    flow = replace(FLOW, tools={"look_up": StubbedTool("look_up", returns=())})
    source = READY + "hear(); tell(type='tool', id='1', name='look_up'); tell(type='bye', text=hear()['error'])"
    call = (await play(CommandAgent(program(source)), case=toy_case(flow))).conversation
    assert call.turns[-1].text == "look_up has no result in the flow file"


async def test_arguments_have_to_fit_what_the_flow_says_of_the_tool() -> None:
    day = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    flow = replace(FLOW, tools={"look_up": StubbedTool("look_up", parameters=day)})
    source = READY + "hear(); tell(type='tool', id='1', name='look_up'); tell(type='bye', text=hear()['error'])"
    call = (await play(CommandAgent(program(source)), case=toy_case(flow))).conversation
    assert call.turns[-1].text == "day is missing"
    assert (call.tool_calls[0].error, call.tool_calls[0].fits) == ("day is missing", False)


async def test_too_many_mistakes_end_the_call_and_count() -> None:
    loops = READY + "hear()\nwhile True: tell(type='tool', id='1', name='nope'); hear()"
    call = await made(loops)
    assert (call.stop_reason, call.completed, call.errored, len(call.tool_calls)) == (
        "too_many_errors", False, False, CallLimits().agent_errors + 1,
    )  # fmt: skip


async def test_an_agent_that_talks_without_end_ends_the_call() -> None:
    call = await made(READY + "hear()\nwhile True: tell(type='tool_done', name='own')")
    assert (call.stop_reason, call.errored) == ("loop", False)
    assert errors(call) == [("message_loop", f"more than {MOST_MESSAGES:,} messages in one turn")]


async def test_what_cannot_be_understood_is_noted_and_left_out() -> None:
    call = await made(
        READY
        + """
hear()
tell(type="event", event={"type": "state_entered"})
tell(type="event", event={"type": "state_left", "state": "x"})
tell(type="event", event=None)
tell(type="event", event={"type": "turn_complete", "latency_ms": -1})
for _ in range(3): tell(type="thinking", text="...")
tell(kind="say")
tell(type=["say"])
tell(type="error", kind="backend", message="slow today", fatal=False)
tell(type="say", text=["no"], final=False)
tell(type="say", text="Yes?")
hear()
tell(type="bye")
"""
    )
    assert [kind for kind, _ in errors(call)] == [
        *["bad_event"] * 4, *["unknown_message"] * 3, "backend", "bad_message",
    ]  # fmt: skip
    assert errors(call)[0] == ("bad_event", "Object missing required field `state`")
    assert errors(call)[4] == ("unknown_message", "messages of type 'thinking' are not known and left out")
    assert [turn.text for turn in call.turns if turn.role == "agent"] == ["Yes?"]
    assert [type(event) for event in call.events] == [TurnComplete]


async def test_who_hangs_up_ends_the_call_with_its_last_words() -> None:
    source = READY + "hear(); tell(type='say', text='Goodbye.', final=False); tell(type='bye', status='refused')"
    call = await made(source)
    assert (call.stop_reason, call.final_status, call.completed) == ("agent_hangup", "refused", False)
    assert call.turns[-1].text == "Goodbye."


async def test_what_is_said_between_turns_is_no_answer_to_the_next() -> None:
    """An agent that speaks twice would else answer each line with what belongs to the one before."""
    source = (
        READY
        + """
hear()
sys.stdout.write('{"type":"say","text":"One."}\\n{"type":"say","text":"Oh, and:"}\\n')
sys.stdout.flush()
hear()
tell(type="say", text="Two.")
hear()
tell(type="bye")
"""
    )
    call = await made(source)
    assert [turn.text for turn in call.turns if turn.role == "agent"] == ["One.", "Oh, and:Two."]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("sys.exit('no key')", "agent: it ended, exit status 1: no key"),
        ("hear(); sys.exit(7)", "agent: it ended, exit status 7"),
        (READY + "hear(); raise ValueError('boom')", "agent: it ended, exit status 1: ValueError: boom"),
        (READY + "hear(); print('hello', flush=True); time.sleep(600)", "agent: a line is not a JSON object: 'hello'"),
        (READY + "tell(type='error', kind='backend', message='down', fatal=True)", "agent: backend: down"),
        ("tell(type='error', fatal=True); time.sleep(600)", "agent: error: error"),
    ],
)
async def test_an_agent_that_breaks_off_is_no_fault_of_its_words(source: str, why: str) -> None:
    with pytest.raises(Unavailable) as failed:
        await made(source)
    assert why in str(failed.value)


@pytest.mark.parametrize(
    ("before", "awaited"),
    [
        pytest.param("pass", '"ready" in answer to "start"', id="start"),
        pytest.param(READY + "hear()", "answer", id="turn"),
        pytest.param("os.close(0)", '"ready" in answer to "start"', id="deaf"),
    ],
)
async def test_silence_is_not_waited_for_longer_than_a_turn_may_take(before: str, awaited: str) -> None:
    with pytest.raises(Unavailable, match=rf"agent: no {awaited} within 0\.5 s"):
        await made(f"{before}; time.sleep(600)", turn_timeout_s=0.5)


async def test_a_call_that_takes_too_long_ends_and_counts() -> None:
    call = await made(READY + "hear(); time.sleep(600)", max_call_s=0.5)
    assert (call.stop_reason, call.errored) == ("timeout", False)


async def test_a_program_of_another_protocol_is_refused_with_both() -> None:
    with pytest.raises(EndpointRefused, match="the program speaks protocol 2, and riff-tui protocol 1"):
        await made("hear(); tell(type='ready', protocol=2); time.sleep(600)")


async def test_a_program_that_is_not_there_is_refused_before_any_call() -> None:
    agent = CommandAgent(Program(("no-such-program-anywhere",), {"PATH": "/bin"}))
    with pytest.raises(EndpointRefused, match="agent: no-such-program-anywhere cannot be started"):
        await agent.check()
    with pytest.raises(EndpointRefused, match="agent: no-such-program-anywhere cannot be started"):
        await play(agent)


async def test_an_agent_that_ends_between_turns_is_no_fault_of_its_words() -> None:
    source = READY + "hear(); tell(type='say', text='Yes?'); sys.exit(7)"
    with pytest.raises(Unavailable, match="agent: it ended, exit status 7"):
        await made(source)


async def test_what_is_said_after_the_end_is_in_no_transcript() -> None:
    caller = ToyCaller([CallerTurn("Never mind.", ends=True)])
    late = "for _ in range(3): tell(type='say', text='One more thing.'); tell(type='tool', id='1', name='look_up')\n"
    call = await made(READY + "hear(); tell(type='say', text='Bye.'); hear()\n" + late + "tell(type='bye')", caller)
    assert [turn.text for turn in call.turns] == ["Never mind.", "Bye."]
    assert call.tool_calls == []


async def test_the_status_comes_with_the_end_that_the_caller_made() -> None:
    caller = ToyCaller([CallerTurn("Never mind.", ends=True)])
    call = await made(READY + "hear(); tell(type='say', text='Bye.'); hear(); tell(type='bye', status='lost')", caller)
    assert (call.stop_reason, call.final_status) == ("hangup", "lost")


async def test_an_agent_that_does_not_say_bye_holds_nobody_up() -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    call = await made(READY + REST, ToyCaller([CallerTurn("Never mind.", ends=True)]), turn_timeout_s=600)
    assert call.final_status is None
    assert loop.time() - begun < 300


async def test_an_agent_is_called_by_its_given_name_or_by_its_program() -> None:
    assert CommandAgent(Program(("./agents/mine.sh",), {})).name == "mine.sh"
    assert CommandAgent(Program(("./agents/mine.sh",), {}), "acme").name == "acme"
