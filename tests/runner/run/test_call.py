import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from tests.support.toy_calls import FLOW, ToyAgent, ToyCaller, play, stays, toy_case, toy_setting, walks
from tests.surface.ingest import (
    Conversation,
    GuardEvaluated,
    SlotFilled,
    StateEntered,
    StateExited,
    TurnComplete,
    encode_line,
    transcript_document,
)
from tests.surface.runner import (
    LARGEST_RESULT,
    AgentCall,
    AgentReply,
    AgentStopped,
    Call,
    CallCase,
    CallerFailed,
    CallerTurn,
    CallLimits,
    CallProgress,
    CallRefused,
    EndpointRefused,
    SpokenFact,
    StubbedTool,
    StubbedTools,
    ToolFailed,
    ToolSession,
    Unavailable,
)

Act = Callable[[AgentCall], None]


class TickingClock:
    """Go on by so many seconds whenever somebody looks."""

    def __init__(self, step: float) -> None:
        self.step = step
        self._at = 0.0

    def now(self) -> str:
        return "2026-06-22T02:00:00Z"

    def seconds(self) -> float:
        self._at += self.step
        return self._at


def acting(act: Act) -> Callable[[AgentCall, str], Awaitable[AgentReply]]:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        act(call)
        return AgentReply("Well.")

    return reply


def refusing(error: Exception) -> ToyAgent:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        raise error

    return ToyAgent(reply)


async def made(agent: ToyAgent, caller: ToyCaller | None = None, limits: CallLimits | None = None) -> Conversation:
    return (await play(agent, caller, limits=limits)).conversation


async def test_a_call_that_reaches_its_goal_says_so_and_how() -> None:
    call = await made(ToyAgent(walks))
    assert (call.completed, call.stop_reason, call.final_state, call.final_status) == (
        True, "terminal", "booked", "booked",
    )  # fmt: skip
    assert (call.caller, call.caller_ok, call.errored) == ("toy-caller", True, False)
    assert [type(event) for event in call.events] == [
        StateEntered, StateExited, StateEntered, TurnComplete, SlotFilled, StateExited, StateEntered, TurnComplete,
    ]  # fmt: skip
    assert call.slots == {"name": "line 2"}
    assert [turn.role for turn in call.turns] == ["caller", "agent", "caller", "agent"]


async def test_the_turn_stands_in_the_state_in_which_it_was_said() -> None:
    call = await made(ToyAgent(walks))
    assert [turn.state for turn in call.turns if turn.role == "agent"] == ["ask", "booked"]


async def test_going_to_a_human_completes_nothing() -> None:
    call = await made(ToyAgent(acting(lambda call: call.machine.commit_transition("escalated"))))
    assert (call.completed, call.stop_reason, call.final_status) == (False, "terminal", None)


async def test_a_greeting_comes_before_the_callers_first_word() -> None:
    caller = ToyCaller()
    call = await made(ToyAgent(walks, greeting="Hello, this is Ava."), caller)
    assert call.turns[0].text == caller.heard[0] == "Hello, this is Ava."


async def test_the_agent_may_act_once_more_after_the_caller_hung_up() -> None:
    caller = ToyCaller([CallerTurn("I would like to book."), CallerTurn("Yes, do that. Bye.", ends=True)])
    call = await made(ToyAgent(walks), caller)
    assert (call.completed, call.stop_reason) == (True, "terminal")
    assert call.turns[-1].role == "agent"


async def test_a_caller_that_hangs_up_before_the_goal_is_an_outcome() -> None:
    call = await made(ToyAgent(stays), ToyCaller([CallerTurn("Never mind.", ends=True)]))
    assert (call.completed, call.stop_reason, call.errored, call.caller_ok) == (False, "hangup", False, True)
    assert len(call.turns) == 2


