"""Record one call as it happens: what an agent does in it, when, and how long the caller waited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack

import msgspec

from riff_ingest.conversation import Conversation
from riff_ingest.driver import Driver, SessionFacts
from riff_ingest.events import Duration, Event, EventBus, SlotFilled, StateEntered, TurnComplete
from riff_runner.protocol import AgentReply, AgentStopped, CallLimits, CallView
from riff_runner.run.cases.case import CallCase
from riff_runner.run.clock import RunClock, as_measured, speaking_s
from riff_runner.run.tools import ToolFailed, ToolSession, violation
from riff_runner.simulate.machine import Machine

RETRIED = "retried"
"""The kind of an error that an endpoint met and that another try got over; it is no fault of the agent."""
LARGEST_RESULT = 16 * 1024
LONGEST_NAME = 200

CallStatus: TypeAlias = Literal["running", "retrying", "done", "errored"]


class CallProgress(NamedTuple):
    """Describe where a call of a run is."""

    conversation_id: str
    flow: str
    status: CallStatus
    state: str | None = None
    turn: int = 0
    why: str | None = None


class AgentCall:
    """Represent a call to the agent that is in it.

    An agent that leaves the flow to the runner moves `machine`; one with a machine of its own reports its events with
    `emit`. The call's clock `t` is made of measured latencies and of how long it takes to show what was said.
    """

    def __init__(
        self,
        case: CallCase,
        limits: CallLimits,
        clock: RunClock,
        report: Callable[[CallProgress], None],
    ) -> None:
        self.case = case
        self.flow = case.flow
        self.limits = limits
        self.tools: ToolSession
        """What answers the tools of the flow, from the beginning of the call on."""
        self.agent_model: str | None = None
        """What the agent calls itself in this call, where that is known only now."""
        self.requests: list[dict[str, Any]] = []
        self.turns = 0
        self.errors = 0
        bus = EventBus()
        self.driver = Driver(bus)
        self._bus = bus
        self._clock = clock
        self._report = report
        self._machine: Machine | None = None
        self._filled: dict[str, Any] = {}
        self._entered = 0
        self.spent = 0.0
        self._now = 0.0
        self._asked_at: float | None = None
        self._latency: float | None = None
        self._lost = 0.0
        self._has_completed_turn = False
        self._timeout: asyncio.Timeout | None = None
        self._mistaken: set[str] = set()
        bus.subscribe(self._watch)

    # what an agent does

    @property
    def machine(self) -> Machine:
        """Return the reference machine of the flow, which enters the first state when it is first asked for."""
        if self._machine is None:
            self._machine = Machine(self._bus, self.flow.initial, self.flow.successors, lambda: self.now)
        return self._machine

    def emit(self, event: Event) -> None:
        """Take an event of the agent's own machine; it gets the time of the call."""
        self._bus.emit(msgspec.structs.replace(event, t=self.now))

    def speaks(self, ago: float = 0.0) -> None:
        """Note that the agent's first word of this turn is there, which ends what the caller has to wait for.

        `ago` shows how many seconds it has been there already.
        """
        if self._latency is None and self._asked_at is not None:
            now = self._clock.seconds()
            self._latency = None if now is None else max(0.0, now - self._asked_at - self._lost - ago)

    def unmeasured(self) -> None:
        """Leave out how long this turn takes, as of a greeting that was there before anybody asked."""
        self._asked_at = None

    def retried(self, message: str, seconds: float) -> None:
        """Note a request that failed and is tried again; the seconds that this took count for nobody."""
        self._lost += seconds
        self.driver.failed(RETRIED, message, t=self.now)
        if self._timeout is not None and (deadline := self._timeout.when()) is not None:
            self._timeout.reschedule(deadline + seconds)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let time pass that counts for nobody, as before another try, in which the call does not run out of it."""
        asked, began = self._clock.seconds(), asyncio.get_running_loop().time()
        deadline = self._timeout.when() if self._timeout is not None else None
        if self._timeout is not None and deadline is not None:
            self._timeout.reschedule(None)
        try:
            yield
        finally:
            now = self._clock.seconds()
            self._lost += 0.0 if now is None or asked is None else now - asked
            if self._timeout is not None and deadline is not None:
                self._timeout.reschedule(deadline + asyncio.get_running_loop().time() - began)
            self.tell("running")

    def waits(self, why: str) -> None:
        """Report, for those who watch the run, that a request is about to be tried again."""
        self.tell("retrying", why)

    def requested(self, details: Mapping[str, Any]) -> None:
        """Note what one request to a model took (docs/runner.md)."""
        self.requests.append(as_measured(self._clock, details))

    def note(self, kind: str, message: str) -> None:
        """Note something that went wrong and did not end the call."""
        self.driver.failed(kind, message, t=self.now)

    async def use_tool(self, name: str, arguments: Any) -> Any:
        """Return what a tool of the flow answers, and note the call of it; raises `ToolFailed`.

        A call that makes no sense is a mistake and reaches no tool; too many of them raise `AgentStopped`.
        """
        name, arguments = self._sensible(name, arguments)
        asked = self._clock.seconds()
        try:
            result = await self.tools.result(name, arguments)
        except ToolFailed as error:
            self.tool_done(name, arguments, error=str(error), latency_ms=self._since(asked))
            raise
        self.tool_done(name, arguments, result, latency_ms=self._since(asked))
        return result

    def _sensible(self, name: str, arguments: Any) -> tuple[str, dict[str, Any]]:
        """Return the name and the arguments of a tool's call as JSON has them; one that makes no sense is noted."""
        name, tools = str(name)[:LONGEST_NAME], self.flow.tools
        try:
            arguments = _plain(arguments)
        except (TypeError, ValueError, RecursionError) as problem:
            arguments, error = str(arguments)[:LARGEST_RESULT], f"arguments are not JSON: {problem}"
        else:
            if name not in tools:
                error = f"no such tool {name!r}; there {'are ' + ', '.join(tools) if tools else 'is none in this flow'}"
            elif not isinstance(arguments, dict):
                error = "arguments have to be an object"
            elif wrong := violation(tools[name].parameters, arguments):
                error = wrong
            else:
                return name, arguments
        self.mistake(name, arguments, error, fits=False if name in tools else None)
        raise ToolFailed(error)

    def tool_done(
        self, name: str, arguments: Any, result: Any = None, error: Any = None, latency_ms: float | None = None
    ) -> None:
        """Note the call of a tool that the agent made by itself; a large result is cut.

        A latency that none can be is left out.
        """
        name, arguments = str(name)[:LONGEST_NAME], _plain(arguments, enc_hook=str)
        tool = self.flow.tools.get(name) if arguments is not None else None
        self.driver.called(
            name,
            arguments,
            t=self.now,
            error=_plain(error, enc_hook=str),
            result=_bounded(result),
            latency_ms=_duration(latency_ms),
            fits=None if tool is None else violation(tool.parameters, arguments) is None,
        )

    def mistake(self, name: str, arguments: Any, error: str, *, fits: bool | None = None) -> None:
        """Note a tool call that makes no sense; raises `AgentStopped` if there were too many of them.

        `fits` is false where it makes none for its arguments.
        """
        self.driver.called(name, arguments, t=self.now, error=error, fits=fits)
        self._mistaken.add(name)
        self.errors += 1
        if self.errors > self.limits.agent_errors:
            raise AgentStopped("too_many_errors")

    def made_good(self, name: str, arguments: Any) -> None:
        """Note a good call of one of the runner's own tools after one that made no sense; others are no evidence."""
        if name in self._mistaken:
            self._mistaken.remove(name)
            self.driver.called(name, arguments, t=self.now, fits=True)

    # what the runner does

    @property
    def now(self) -> float:
        """Return the time of the call in seconds, what the agent has taken for this turn included."""
        return round(self._now + self._taken(), 3)

    @property
    def state(self) -> str | None:
        """Return the state entered last, `None` before the first."""
        return self.driver.state

    def view(self) -> CallView:
        """Return what a caller may know."""
        collected = self._machine.heard if self._machine is not None else self._filled
        return CallView(self.state, self.turns, dict(collected), self._entered)

    def begin_turn(self, timeout: asyncio.Timeout | None = None) -> None:
        """Begin to measure what the caller waits."""
        self._asked_at = self._clock.seconds()
        self._latency, self._lost = None, 0.0
        self._has_completed_turn = False
        self._timeout = timeout

    def end_turn(self, reply: AgentReply) -> None:
        """Note what the agent said and what the caller waited for it; a turn without a word is none."""
        self.speaks()
        latency = None if self._latency is None else round(self._latency * 1000, 1)
        taken = self._taken()
        self.spent += taken
        self._now += taken
        self._asked_at = None
        if reply.text:
            self.turns += 1
            self.driver.said("agent", reply.text, t=self.now, latency_ms=latency)
            if not self._has_completed_turn:
                self._bus.emit(TurnComplete(latency, self.now))
            self._now += speaking_s(reply.text)
        self.tell("running")

    def caller_said(self, text: str) -> None:
        """Note what the caller said."""
        self.driver.said("caller", text, t=self.now)
        self._now += speaking_s(text)

    def finish(self, **facts: Unpack[SessionFacts]) -> Conversation:
        """Return the conversation as it was recorded; slots have what they have at the end."""
        if self._machine is not None:
            for slot, value in self._machine.slots.items():
                self.driver.slot(slot, value)
        return self.driver.finish(self.case.conversation_id, self.flow.name, **facts)

    def tell(self, status: CallStatus, why: str | None = None) -> None:
        """Report where the call is to those who watch the run."""
        self._report(CallProgress(self.case.conversation_id, self.flow.name, status, self.state, self.turns, why))

    def _taken(self) -> float:
        """Return the seconds that this turn of the agent took so far, without what retries lost."""
        if self._asked_at is None:
            return 0.0
        now = self._clock.seconds()
        return 0.0 if now is None else max(0.0, now - self._asked_at - self._lost)

    def _since(self, began: float | None) -> float | None:
        """Return the milliseconds since a moment, `None` without a clock."""
        now = self._clock.seconds()
        return None if now is None or began is None else round(max(0.0, now - began) * 1000, 1)

    def _watch(self, event: Event) -> None:
        if isinstance(event, SlotFilled):
            self._filled[event.slot] = event.value
        elif isinstance(event, TurnComplete):
            self._has_completed_turn = True
        elif isinstance(event, StateEntered):
            self._entered += 1
            self.tell("running")


def _duration(latency_ms: object) -> float | None:
    """Return how many milliseconds a tool took, `None` if an agent does not say or cannot mean it."""
    try:
        return msgspec.convert(latency_ms, Duration | None)
    except msgspec.ValidationError:
        return None


def _plain(value: Any, enc_hook: Callable[[Any], Any] | None = None) -> Any:
    """Return what JSON makes of a value: a copy, which the one who gave the value cannot change any more."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=enc_hook))


def _bounded(result: Any) -> Any:
    """Return a result as it is kept: as JSON has it, or the beginning of its JSON if it is large."""
    if result is None or isinstance(result, bool | int | float):
        return result
    text = msgspec.json.encode(result, enc_hook=str)
    if len(text) <= LARGEST_RESULT:
        return msgspec.json.decode(text)
    return f"{text.decode(errors='replace')[:LARGEST_RESULT]} (cut)"
