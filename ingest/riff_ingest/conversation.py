"""Represent one call as every source delivers it and as a native transcript line spells it, and its flow's contract."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeAlias

import msgspec

from riff_ingest.events import Duration, Event
from riff_store.errors import UsageError
from riff_store.facts import CallHead
from riff_store.voice import Voice

DEFAULT_ESCALATIONS = frozenset({"escalated", "escalate"})

Exits: TypeAlias = dict[str, dict[str, dict[str, str]]]
"""When states are left, in words, by the state, by the next one and by the id of the edge."""

HIGHEST = 1e5
"""The largest score or count that is believed of what is brought along."""


class StateContract(msgspec.Struct, frozen=True):
    """Describe the segment of a state, the slots that it has to fill and the tools that it is there to call.

    `id` is what its platform calls it. `exits` describe in words when it is left, by the next state and the id of the
    edge.
    """

    segment: str | None = None
    required_slots: list[str] = []
    id: str | None = None
    tool: str | list[str] | None = None
    exits: dict[str, dict[str, str]] | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """Return the tools, none if the state names none."""
        return (self.tool,) if isinstance(self.tool, str) else tuple(self.tool or ())


class Terms(msgspec.Struct, frozen=True):
    """Describe a contract in the form in which scoring looks things up.

    `outcomes` maps the terminals that are no working states to `success` or `escalation`; `segments` has the states
    whose segment is known, `required_slots` those that have to fill some, `tools` those that are there to call some;
    `state_of_tool` names the state of a tool that only one state calls. `changing` has the tools that the contract
    reports change something or only read.
    """

    successes: frozenset[str]
    escalations: frozenset[str]
    outcomes: dict[str, str]
    wanted_slots: frozenset[str]
    segments: dict[str, str]
    required_slots: dict[str, frozenset[str]]
    tools: dict[str, tuple[str, ...]]
    state_of_tool: dict[str, str]
    changing: dict[str, bool]


class Contract(msgspec.Struct, frozen=True, dict=True):
    """Describe what a flow promises; `None` shows that the flow does not define this part.

    Without `escalation_terminals` the names `escalated` and `escalate` are escalations; an empty list shows that the
    flow has none. `other_names` are what calls may call the flow besides.
    """

    success_terminals: list[str] | None = None
    escalation_terminals: list[str] | None = None
    final_statuses: list[str] | None = None
    required_slots: list[str] | None = None
    completion_slots: list[str] | None = None
    required_tools: list[str] | None = None
    changing_tools: list[str] | None = None
    reading_tools: list[str] | None = None
    archetype: str | None = None
    other_names: list[str] | None = None
    states: dict[str, StateContract] = {}

    def escalations(self) -> frozenset[str]:
        """Return names of the states that hand the call to a human."""
        if self.escalation_terminals is None:
            return DEFAULT_ESCALATIONS
        return frozenset(self.escalation_terminals)

    def successes(self) -> frozenset[str]:
        """Return names of the states in which the flow has reached its goal."""
        return frozenset(self.success_terminals or ())

    def wanted_slots(self) -> frozenset[str]:
        """Return slots that the flow needs, whether required at large or for its completion."""
        return frozenset(self.required_slots or ()) | frozenset(self.completion_slots or ())

    def defines_success(self) -> bool:
        """Return whether any part shows what a call has to reach, fill or report."""
        return bool(self.success_terminals or self.wanted_slots() or self.final_statuses or self.required_tools)

    def with_tools(self, tools: Mapping[str, str | None]) -> Contract:
        """Return the contract with these tools for the states that name none of their own."""
        states = dict(self.states)
        for name, tool in tools.items():
            state = states.get(name, StateContract())
            if tool and state.tool is None:
                states[name] = msgspec.structs.replace(state, tool=tool)
        return msgspec.structs.replace(self, states=states)

    @cached_property
    def terms(self) -> Terms:
        """Return the contract's terms, computed once: one contract applies for many calls."""
        successes, escalations = self.successes(), self.escalations()
        tools = {name: state.tools for name, state in self.states.items() if state.tools}
        callers: dict[str, list[str]] = {}
        for name, called in tools.items():
            for tool in called:
                callers.setdefault(tool, []).append(name)
        return Terms(
            successes,
            escalations,
            dict.fromkeys(successes, "success") | dict.fromkeys(escalations, "escalation"),
            self.wanted_slots(),
            {name: state.segment for name, state in self.states.items() if state.segment},
            {name: frozenset(state.required_slots) for name, state in self.states.items() if state.required_slots},
            tools,
            {tool: states[0] for tool, states in callers.items() if len(states) == 1},
            dict.fromkeys(self.reading_tools or (), False) | dict.fromkeys(self.changing_tools or (), True),
        )


EMPTY_CONTRACT = Contract()


def as_contract(value: Contract | Mapping[str, Any] | None) -> Contract | None:
    """Return a contract from its JSON shape; a value that is one already passes through.

    Raises `UsageError` if a part has the wrong type.
    """
    if value is None or isinstance(value, Contract):
        return value
    try:
        return msgspec.convert(dict(value), Contract)
    except msgspec.ValidationError as error:
        raise UsageError(f"contract: {error}") from error


SCHEMA = "riff.flow-transcript/1"


