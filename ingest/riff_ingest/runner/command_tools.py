"""Answer the tools of a flow with a program that speaks JSON lines: one process a call."""

from __future__ import annotations

import itertools
from typing import Any

from riff_ingest.child_process import told
from riff_ingest.runner.cases.case import CallCase
from riff_ingest.runner.processes.json_lines import BadLine
from riff_ingest.runner.processes.process import Program
from riff_ingest.runner.processes.wire import Wire, look_up
from riff_ingest.runner.protocol import Unavailable
from riff_ingest.runner.tools import ToolFailed

MOST_MESSAGES = 1000


class CommandTools:
    """Start a program for each call; a result may take `timeout_s`."""

    def __init__(self, program: Program, timeout_s: float) -> None:
        self._program = program
        self._timeout_s = timeout_s

    async def check(self) -> None:
        """Look whether the program is there; raises `EndpointRefused`."""
        await look_up("tools", self._program)

    async def begin(self, case: CallCase) -> CommandToolSession:
        """Start the program and tell it of the call; raises `Unavailable` and `EndpointRefused`."""
        wire = await Wire.open("tools", self._program, self._timeout_s, lambda kind, message: None)
        try:
            await wire.introduce(_start(case), _leave_out)
        except BaseException:
            await wire.abandon()
            raise
        return CommandToolSession(wire)

    async def close(self) -> None:
        """Do nothing: every call has a process of its own."""


class CommandToolSession:
    """Represent the program in one call."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._ids = itertools.count(1)

    async def result(self, name: str, arguments: Any) -> Any:
        """Return what the program answers; raises `ToolFailed` where it answers with an error, and `Unavailable`."""
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


def _start(case: CallCase) -> dict[str, Any]:
    return {
        "conversation_id": case.conversation_id,
        "flow": case.flow.name,
        "scenario": case.scenario.name,
        "trial": case.trial,
        "seed": case.seed,
        "facts": {slot: fact.value for slot, fact in case.facts.items()},
        "tools": list(case.flow.tools),
    }


async def _leave_out(message: dict[str, Any]) -> None:
    return None