async def test_an_agent_that_hangs_up_ends_the_call() -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        return AgentReply("Goodbye.", ends=True, status="gave_up")

    call = await made(ToyAgent(reply))
    assert (call.completed, call.stop_reason, call.final_status) == (False, "agent_hangup", "gave_up")


async def test_an_agent_that_tells_no_states_reaches_the_goal_by_its_status() -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        return AgentReply("You are booked.", ends=True, status="booked")

    call = await made(ToyAgent(reply))
    assert (call.completed, call.stop_reason, call.final_state) == (True, "terminal", None)


async def test_a_status_that_the_flow_does_not_know_completes_nothing() -> None:
    call = await made(ToyAgent(stays, status="something"), ToyCaller([CallerTurn("Bye.", ends=True)]))
    assert (call.completed, call.final_status) == (False, "something")


@pytest.mark.parametrize(
    ("agent", "limits", "reason", "turns"),
    [
        (ToyAgent(stays, greeting="Hi."), CallLimits(state_turns=3), "loop", 1 + 4),
        (ToyAgent(stays), CallLimits(max_turns=4), "max_turns", 4),
    ],
)
async def test_a_call_that_goes_nowhere_ends(agent: ToyAgent, limits: CallLimits, reason: str, turns: int) -> None:
    call = await made(agent, limits=limits)
    assert (call.completed, call.stop_reason, call.errored) == (False, reason, False)
    assert sum(turn.role == "agent" for turn in call.turns) == turns


async def test_an_agent_that_says_nothing_three_times_in_a_row_ends_the_call() -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        return AgentReply("")

    caller = ToyCaller()
    call = await made(ToyAgent(reply), caller)
    assert (call.completed, call.stop_reason, call.errored) == (False, "silence", False)
    assert caller.heard == ["", "", ""]
    assert all(turn.role == "caller" for turn in call.turns)


async def test_the_agents_time_is_bounded() -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        await asyncio.Event().wait()
        raise AssertionError

    call = await made(ToyAgent(reply), limits=CallLimits(max_call_s=0.02))
    assert (call.completed, call.stop_reason, call.errored) == (False, "timeout", False)


async def test_tools_that_make_no_sense_end_the_call_when_there_are_too_many() -> None:
    def mistaken(call: AgentCall) -> None:
        call.mistake("fly", "{not json", "no such tool in state greet")

    call = await made(ToyAgent(acting(mistaken)))
    assert (call.completed, call.stop_reason, call.errored) == (False, "too_many_errors", False)
    assert len(call.tool_calls) == 11
    assert call.tool_calls[0].arguments == "{not json"


@pytest.mark.parametrize("reason", ["context", "loop"])
async def test_what_the_agent_is_to_blame_for_counts(reason: str) -> None:
    call = await made(refusing(AgentStopped(reason)))  # type: ignore[arg-type]
    assert (call.completed, call.stop_reason, call.errored) == (False, reason, False)


async def test_a_request_that_was_wrong_makes_an_errored_call() -> None:
    call = await made(refusing(CallRefused("agent", "400 bad tool")))
    assert (call.completed, call.stop_reason, call.errored, call.error) == (None, "error", True, "agent: 400 bad tool")
    assert call.caller_ok is True


async def test_a_caller_that_fails_is_in_no_mean() -> None:
    call = await made(ToyAgent(stays), ToyCaller([CallerTurn("Hi."), CallerFailed("repeats itself")]))
    assert (call.completed, call.stop_reason, call.errored) == (None, "caller", True)
    assert (call.error, call.caller_ok) == ("caller: repeats itself", False)


@pytest.mark.parametrize(
    "error", [Unavailable("agent", "503"), Unavailable("caller", "no answer"), EndpointRefused("agent", "401")]
)
async def test_what_lies_between_is_left_to_the_run(error: Exception) -> None:
    agent = refusing(error)
    with pytest.raises(type(error)):
        await made(agent)
    assert agent.ended == ["error"]