RETRIED = "retried"
"""The kind of those `errors` that are of the infrastructure: a request failed, and was sent again."""

ENDS = frozenset(
    {
        *("terminal", "hangup", "agent_hangup", "transfer", "voicemail", "timeout", "max_turns", "loop", "silence"),
        *("unsafe", "too_many_errors", "context", "caller", "diverged", "bot", "error"),
        *("job_shutdown", "task_completed", "user_initiated", "participant_disconnected"),
        *("cost", "custom", "limit", "message", "operator", "time", "token", "turn", "working"),
    }
)
"""The words for the end of a call that mean something here: any other says nothing of whether it was completed."""

TIMES_RUN_BACK = "times run back"
"""The defect of a time that lies before the one before it; the order stays that of the source."""

ROLES = {"assistant": "agent", "user": "caller"}
"""What others call the two sides of a call, and what they are called here."""

BEYOND_LINES = (
    "passed",
    "measured",
    "voice",
    "interaction",
    "filled",
    "unique",
    "stored",
    "needs_verdict",
    "unknown_end",
)
"""What conversations of other sources have and a native transcript line has no place for."""

DERIVED = "derived"
"""The origin of calls whose states are not their own."""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """Represent what one side said; `t` in seconds since the call started, latency in milliseconds."""

    role: str
    text: str = ""
    t: float | None = None
    state: str | None = None
    latency_ms: Duration | None = None


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """Represent one call of a tool, by the agent or by the caller, and what came back.

    `state` is the state that called it, `seq` its place among events and turns where times are equal or missing.
    `changes` shows whether the tool changes something, `fits` whether the arguments fit its schema; `None`: not known.
    """

    name: str
    t: float | None = None
    arguments: Any = None
    error: Any = None
    by: str = "agent"
    result: Any = None
    state: str | None = None
    seq: int | None = None
    latency_ms: Duration | None = None
    changes: bool | None = None
    fits: bool | None = None


class ReferenceStep(msgspec.Struct, frozen=True, gc=False):
    """Represent a reference action of the task: called or not, matched or not (docs/metrics.md, section 9).

    `arguments` are those that the task asks for, `compared` the names of those that count (`None`: all). `changes`
    shows whether the tool changes something, `None` if the source does not know.
    """

    name: str
    by: str = "agent"
    called: bool = False
    matched: bool | None = None
    arguments: Any = None
    compared: list[str] | None = None
    changes: bool | None = None

    @property
    def state(self) -> str:
        """Return the state that a call enters by this step, where states are derived from tools."""
        return self.name if self.by == "agent" else f"user:{self.name}"


class ExpectedAnswer(msgspec.Struct, frozen=True, gc=False):
    """Represent something that the task asks the agent to say; `said` is `None` if the source does not know."""

    text: str
    said: bool | None = None


class Conversation(CallHead[str], msgspec.Struct, kw_only=True, gc=True):
    """Represent one call of one flow by one agent in one run; field meanings are in docs/formats/transcripts.md.

    Not on the wire, but from sources that know more: `passed` shows whether the task was done, `measured` has computed
    aspects that no event stream shows, or shows wrongly (`None`: not measured), `voice` what is kept of a voice call.
    `expected_steps` is `None` if the source does not know the task, and empty if the task asks for no step. `facts` are
    the values that the caller had to say, by slot; `channel` is `voice` or `text`. `stored` are figures that the source
    kept itself, by our name where they are the same figure on the same scale, else by its own. `needs_verdict` shows
    that only a reward or a scorer can show whether the task was done, and that there is none, `unknown_end` that its
    source has no such word as `stop_reason`, although others have it; `False` that it has one that no other has.
    """

    errors: list[Any] | int = []
    contract: Contract | None = None
    slots: dict[str, Any] = {}
    turns: list[Turn] = []
    events: list[Event] = []
    tool_calls: list[ToolCall] = []
    expected_steps: list[ReferenceStep] | None = None
    expected_answers: list[ExpectedAnswer] = []
    facts: dict[str, Any] = {}
    channel: str | None = None
    aspects: dict[str, float | None] = {}
    state_aspects: list[dict[str, Any]] = []
    defects: dict[str, int] = {}
    passed: bool | None = None
    measured: Mapping[str, float | None] = {}
    voice: Voice | None = None
    stored: Mapping[str, float | bool | None] = {}
    needs_verdict: bool = False
    unknown_end: bool | None = None

    def ends_in_unknown_word(self) -> bool:
        """Return whether the word for its end is none that is known, and nothing shows that it was not completed."""
        is_unknown = self.unknown_end
        if is_unknown is None:
            is_unknown = self.stop_reason is not None and self.stop_reason not in ENDS
        return is_unknown and self.completed is not False

    def error_count(self) -> int:
        """Return how many errors the call met; a request that was sent again is not an error of the agent."""
        if isinstance(self.errors, int):
            return self.errors
        return sum(not (isinstance(error, dict) and error.get("kind") == RETRIED) for error in self.errors)


LINE_FIELDS = tuple(
    sorted(
        (field for field in msgspec.structs.fields(Conversation) if field.name not in BEYOND_LINES),
        key=lambda field: field.name in ("origin", "defects"),  # which lines have had last from their beginning
    )
)
"""The fields of a conversation that a native transcript line has, in its order."""
