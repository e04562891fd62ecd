"""An agent in Python is what one would write: a function, a class, or an agent of one's own."""

from __future__ import annotations

import asyncio
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.toy_calls import FLOW, ToyAgent, ToyCaller, play, toy_case, walks
from tests.surface.ingest import Conversation, SlotFilled, StateEntered
from tests.surface.runner import (
    AgentCall,
    AgentReply,
    AgentStopped,
    CallerTurn,
    CallLimits,
    CommandAgent,
    EndpointRefused,
    Program,
    StopReason,
    StubbedTool,
    ToolFailed,
    Unavailable,
    as_agent,
    import_object,
)
from tests.surface.store import UsageError


async def made(thing: Any, caller: ToyCaller | None = None, **limits: Any) -> Conversation:
    return (await play(as_agent(thing), caller, limits=CallLimits(**limits) if limits else None)).conversation


async def said_by(thing: Any) -> list[str]:
    call = await made(thing, ToyCaller([CallerTurn("Hello."), CallerTurn("Bye.", ends=True)]))
    return [turn.text for turn in call.turns if turn.role == "agent"]


async def test_a_function_is_an_agent() -> None:
    def shout(call: AgentCall, text: str) -> str:
        return text.upper()

    assert await said_by(shout) == ["HELLO.", "BYE."]
    assert as_agent(shout).name == "shout"
    assert as_agent(shout, "acme").name == "acme"


async def test_a_function_that_waits_is_an_agent_and_uses_what_the_call_offers() -> None:
    async def book(call: AgentCall, text: str) -> AgentReply:
        call.emit(StateEntered("ask"))
        assert await call.use_tool("look_up", {"day": "Monday"}) == {"free": True}
        call.emit(SlotFilled("name", text))
        call.emit(StateEntered("booked"))
        return AgentReply("Booked.", status="booked")

    call = await made(book)
    assert (call.stop_reason, call.final_status, call.slots) == ("terminal", "booked", {"name": "line 1"})
    assert call.tool_calls[0].result == {"free": True}


async def test_a_class_is_made_anew_for_each_call() -> None:
    class Counter:
        def __init__(self, call: AgentCall) -> None:
            self.heard: list[str] = []
            self.thread = threading.current_thread()

        def greet(self) -> str:
            return "Counting."

        def reply(self, text: str) -> str | None:
            assert self.thread is threading.current_thread(), "what is bound to a thread would break"
            self.heard.append(text)
            return f"{len(self.heard)}"

        def end(self, reason: StopReason) -> str:
            return f"counted {len(self.heard)}, {reason}"

    assert await said_by(Counter) == ["Counting.", "1", "2"]
    assert await said_by(Counter) == ["Counting.", "1", "2"]
    call = await made(Counter, ToyCaller([CallerTurn("Bye.", ends=True)]))
    assert call.final_status == "counted 1, hangup"


async def test_an_agent_of_ones_own_is_guarded_too() -> None:
    async def breaks(call: AgentCall, text: str) -> AgentReply:
        raise KeyError("name")

    assert (await made(ToyAgent(walks))).stop_reason == "terminal"
    assert as_agent(ToyAgent(walks)).name == "toy-agent"
    with pytest.raises(Unavailable, match=r"agent: KeyError: 'name' \(test_python\.py, line \d+\)"):
        await made(ToyAgent(breaks))


def test_an_agent_of_riff_tui_stays_as_it_is() -> None:
    agent = CommandAgent(Program(("true",), {}))
    assert as_agent(agent) is agent


class Broken:
    def __init__(self, call: AgentCall) -> None:
        raise OSError("no model file")

    def reply(self, text: str) -> str:
        return ""


def _raises(error: BaseException) -> Any:
    def reply(call: AgentCall, text: str) -> str:
        raise error

    return reply