@pytest.mark.parametrize(
    "later",
    [
        AgentStopped("context"),
        Unavailable("agent", "503"),
        CallRefused("agent", "400 no"),
        CallerFailed("says nothing"),
    ],
)
async def test_the_first_cause_counts(later: Exception) -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        await walks(call, text)
        await walks(call, text)
        raise later

    call = await made(ToyAgent(reply))
    assert (call.completed, call.stop_reason, call.errored) == (True, "terminal", False)


async def test_latency_is_what_the_caller_waits_and_not_what_retries_take() -> None:
    clock = TickingClock(0.0)

    async def reply(call: AgentCall, text: str) -> AgentReply:
        clock.step = 8.0
        call.retried("HTTP 429", 7.5)
        clock.step = 0.0
        call.speaks()
        clock.step = 3.0
        return AgentReply("One two three.", ends=True)

    call = (await play(ToyAgent(reply), clock=clock)).conversation
    assert call.turns[-1].latency_ms == 0.5e3
    assert [error["kind"] for error in call.errors] == ["retried"]  # type: ignore[union-attr]


async def test_time_in_which_nothing_is_asked_counts_for_nobody() -> None:
    clock = TickingClock(0.0)

    async def reply(call: AgentCall, text: str) -> AgentReply:
        clock.step = 0.25
        with call.waiting():
            clock.step = 60.0
        clock.step = 0.0
        call.speaks(ago=0.1)
        return AgentReply("One two three.", ends=True)

    call = (await play(ToyAgent(reply), clock=clock)).conversation
    assert call.turns[-1].latency_ms == 150.0
    assert call.turns[-1].t == pytest.approx(2 / 2.6 + 0.25, abs=0.01)


async def test_a_call_does_not_run_out_of_time_while_it_waits() -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        with call.waiting():
            await asyncio.sleep(0.2)
        return AgentReply("Sorry for that.", ends=True)

    call = await made(ToyAgent(reply), limits=CallLimits(max_call_s=0.1))
    assert call.stop_reason == "agent_hangup"


async def test_what_requests_took_is_left_out_under_a_fixed_clock() -> None:
    def act(call: AgentCall) -> None:
        call.requested({"ms": 12.5, "ttft_ms": 3.0, "prompt_tokens": 7, "completion_tokens": None})
        raise AgentStopped("loop")

    extra = (await play(ToyAgent(acting(act)))).extra
    assert extra["requests"] == [{"ms": None, "ttft_ms": None, "prompt_tokens": 7, "completion_tokens": None}]


async def test_nothing_is_measured_under_a_fixed_clock_and_the_bytes_are_the_same() -> None:
    one, other = [(await play(ToyAgent(walks))).conversation for _ in range(2)]
    assert [turn.latency_ms for turn in one.turns] == [None] * 4
    assert encode_line(transcript_document(one)) == encode_line(transcript_document(other))


async def test_the_time_of_a_call_never_goes_back() -> None:
    call = (await play(ToyAgent(walks), clock=TickingClock(0.1))).conversation
    for items in (call.events, call.turns):
        times = [item.t for item in items if item.t is not None]
        assert times == sorted(times)
    assert call.duration_s is not None
    assert call.duration_s >= max(turn.t or 0.0 for turn in call.turns)


async def test_events_of_an_agents_own_machine_are_taken_as_they_are() -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        call.emit(StateEntered("elsewhere", t=99.0))
        call.emit(GuardEvaluated("has_name", False))
        call.emit(SlotFilled("name", "Ana", "elsewhere"))
        call.emit(TurnComplete(120.0))
        return AgentReply("Fine.", ends=True)

    call = await made(ToyAgent(reply))
    assert [type(event).__name__ for event in call.events] == [
        "StateEntered", "GuardEvaluated", "SlotFilled", "TurnComplete",
    ]  # fmt: skip
    assert call.events[0].t != 99.0
    assert call.slots == {"name": "Ana"}


