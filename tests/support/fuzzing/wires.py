"""Fuzz what programs and models send while a call is made."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from tests.support.fuzzing.target import Target, check_plain, check_reason
from tests.support.toy_calls import play
from tests.surface.ingest import encode_line, facts_of, transcript_document
from tests.surface.ingest import transcripts_read_line as read_line
from tests.surface.runner import (
    AgentCall,
    AnswerReader,
    BadLine,
    CallLimits,
    CommandSession,
    EndpointRefused,
    LineBuffer,
    LineProcess,
    NotAnAnswer,
    ProcessFailed,
    ReadAnswer,
    ToldError,
    Unavailable,
    Wire,
    decoded,
    encoded,
)

_KEY = "sk-0123456789abcdef"
_ENVIRON = {"OPENAI_API_KEY": _KEY}
_LIMITS = CallLimits(max_turns=4)


class _Process:
    """A program that sends what was drawn, and is gone when that is over."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    @property
    def has_message(self) -> bool:
        return bool(self._lines)

    async def send(self, message: Mapping[str, Any]) -> None:
        line = encoded(message)
        assert decoded(line, {}) == dict(message), "a message arrives as another"

    async def receive(self) -> dict[str, Any]:
        if not self._lines:
            raise ProcessFailed("the program ended")
        try:
            return decoded(self._lines.pop(0), _ENVIRON)
        except BadLine as error:
            if _KEY in str(error):
                raise AssertionError("a key is shown") from error
            raise ProcessFailed(str(error)) from None

    def close_stdin(self) -> None:
        pass

    async def close(self) -> None:
        pass


class _Agent:
    """A program's part in one call."""

    name = "fuzzed"

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    async def check(self) -> None:
        pass

    async def begin(self, call: AgentCall) -> CommandSession:
        process = cast(LineProcess, _Process(self._lines))
        session = CommandSession(call, Wire("agent", process, call.limits.turn_timeout_s, call.note))
        await session.introduce()
        return session

    async def close(self) -> None:
        pass


def _agent(data: bytes, folder: Path) -> None:
    """Whatever a program sends, the call is one that can be kept and read again, or is refused."""
    lines = _cut(data)
    if lines is None:
        return
    try:
        made = asyncio.run(play(_Agent(lines), limits=_LIMITS))
    except (Unavailable, EndpointRefused) as error:
        check_reason(str(error).encode(errors="replace").decode())
        return
    kept = encode_line(transcript_document(made.conversation))
    found, _ = read_line(kept, "run")
    assert [turn.text for turn in found.turns] == [turn.text for turn in made.conversation.turns]
    facts, notes = facts_of(found, default_run="run")
    check_plain(msgspec.to_builtins(facts))
    for note in notes:
        check_reason(note.reason)


def _cut(data: bytes) -> list[bytes] | None:
    """The lines that a program sent, the same in whatever pieces they come; `None` if one is too long."""
    whole, piecewise = LineBuffer(), LineBuffer()
    try:
        lines = [*whole.feed(data), *filter(None, [whole.rest()])]
    except BadLine as error:
        check_reason(str(error))
        return None
    step = len(data) // 7 + 1
    pieces = [line for at in range(0, len(data), step) for line in piecewise.feed(data[at : at + step])]
    assert [*pieces, *filter(None, [piecewise.rest()])] == lines, "lines depend on where a read ends"
    return lines


def _answer(data: bytes, folder: Path) -> None:
    """What a model answers is the same however its bytes are cut, and is an answer or is refused."""
    assert _answered(data, len(data) or 1) == _answered(data, len(data) // 5 + 1)


def _answered(data: bytes, step: int) -> ReadAnswer | str:
    reader = AnswerReader()
    try:
        for at in range(0, len(data), step):
            reader.feed(data[at : at + step])
        found = reader.close()
    except NotAnAnswer as error:
        check_reason(str(error))
        return "no answer"
    except ToldError:
        return "an error"
    check_plain([found.text, [(call.name, call.arguments_text) for call in found.tool_calls], found.notes])
    return found


_SAID = b"""{"type": "ready", "protocol": 1, "agent_model": "toy", "say": "Hello, I book tables."}
{"type": "event", "event": {"type": "state_entered", "t": 0, "state": "greet"}}
{"type": "tool", "id": "1", "name": "look_up", "arguments": {"day": "Tuesday"}}
{"type": "say", "text": "Which day", "final": false}
{"type": "say", "text": "suits you?"}
{"type": "tool_done", "name": "other", "arguments": {}, "result": {"a": 1}, "error": null}
{"type": "error", "kind": "slow", "message": "a hiccup"}
{"type": "event", "event": {"type": "slot_filled", "t": 1, "slot": "name", "value": "Ann", "state": "ask"}}
{"type": "bye", "status": "booked", "text": "Goodbye!"}
"""
_STREAM = b"""data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]}

: keep alive
data: {"choices": [{"index": 0, "delta": {"content": "lo", "tool_calls": [{"index": 0, "id": "c1", "function": {"name":
data: "look_up", "arguments": "{}"}}]}}]}

data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}

data: [DONE]

"""
_DOCUMENT = b"""{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello <think>x</think>",
"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{\\"day\\": 1}"}}]},
"finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}"""

TARGETS = (
    Target("agent-wire", _agent, lambda: [_SAID]),
    Target("chat-answer", _answer, lambda: [_STREAM, _DOCUMENT]),
)
