"""Take part in calls with a program that speaks JSON lines: one process a call, with a machine of its own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from riff_ingest.events import Event
from riff_runner.processes.child_process import told
from riff_runner.processes.process import BadLine, Program
from riff_runner.processes.wire import Wire, look_up
from riff_runner.protocol import AgentReply, AgentStopped, StopReason, Unavailable
from riff_runner.run.agent_call import LONGEST_NAME, AgentCall
from riff_runner.run.cases.case import CallCase
from riff_runner.run.tools import ToolFailed

MOST_MESSAGES = 1000
"""Messages within one turn, above which an agent is taken to have lost itself."""
_GREETING_S = 0.05
_SENTENCE_ENDS = re.compile(r"[.!?…]$")


class CommandAgent:
    """Start a program for each call."""

    def __init__(self, program: Program, name: str | None = None) -> None:
        self._program = program
        self._name = name or program.name

    @property
    def name(self) -> str:
        """Return the name that was given, else that of the program."""
        return self._name

    async def check(self) -> None:
        """Look whether the program is there; raises `EndpointRefused`."""
        await look_up("agent", self._program)

    async def begin(self, call: AgentCall) -> CommandSession:
        """Start the program and send it the call; raises `Unavailable` and `EndpointRefused`."""
        wire = await Wire.open("agent", self._program, call.limits.turn_timeout_s, call.note)
        session = CommandSession(call, wire)
        await session.introduce()
        return session

    async def close(self) -> None:
        """Do nothing: every call has a process of its own."""


class CommandSession:
    """Represent the program in one call."""

    def __init__(self, call: AgentCall, wire: Wire) -> None:
        self._call = call
        self._wire = wire
        self._speech = Speech()
        self._greets: bool | None = None
        self._bye: Mapping[str, Any] | None = None
        self._messages = 0
        self._not_known: set[str] = set()

    async def introduce(self) -> None:
        """Send the program the call, and read what it reports about itself."""
        case = self._call.case
        ready = await self._wire.introduce(
            {
                "conversation_id": case.conversation_id,
                "flow": case.flow.name,
                "scenario": case.scenario.name,
                "trial": case.trial,
                "seed": case.seed,
                "slots": {},
                "tools": list(case.flow.tools),
            },
            self._take,
        )
        model = ready.get("agent_model")
        if isinstance(model, str) and model.strip():
            self._call.agent_model = model.strip()[:LONGEST_NAME]
        said = ready.get("say")
        self._speech.add(said.get("text") if isinstance(said, dict) else said)
        if isinstance(greets := ready.get("greets"), bool):
            self._greets = greets

    async def greet(self) -> AgentReply | None:
        """Return what was said with or before `ready`, or is said after it where `ready` announced that.

        An agent that announced neither may still greet at once; it is given a moment, not a turn.
        """
        self._messages = 0
        self._call.unmeasured()
        if not self._speech:
            if self._greets:
                async with self._wire.turn():
                    await self._until_said()
            elif self._greets is None:
                while (message := await self._wire.message_within(_GREETING_S)) and not await self._take(message):
                    pass
        return self._reply() if self._speech or self._bye else None

    async def reply(self, text: str) -> AgentReply:
        """Send the program what the caller said, and return its words up to the last ones of the turn."""
        self._messages = 0
        if self._bye is not None:
            return self._reply()
        async with self._wire.turn():
            while self._bye is None and self._wire.has_message():  # sent since, so it answers nothing yet
                await self._take(await self._wire.receive())
            turn = {"type": "user", "text": text, "turn": self._call.turns + 1, "t": self._call.now}
            if self._bye is None:
                await self._wire.send(turn)
                await self._until_said()
        return self._reply()

    async def end(self, reason: StopReason) -> str | None:
        """End the program and return the status of its `bye`."""
        self._messages = 0
        await self._wire.close({"type": "end", "reason": reason}, self._take_last if self._bye is None else None)
        return _status_of(self._bye)

    async def _until_said(self) -> None:
        while not await self._take(await self._wire.receive()):
            pass

    async def _take_last(self, message: dict[str, Any]) -> bool:
        if message.get("type") != "tool":
            await self._take(message)
        return self._bye is not None

    async def _take(self, message: dict[str, Any]) -> bool:
        """Take one message; return whether it ends the turn."""
        self._messages += 1
        if self._messages > MOST_MESSAGES:
            self._call.note("message_loop", f"more than {MOST_MESSAGES:,} messages in one turn")
            raise AgentStopped("loop")
        kind = message.get("type")
        if kind == "say":
            self._say(message.get("text"))
            return message.get("final") is not False
        if kind == "bye":
            self._say(message.get("text"))
            self._bye = message
            return True
        if kind == "event":
            self._event(message.get("event"))
        elif kind == "tool":
            await self._tool(message)
        elif kind == "tool_done":
            self._call.tool_done(
                str(message.get("name") or ""),
                message.get("arguments"),
                message.get("result"),
                message.get("error"),
                message.get("latency_ms"),
            )
        elif str(kind) not in self._not_known:
            self._not_known.add(str(kind))
            self._call.note("unknown_message", f"messages of type {str(kind)[:40]!r} are not known and left out")
        return False

    def _say(self, text: Any) -> None:
        if self._speech.add(text):
            self._call.speaks()
        elif text is not None and not isinstance(text, str):
            self._call.note("bad_message", "what is said has to be text")

    def _event(self, event: Any) -> None:
        try:
            self._call.emit(msgspec.convert(event, Event))
        except (msgspec.ValidationError, RecursionError) as error:
            self._call.note("bad_event", str(error)[:LONGEST_NAME])

    async def _tool(self, message: dict[str, Any]) -> None:
        answer = {"type": "tool_result", "id": message.get("id")}
        try:
            await self._wire.send({**answer, **await self._result(message)})
        except BadLine as error:
            await self._wire.send({**answer, "error": f"the result cannot be sent: {error}"})

    async def _result(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            with self._wire.not_counted():
                name, arguments = str(message.get("name") or ""), message.get("arguments", {})
                return {"result": await self._call.use_tool(name, arguments)}
        except ToolFailed as failed:
            return {"error": str(failed)}

    def _reply(self) -> AgentReply:
        return AgentReply(self._speech.taken(), ends=self._bye is not None, status=_status_of(self._bye))


class Speech:
    """Join the pieces in which an agent says something."""

    def __init__(self) -> None:
        self._text = ""

    def __bool__(self) -> bool:
        return bool(self._text.strip())

    def add(self, piece: Any) -> bool:
        """Add a piece as it is, or after a blank where two sentences would touch; return whether it speaks."""
        if not isinstance(piece, str) or not piece:
            return False
        if _SENTENCE_ENDS.search(self._text) and piece[0].isupper():
            self._text += " "
        self._text += piece
        return bool(piece.strip())

    def taken(self) -> str:
        """Return what was said, and begin again."""
        text, self._text = self._text.strip(), ""
        return text


def _status_of(bye: Mapping[str, Any] | None) -> str | None:
    status = bye.get("status") if bye is not None else None
    return status[:LONGEST_NAME] if isinstance(status, str) and status else None


class CommandTools:
    """Start a program for each call; a result may take `timeout_s`."""

    def __init__(self, program: Program, timeout_s: float) -> None:
        self._program = program
        self._timeout_s = timeout_s

    async def check(self) -> None:
        """Look whether the program is there; raises `EndpointRefused`."""
        await look_up("tools", self._program)

    async def begin(self, case: CallCase) -> CommandToolSession:
        """Start the program and send it the call; raises `Unavailable` and `EndpointRefused`."""
        wire = await Wire.open("tools", self._program, self._timeout_s, lambda kind, message: None)
        start = {
            "conversation_id": case.conversation_id,
            "flow": case.flow.name,
            "scenario": case.scenario.name,
            "trial": case.trial,
            "seed": case.seed,
            "facts": {slot: fact.value for slot, fact in case.facts.items()},
            "tools": list(case.flow.tools),
        }

        async def leave_out(message: dict[str, Any]) -> None:
            return None

        await wire.introduce(start, leave_out)
        return CommandToolSession(wire)

    async def close(self) -> None:
        """Do nothing: every call has a process of its own."""


class CommandToolSession:
    """Represent the program in one call."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._ids = itertools.count(1)

    async def result(self, name: str, arguments: Any) -> Any:
        """Return what the program answers; raises `ToolFailed` if it answers with an error, and `Unavailable`."""
        call_id = str(next(self._ids))
        try:
            async with self._wire.turn():
                await self._wire.send({"type": "tool", "id": call_id, "name": name, "arguments": arguments})
                message = await self._answer(call_id)
        except BadLine as error:
            raise ToolFailed(f"the arguments cannot be sent: {error}") from None
        if (problem := message.get("error")) is not None:
            raise ToolFailed(told(problem))
        return message.get("result")

    async def end(self) -> None:
        """End the program."""
        await self._wire.close({"type": "end"})

    async def _answer(self, call_id: str) -> dict[str, Any]:
        for _ in range(MOST_MESSAGES):
            message = await self._wire.receive()
            if message.get("type") == "tool_result" and message.get("id", call_id) == call_id:
                return message
        raise Unavailable("tools", f"it sent {MOST_MESSAGES:,} messages, and none of them is the result")
