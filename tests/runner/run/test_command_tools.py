"""Tools that are a program: it answers in place of the flow file, and its failures are nobody else's."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import is_gone, program
from tests.support.toy_calls import MOMENT, ToyAgent, toy_case, toy_setting
from tests.surface.runner import (
    AgentCall,
    AgentReply,
    Call,
    CallLimits,
    CallSetting,
    CommandAgent,
    CommandCaller,
    CommandTools,
    EndpointRefused,
    FixedClock,
    Program,
    ToolFailed,
    Unavailable,
)

READY = "start = hear(); tell(type='ready')\n"


async def answers_of(source: str, arguments: Any, timeout_s: float = 60.0) -> list[Any]:
    found: list[Any] = []

    async def ask(call: AgentCall, text: str) -> AgentReply:
        for _ in range(2):
            try:
                found.append(await call.use_tool("look_up", arguments))
            except ToolFailed as error:
                found.append(error)
        return AgentReply("Bye.", ends=True)

    setting = toy_setting(ToyAgent(ask))
    await Call(toy_case(), replace(setting, tools=CommandTools(program(source), timeout_s))).play()
    return found


async def test_it_answers_with_what_it_likes() -> None:
    source = (
        READY
        + """
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "tool":
        tell(type="thinking")
        tell(type="tool_result", id="0", result="late")
        tell(type="tool_result", id=ask["id"], result=[ask["name"], ask["arguments"], start["tools"], ask["id"]])
"""
    )
    assert await answers_of(source, {"day": "Monday"}) == [
        ["look_up", {"day": "Monday"}, ["look_up"], "1"],
        ["look_up", {"day": "Monday"}, ["look_up"], "2"],
    ]


async def test_an_error_is_told_to_the_agent() -> None:
    source = READY + "hear(); tell(type='tool_result', error='closed'); hear(); tell(type='tool_result', result=0)"
    failed, found = await answers_of(source, {})
    assert str(failed) == "closed"
    assert found == 0


async def test_what_cannot_be_sent_is_told_to_the_agent() -> None:
    failed, _ = await answers_of(READY + "sys.stdin.read()", {"text": "x" * 1_100_000})
    assert "the arguments cannot be sent: it is longer than 1,048,576 bytes" in str(failed)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (READY + "hear(); sys.exit('lost the table')", "tools: it ended, exit status 1: lost the table"),
        (READY + "while True: tell(type='thinking')", "tools: it sent 1,000 messages, and none of them is the result"),
        (READY + "hear(); time.sleep(600)", "tools: no answer within 0.5 s"),
    ],
)
async def test_its_failures_have_the_call_made_again(source: str, why: str) -> None:
    with pytest.raises(Unavailable) as failed:
        await answers_of(source, {}, 0.5 if "sleep" in source else 60.0)
    assert str(failed.value) == why


async def test_one_that_is_not_there_is_refused() -> None:
    missing = CommandTools(Program(("no-such-program-anywhere",), {"PATH": "/bin"}), 60.0)
    with pytest.raises(EndpointRefused, match="tools: no-such-program-anywhere cannot be started"):
        await missing.check()


async def test_nothing_is_left_of_it_when_the_agent_fails(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    source = f"open({str(told)!r}, 'w').write(str(os.getpid())); {READY}"
    setting = replace(toy_setting(ToyAgent(breaks)), tools=CommandTools(program(source + "time.sleep(600)"), 60.0))
    with pytest.raises(Unavailable, match="agent: gone"):
        await Call(toy_case(), setting).play()
    assert await is_gone(int(told.read_text()))


async def test_of_a_call_that_is_dropped_no_program_is_left(tmp_path: Path) -> None:
    """However often it is dropped, as by somebody who presses Ctrl-C again and again."""
    stays = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nhear(); tell(type='ready', greets=False)\n"

    def part(name: str, source: str) -> Program:
        return program(
            f"open({str(tmp_path / name)!r}, 'w').write(f'{{os.getpid()}};')\n{stays}{source}\ntime.sleep(600)"
        )

    setting = CallSetting(
        CommandAgent(part("agent", "")),
        CommandCaller(part("caller", "hear(); tell(type='say', text='Hello.')"), 60.0),
        CommandTools(part("tools", ""), 60.0),
        CallLimits(),
        FixedClock(MOMENT),
        lambda progress: None,
    )
    call = asyncio.create_task(Call(toy_case(), setting).play())
    pids = [int((await written(tmp_path / name)).rstrip(";")) for name in ("agent", "caller", "tools")]
    while not call.done():
        call.cancel()
        await asyncio.sleep(0.01)
    assert call.cancelled()
    for pid in pids:
        assert await is_gone(pid)


async def written(path: Path) -> str:
    async with asyncio.timeout(60):
        while not path.exists() or not (text := path.read_text()).endswith(";"):
            await asyncio.sleep(0.01)
    return text


async def breaks(call: AgentCall, text: str) -> AgentReply:
    raise Unavailable("agent", "gone")