@pytest.mark.parametrize(
    ("thing", "why"),
    [
        (_raises(ValueError("boom\nmore")), r"agent: ValueError: boom \(test_python\.py, line \d+\)"),
        (_raises(TimeoutError()), r"agent: TimeoutError \(test_python"),
        (_raises(StopIteration()), "agent: RuntimeError: StopIteration"),
        (_raises(SystemExit(3)), "agent: SystemExit: 3"),
        (Broken, r"agent: OSError: no model file \(test_python\.py, line \d+\)"),
        (lambda call, text: 7, "agent: it answered with an object of type int, where text or an AgentReply"),
    ],
)
async def test_what_goes_wrong_in_it_is_told_with_its_place(thing: Any, why: str) -> None:
    with pytest.raises(Unavailable, match=why):
        await made(thing)


async def test_it_may_end_the_call_itself() -> None:
    def gives_up(call: AgentCall, text: str) -> str:
        raise AgentStopped("loop")

    call = await made(gives_up)
    assert (call.stop_reason, call.errored) == ("loop", False)


BOOK = StubbedTool(
    "book",
    parameters={"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
    returns=({"slots": ["9:00"]},),
)


async def played(reply: Any, **limits: Any) -> Conversation:
    case = toy_case(replace(FLOW, tools={"book": BOOK}))
    turns = [CallerTurn("Hello."), CallerTurn("Bye.", ends=True)]
    return (await play(as_agent(reply), ToyCaller(turns), case=case, limits=CallLimits(**limits))).conversation


@pytest.mark.parametrize(
    ("name", "arguments", "error", "fits"),
    [
        ("boook", {"day": "Monday"}, "no such tool 'boook'; there are book", None),
        ("book", ["Monday"], "arguments have to be an object", False),
        ("book", None, "arguments have to be an object", False),
        ("book", {"day": 2}, "day must be string", False),
        ("book", {}, "day is missing", False),
        ("book", {"day": object}, "arguments are not JSON", False),
    ],
)
async def test_a_tool_call_that_makes_no_sense_is_told_and_is_the_agents_mistake(
    name: str, arguments: Any, error: str, fits: bool | None
) -> None:
    told = []

    async def reply(call: AgentCall, text: str) -> str:
        try:
            await call.use_tool(name, arguments)
        except ToolFailed as failed:
            told.append(str(failed))
        return "And what else?"

    call = await played(reply)
    assert (call.errored, call.stop_reason) == (False, "hangup")
    assert [each.error for each in call.tool_calls] == told
    assert all(said.startswith(error) for said in told)
    assert [(each.name, each.result, each.fits) for each in call.tool_calls] == [(name, None, fits)] * 2


@pytest.mark.parametrize("catches", [True, False])
async def test_too_many_of_them_end_the_call_whatever_the_agent_catches(catches: bool) -> None:
    async def reply(call: AgentCall, text: str) -> str:
        for _ in range(4):
            try:
                await call.use_tool("boook", {})
            except Exception:
                if not catches:
                    raise
        return "And what else?"

    call = await played(reply, agent_errors=3 if catches else 0)
    assert (call.errored, call.stop_reason) == (False, "too_many_errors")


async def test_one_that_does_not_mind_that_a_tool_failed_says_nothing_then() -> None:
    async def reply(call: AgentCall, text: str) -> str:
        return str(await call.use_tool("book", {"day": 2}))

    call = await played(reply)
    assert (call.errored, call.stop_reason) == (False, "hangup")
    assert [turn.role for turn in call.turns] == ["caller", "caller"]
    assert isinstance(call.errors, list)
    assert call.errors[0]["message"] == "day must be string"


async def test_what_it_does_to_arguments_and_results_afterwards_changes_nothing() -> None:
    async def reply(call: AgentCall, text: str) -> str:
        arguments = {"day": "Monday"}
        found = await call.use_tool("book", arguments)
        found["slots"].clear()
        arguments["day"] = "Tuesday"
        call.tool_done("own", arguments, found, latency_ms=-1)
        arguments["day"] = "Wednesday"
        return "Fine."

    call = await played(reply)
    assert [each.arguments["day"] for each in call.tool_calls] == ["Monday", "Tuesday"] * 2
    assert [each.result for each in call.tool_calls] == [{"slots": ["9:00"]}, {"slots": []}] * 2
    assert call.tool_calls[1].latency_ms is None


async def test_one_that_blocks_holds_up_nobody_else() -> None:
    met = threading.Barrier(2, timeout=60)

    def waits_for_the_other(call: AgentCall, text: str) -> AgentReply:
        met.wait()
        return AgentReply("Met.", ends=True)

    calls = await asyncio.gather(made(waits_for_the_other), made(waits_for_the_other))
    assert [call.turns[-1].text for call in calls] == ["Met.", "Met."]


@pytest.mark.parametrize("waits", [False, True])
async def test_a_turn_takes_no_longer_than_it_may(waits: bool) -> None:
    released = threading.Event()

    class Hangs:
        def __init__(self, call: AgentCall) -> None:
            self.ended = False

        def reply(self, text: str) -> Any:
            return asyncio.sleep(600) if waits else released.wait(600)

        def end(self, reason: StopReason) -> None:
            released.wait(600 if not waits else 0)

    with pytest.raises(Unavailable, match=r"agent: no answer within 0\.2 s"):
        await made(Hangs, turn_timeout_s=0.2)
    released.set()


async def test_a_check_of_ones_own_may_refuse() -> None:
    class Absent(ToyAgent):
        async def check(self) -> None:
            raise ConnectionError("nobody listens")

    with pytest.raises(EndpointRefused, match="agent: ConnectionError: nobody listens"):
        await as_agent(Absent(walks)).check()


@pytest.mark.parametrize(
    ("thing", "why"),
    [
        (7, "an object of type int is not an agent; an agent is a function of the call and of what the caller said"),
        (dict, "dict is not an agent"),
        (lambda text: text, "<lambda> is called with the call and what the caller said, which it does not take"),
        (type("NoCall", (), {"reply": lambda self, text: text}), "NoCall is called with the call, which it does not"),
        (ToyAgent, "ToyAgent is called with nothing, which it does not take"),
    ],
)
def test_what_is_no_agent_is_refused_at_once(thing: Any, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        as_agent(thing)
    assert why in str(refused.value)


@pytest.fixture
def agents_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "words_of_mine.py").write_text("YES = 'Yes.'\n")
    (tmp_path / "my_agent_here.py").write_text(
        "import words_of_mine\nclass Many:\n    @staticmethod\n    def reply(call, text): return words_of_mine.YES\n"
    )
    (tmp_path / "broken_agent.py").write_text("1 / 0\n")
    (tmp_path / "needy_agent.py").write_text("import no_such_module_of_mine\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    for name in ("words_of_mine", "my_agent_here", "agent_in_my_agent_here"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


async def test_an_object_is_found_by_its_module_or_its_file(agents_here: Path) -> None:
    assert await said_by(import_object("my_agent_here", "Many.reply")) == ["Yes.", "Yes."]
    assert await said_by(import_object(str(agents_here / "my_agent_here.py"), "Many.reply")) == ["Yes.", "Yes."]


@pytest.mark.parametrize(
    ("module", "attribute", "why"),
    [
        ("my_agent_there", "reply", "there is no module 'my_agent_there'; it is looked for in the working directory"),
        ("my_agent_here.deep", "reply", "there is no module 'my_agent_here.deep'"),
        ("my_agent_here", "Mamy", "my_agent_here has no 'Mamy'; did you mean Many?"),
        ("there.py", "reply", "there is no file there.py; give the path"),
        ("broken_agent", "reply", "broken_agent cannot be imported: ZeroDivisionError: division by zero"),
        ("broken_agent.py", "reply", "broken_agent.py cannot be imported: ZeroDivisionError"),
        ("needy_agent", "reply", "needy_agent cannot be imported: ModuleNotFoundError: No module named 'no_such_mod"),
    ],
)
@pytest.mark.usefixtures("agents_here")
def test_what_is_not_there_is_said(module: str, attribute: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        import_object(module, attribute)
    assert why in str(refused.value)