async def test_a_tools_result_is_kept_and_a_large_one_is_cut() -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        assert await call.use_tool("look_up", {}) == {"free": True}
        call.tool_done("own", {}, "x" * (LARGEST_RESULT + 1))
        return AgentReply("Done.", ends=True)

    call = await made(ToyAgent(reply))
    assert call.tool_calls[0].result == {"free": True}
    assert len(call.tool_calls[1].result) < LARGEST_RESULT + 20


async def test_a_tool_call_knows_its_state_its_place_and_whether_its_arguments_fit() -> None:
    schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    tools = {"book": StubbedTool("book", parameters=schema)}

    async def reply(call: AgentCall, text: str) -> AgentReply:
        assert call.machine.state == "greet"
        await call.use_tool("book", {"day": "Tuesday"})
        with pytest.raises(ToolFailed, match="day must be string"):
            await call.use_tool("book", {"day": 2})
        call.machine.commit_transition("ask")
        call.tool_done("book", None)
        call.tool_done("own", {}, latency_ms=12.0)
        call.mistake("book", "{", "no JSON", fits=False)
        return AgentReply("Done.", ends=True)

    played = await play(ToyAgent(reply), case=toy_case(replace(FLOW, tools=tools)), clock=TickingClock(0.5))
    found = played.conversation.tool_calls
    assert [(each.name, each.state, each.seq, each.fits) for each in found] == [
        ("book", "greet", 2, True),
        ("book", "greet", 2, False),
        ("book", "ask", 4, None),
        ("own", "ask", 4, None),
        ("book", "ask", 4, False),
    ]
    assert [each.latency_ms for each in found] == [500.0, None, None, 12.0, None]


async def test_a_call_keeps_what_its_caller_had_to_say() -> None:
    facts = {
        "name": SpokenFact("ana", "Ana, with one n"),
        "rooms": SpokenFact(0, "a studio"),
        "n": SpokenFact(2, "two"),
    }
    odd = {"crate": SpokenFact("dog in crate", "the dog will be in her crate")}
    played = await play(ToyAgent(walks), case=replace(toy_case(), facts=facts | odd))
    assert played.conversation.facts == {
        "name": "ana",
        "rooms": 0,
        "n": 2,
        "crate": {"value": "dog in crate", "say": "the dog will be in her crate"},
    }
    assert played.conversation.channel == "text"


async def test_those_who_watch_see_the_call_move() -> None:
    seen: list[CallProgress] = []
    await play(ToyAgent(walks), report=seen.append)
    assert [entry.state for entry in seen if entry.turn == 0][-1] == "ask"
    assert (seen[-1].state, seen[-1].turn, seen[-1].status) == ("booked", 2, "running")


async def test_a_call_that_could_not_be_made_is_kept_as_far_as_it_came() -> None:
    turns = iter([walks])

    async def reply(call: AgentCall, text: str) -> AgentReply:
        if act := next(turns, None):
            return await act(call, text)
        raise Unavailable("agent", "503 overloaded")

    call = Call(toy_case(), toy_setting(ToyAgent(reply)))
    with pytest.raises(Unavailable) as caught:
        await call.play()
    kept = call.failed(caught.value).conversation
    assert (kept.errored, kept.completed, kept.stop_reason) == (True, None, "error")
    assert (kept.error, kept.caller_ok) == ("agent: 503 overloaded", None)
    assert [turn.role for turn in kept.turns] == ["caller", "agent", "caller"]


async def test_a_call_that_could_not_even_begin_is_kept_too() -> None:
    class NoTools(StubbedTools):
        async def begin(self, case: CallCase) -> ToolSession:
            raise Unavailable("tools", "exit status 1")

    call = Call(toy_case(), replace(toy_setting(ToyAgent(walks)), tools=NoTools()))
    with pytest.raises(Unavailable) as caught:
        await call.play()
    kept = call.failed(caught.value).conversation
    assert (kept.error, kept.turns, kept.scenario) == ("tools: exit status 1", [], "plain")
