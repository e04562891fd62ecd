"""Make one call: a caller and an agent speak in turn until something ends it, and the first cause counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from riff_ingest.conversation import Conversation
from riff_runner.run.agent_call import AgentCall, CallProgress
from riff_runner.run.callers.checks import CheckedCaller
from riff_runner.run.cases.case import CallCase
from riff_runner.run.clock import RunClock, as_measured
from riff_runner.run.protocol import (
    Agent,
    AgentReply,
    AgentSession,
    AgentStopped,
    Caller,
    CallerFailed,
    CallerNotes,
    CallLimits,
    CallProblem,
    CallRefused,
    StopReason,
    Unavailable,
)
from riff_runner.run.tools import Tools, ToolSession


@dataclass(frozen=True, slots=True)
class CallEnd:
    """Hold how a call ended; `error` makes it one that is in no mean."""

    reason: StopReason
    completed: bool | None = False
    status: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class MadeCall:
    """Hold a call that was made; `extra` is what its line says beyond the conversation."""

    case: CallCase
    conversation: Conversation
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallSetting:
    """Hold what all calls of a run share."""

    agent: Agent
    caller: Caller
    tools: Tools
    limits: CallLimits
    clock: RunClock
    report: Callable[[CallProgress], None]


class Call:
    """Make one call; `play` is used once."""

    def __init__(self, case: CallCase, setting: CallSetting) -> None:
        self._case = case
        self._setting = setting
        self._started_at = setting.clock.now()
        self._caller_requests: list[dict[str, Any]] = []
        self._opinion: dict[str, Any] = {}
        self._call = AgentCall(case, setting.limits, setting.clock, setting.report)

    async def play(self) -> MadeCall:
        """Return the call; raises `Unavailable` and `EndpointRefused`."""
        setting = self._setting
        self._call.tools = tools = await setting.tools.begin(self._case)
        session = caller = None
        end = CallEnd("error")
        try:
            session = await setting.agent.begin(self._call)
            caller = CheckedCaller(await setting.caller.begin(self._case, self._notes()), self._case)
            end = await self._until_end(session, caller)
        finally:
            reported = await _hung_up(session, caller, tools, end.reason)
        return self._made(self._with_status(end, reported), caller)

    def failed(self, problem: CallProblem) -> MadeCall:
        """Return the call as far as it came before a problem ended it; it is in no mean."""
        return self._recorded(CallEnd("error", None, error=str(problem)), None)

    async def _until_end(self, session: AgentSession, caller: CheckedCaller) -> CallEnd:
        try:
            return await self._converse(session, caller)
        except AgentStopped as stop:
            return self._at_end_state() or CallEnd(stop.reason)
        except CallerFailed as fault:
            return self._at_end_state() or CallEnd(fault.reason, None, error=f"caller: {fault}")
        except CallRefused as refused:
            return self._at_end_state() or CallEnd("error", None, error=str(refused))
        except Unavailable as problem:
            if end := self._at_end_state():
                self._call.note("unavailable", str(problem))
                return end
            raise

    async def _converse(self, session: AgentSession, caller: CheckedCaller) -> CallEnd:
        call, limits = self._call, self._setting.limits
        reply = await self._turn(session.greet)
        silences = unmoved = 0
        if end := self._ended(reply):
            return end
        while True:
            before = (call.state, len(call.view().collected))
            said = await caller.say(reply.text, call.view())
            if said.text.strip():
                call.caller_said(said.text)
            elif said.ends:  # there is nothing to answer
                return CallEnd("hangup")
            reply = await self._turn(partial(session.reply, said.text))
            silences = 0 if reply.text else silences + 1
            moved = call.state is None or (call.state, len(call.view().collected)) != before
            unmoved = 0 if moved else unmoved + 1
            if end := self._ended(reply):
                return end
            if said.ends:
                return CallEnd("hangup", status=reply.status)
            if silences >= limits.silences:
                return CallEnd("silence")
            if unmoved >= limits.state_turns:
                return CallEnd("loop")
            if call.turns >= limits.max_turns:
                return CallEnd("max_turns")

    async def _turn(self, ask: Callable[[], Awaitable[AgentReply | None]]) -> AgentReply:
        """Let the agent take one turn, for as long as the call may still last."""
        left = self._setting.limits.max_call_s - self._call.spent
        try:
            async with asyncio.timeout(max(0.0, left)) as timeout:
                self._call.begin_turn(timeout)
                reply = await ask()
        except TimeoutError:
            if not timeout.expired():
                raise
            raise AgentStopped("timeout") from None
        answer = reply or AgentReply("")
        self._call.end_turn(answer)
        return answer

    def _ended(self, reply: AgentReply) -> CallEnd | None:
        """Return the end of a call that the agent's turn ended, `None` where it goes on."""
        if end := self._at_end_state(reply):
            return end
        return CallEnd("agent_hangup", status=reply.status) if reply.ends else None

    def _at_end_state(self, reply: AgentReply | None = None) -> CallEnd | None:
        """Return the end of a call that reached a state in which its flow ends, `None` before that."""
        call = self._call
        outcome = call.flow.outcome_of(call.state)
        if outcome is None:
            return None
        completed = outcome == "success" or (outcome == "end" and not call.flow.contract.successes())
        return CallEnd("terminal", completed, reply.status if reply else None)

    def _with_status(self, end: CallEnd, reported: str | None) -> CallEnd:
        """Return the end with the status that the agent reported, else with that of the state that it reached."""
        statuses = self._case.flow.contract.final_statuses or ()
        status = end.status or reported
        if status is None and end.reason == "terminal" and self._call.state in statuses:
            status = self._call.state
        reports_goal = self._call.state is None and status in statuses and end.reason in ("hangup", "agent_hangup")
        if reports_goal:  # an agent that tells no states can only say it
            return CallEnd("terminal", True, status)
        return CallEnd(end.reason, end.completed, status, end.error)

    def _made(self, end: CallEnd, caller: CheckedCaller) -> MadeCall:
        error = end.error
        if error is None and (broke := caller.broke(self._call.view().collected)):
            error = f"caller: {broke}"
        self._opinion = caller.opinion
        caller_ok = error is None or not error.startswith("caller:")
        return self._recorded(CallEnd(end.reason, end.completed, end.status, error), caller_ok)

    def _recorded(self, end: CallEnd, caller_ok: bool | None) -> MadeCall:
        case, setting, call = self._case, self._setting, self._call
        conversation = call.finish(
            archetype=case.flow.contract.archetype,
            agent_model=call.agent_model or setting.agent.name,
            persona=case.persona.name,
            scenario=case.scenario.name,
            trial=case.trial,
            started_at=self._started_at,
            duration_s=round(call.now, 3),
            completed=end.completed,
            stop_reason=end.reason,
            final_status=end.status,
            errored=end.error is not None,
            error=end.error,
            caller=setting.caller.name,
            caller_ok=caller_ok,
            contract=case.flow.contract,
        )
        return MadeCall(case, conversation, self._extra())

    def _extra(self) -> dict[str, Any]:
        extra: dict[str, Any] = {"agent": self._setting.agent.name, "seed": self._case.seed}
        if self._call.requests:
            extra["requests"] = self._call.requests
        if self._caller_requests:
            extra["caller_requests"] = self._caller_requests
        if self._opinion:
            extra["caller_opinion"] = self._opinion
        return extra

    def _notes(self) -> CallerNotes:
        return CallerNotes(
            retried=lambda message, _: self._call.note("retried", f"caller: {message}"),
            request=lambda details: self._caller_requests.append(as_measured(self._setting.clock, details)),
        )


async def _hung_up(
    session: AgentSession | None, caller: CheckedCaller | None, tools: ToolSession, reason: StopReason
) -> str | None:
    """Tell all of them that the call is over, whatever happens meanwhile; return the status that the agent reports."""
    async with AsyncExitStack() as ending:
        ending.push_async_callback(tools.end)
        if caller is not None:
            ending.push_async_callback(caller.end, reason)
        return await session.end(reason) if session is not None else None
