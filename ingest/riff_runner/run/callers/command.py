"""Play callers with a program that speaks JSON lines: one process a call, which gets who calls and what they know."""

from __future__ import annotations

from typing import Any

from riff_runner.processes.process import Program
from riff_runner.processes.wire import Wire, look_up
from riff_runner.protocol import CallerNotes, CallerTurn, CallView, StopReason, Unavailable
from riff_runner.run.cases.case import CallCase

MOST_MESSAGES = 1000
_LONGEST_REASON = 400


class CommandCaller:
    """Start a program for each call; a turn of it may take `turn_timeout_s`."""

    def __init__(self, program: Program, turn_timeout_s: float) -> None:
        self._program = program
        self._turn_timeout_s = turn_timeout_s

    @property
    def name(self) -> str:
        """Return the name of the program."""
        return self._program.name

    async def check(self) -> None:
        """Look whether the program is there; raises `EndpointRefused`."""
        await look_up("caller", self._program)

    async def begin(self, case: CallCase, notes: CallerNotes) -> CommandCallerSession:
        """Start the program and send it who calls; raises `Unavailable` and `EndpointRefused`."""

        def note(kind: str, message: str) -> None:
            notes.request({"error": kind, "message": message})

        wire = await Wire.open("caller", self._program, self._turn_timeout_s, note)
        session = CommandCallerSession(wire)
        await wire.introduce(_start(case), session.take)
        return session

    async def close(self) -> None:
        """Do nothing: every call has a process of its own."""


class CommandCallerSession:
    """Represent the program in one call."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._said: list[str] = []
        self._end: dict[str, Any] | None = None
        self._messages = 0

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Send the program what the agent said, and return its answer."""
        self._messages = 0
        async with self._wire.turn():
            while self._end is None and self._wire.has_message():  # sent since, so it answers nothing yet
                await self.take(await self._wire.receive())
            if self._end is None:
                told = {"type": "agent", "text": heard, "turn": view.turn, "state": view.state, "again": view.again}
                await self._wire.send(told)
                while not await self.take(await self._wire.receive()):
                    pass
        text, self._said = " ".join(self._said), []
        if self._end is None:
            return CallerTurn(text)
        success, reason = self._end.get("success"), self._end.get("reason")
        return CallerTurn(
            text,
            ends=True,
            success=success if isinstance(success, bool) else None,
            reason=reason[:_LONGEST_REASON] if isinstance(reason, str) else None,
        )

    async def end(self, reason: StopReason) -> None:
        """End the program."""
        await self._wire.close({"type": "end", "reason": reason})

    async def take(self, message: dict[str, Any]) -> bool:
        """Take one message; return whether it ends the turn."""
        self._messages += 1
        if self._messages > MOST_MESSAGES:
            raise Unavailable("caller", f"it sent more than {MOST_MESSAGES:,} messages in one turn")
        kind, text = message.get("type"), message.get("text")
        if kind not in ("say", "end_call"):
            return False
        if isinstance(text, str) and text.strip():
            self._said.append(text.strip())
        if kind == "end_call":
            self._end = message
        return message.get("final") is not False


def _start(case: CallCase) -> dict[str, Any]:
    scenario = case.scenario
    return {
        "conversation_id": case.conversation_id,
        "flow": case.flow.name,
        "scenario": scenario.name,
        "persona": {"name": case.persona.name, "brief": case.persona.brief},
        "goal": scenario.goal or ", ".join(scenario.tasks),
        "says": list(scenario.says),
        "facts": {slot: {"value": fact.value, "say": fact.say} for slot, fact in case.facts.items()},
        "trial": case.trial,
        "seed": case.seed,
    }
