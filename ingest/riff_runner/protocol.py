"""Define what agents and callers are to the runner, and the ways in which a call can fail.

Three faults are kept apart: the agent's (`AgentStopped`: the call counts), the caller's (`CallerFailed`: the call is
kept and in no mean) and that of what is between (`Unavailable`: the call is made again).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from riff_store.errors import RiffError

if TYPE_CHECKING:
    from riff_runner.run.agent_call import AgentCall
    from riff_runner.run.cases.case import CallCase


Side: TypeAlias = Literal["agent", "caller", "tools"]
StopReason: TypeAlias = Literal[
    "terminal", "hangup", "agent_hangup", "max_turns", "timeout", "loop", "silence", "too_many_errors", "context",
    "caller", "diverged", "error",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class AgentReply:
    """Describe what came of a turn of the agent.

    `text` is all that was said in it, `ends` whether the agent hung up, `status` what it reported as the outcome.
    """

    text: str
    ends: bool = False
    status: str | None = None


class AgentSession(Protocol):
    """Represent an agent in one call."""

    async def greet(self) -> AgentReply | None:
        """Say something before the caller does; `None` if the caller begins."""

    async def reply(self, text: str) -> AgentReply:
        """Answer what the caller said.

        What happens on the way (events, tools, errors) is reported to the `AgentCall` that the session was begun with.
        Raises `Unavailable`, `CallRefused`, `EndpointRefused` and `AgentStopped`.
        """

    async def end(self, reason: StopReason) -> str | None:
        """Take note that the call is over and return the status that the agent reports, if any; raises nothing."""


class Agent(Protocol):
    """Represent an agent under test, which takes many calls at once.

    `name` is what the transcripts call it (its model) and part of what identifies a call of a run.
    """

    @property
    def name(self) -> str:
        """Return what transcripts call the agent."""

    async def check(self) -> str | None:
        """Find out whether the agent can be reached; raises `EndpointRefused` if it cannot.

        Returns a hint where something looks wrong that may be right.
        """

    async def begin(self, call: AgentCall) -> AgentSession:
        """Begin a call; raises as `AgentSession.reply` does."""

    async def close(self) -> None:
        """Release what the agent uses."""


@dataclass(frozen=True, slots=True)
class CallerTurn:
    """Describe what a caller says next, whether it hangs up after that, and its own opinion of how the call went.

    `recorded` words are those of a real caller, who has no part to keep to.
    """

    text: str
    ends: bool = False
    success: bool | None = None
    reason: str | None = None
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class CallView:
    """Keep what a caller may be shown of the call at its turn: the state of the agent where known, and public slots.

    `collected` are the slots of which the agent has a value, public or not, and `entered` counts the states that it
    came into, so that one which left a state and came back differs from one which stayed. `again` shows that the caller
    is asked once more at the same place, because what it said made no sense.
    """

    state: str | None = None
    turn: int = 0
    collected: Mapping[str, Any] = field(default_factory=dict)
    entered: int = 0
    again: bool = False


class CallerSession(Protocol):
    """Represent the caller of one call."""

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Return what the caller says to what it heard, `""` if nobody has spoken or the agent stays silent.

        Raises `CallerFailed`, `Unavailable`, `CallRefused` and `EndpointRefused`.
        """

    async def end(self, reason: StopReason) -> None:
        """Take note that the call is over; raises nothing."""


class Caller(Protocol):
    """Represent what plays the callers; `name` is what the transcripts call it."""

    @property
    def name(self) -> str:
        """Return what transcripts call the caller."""

    async def check(self) -> str | None:
        """Find out whether the caller can be reached; raises `EndpointRefused` if it cannot.

        Returns a hint where something looks wrong that may be right.
        """

    async def begin(self, case: CallCase, notes: CallerNotes) -> CallerSession:
        """Begin a call; raises as `CallerSession.say` does."""

    async def close(self) -> None:
        """Release what the caller uses."""


class InProcess:
    """Provide what a part of calls needs that lives in this process: nothing to reach, nothing kept open."""

    async def check(self) -> None:
        """Do nothing: there is nothing to reach."""

    async def close(self) -> None:
        """Do nothing: nothing is kept."""


@dataclass(frozen=True, slots=True)
class CallerNotes:
    """Take what a caller reports of its own work: requests that were tried again, and what each one took.

    `retried` is shown why and the seconds that it lost, `request` the details of one (docs/runner.md).
    """

    retried: Callable[[str, float], None]
    request: Callable[[Mapping[str, Any]], None]


class CallProblem(RiffError):
    """Report something that keeps a call from being made; `side` names who could not do its part."""

    def __init__(self, side: Side, message: str) -> None:
        super().__init__(f"{side}: {message}")
        self.side = side
        self.reason = message


class Unavailable(CallProblem):
    """Report that a side could not be asked, through no fault of a model: the call is made again."""


class CallRefused(CallProblem):
    """Report that an endpoint took a request for wrong: the call is errored, and another try would not help."""


class EndpointRefused(CallProblem):
    """Report that an endpoint will not answer at all (key, quota, unknown model): the run is over."""


class AgentStopped(RiffError):
    """Report that the agent's own doing ends the call; the call counts."""

    def __init__(self, reason: StopReason, message: str = "") -> None:
        super().__init__(message or reason)
        self.reason = reason


class CallerFailed(RiffError):
    """Report that the caller did not keep to its part; the call is kept, and is in no mean."""

    def __init__(self, message: str, *, reason: StopReason = "caller") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Bound a call: its turns, its time in seconds, and what an agent may do wrong before the call is ended.

    `max_turns` counts turns of the agent, `tool_rounds` requests for tools within one of them, `state_turns` turns in
    one state in which nothing moves, `silences` answers without a word in a row.
    """

    max_turns: int = 40
    max_call_s: float = 300.0
    turn_timeout_s: float = 60.0
    tool_rounds: int = 8
    agent_errors: int = 10
    state_turns: int = 10
    silences: int = 3
