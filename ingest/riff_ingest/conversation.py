"""Represent one call as every source delivers it and as a native transcript line spells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from riff_ingest.contract import Contract
from riff_ingest.events import Duration, Event
from riff_store.interaction import Interaction
from riff_store.voice import Voice

SCHEMA = "riff.flow-transcript/1"


RETRIED = "retried"
"""The kind of those `errors` that are of the infrastructure: a request failed, and was sent again."""

ROLES = {"assistant": "agent", "user": "caller"}
"""What others call the two sides of a call, and what they are called here."""

BEYOND_LINES = ("passed", "measured", "voice", "interaction", "filled", "unique")
"""What conversations of other sources have and a native transcript line has no place for."""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """Represent what one side said; `t` in seconds since the call started, latency in milliseconds."""

    role: str
    text: str = ""
    t: float | None = None
    state: str | None = None
    latency_ms: Duration | None = None


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """Represent one call of a tool, by the agent or by the caller, and what came back."""

    name: str
    t: float | None = None
    arguments: Any = None
    error: Any = None
    by: str = "agent"
    result: Any = None


class ReferenceStep(msgspec.Struct, frozen=True, gc=False):
    """Represent a reference action of the task: called or not, matched or not (docs/metrics.md, section 9).

    `arguments` are those that the task asks for.
    """

    name: str
    by: str = "agent"
    called: bool = False
    matched: bool | None = None
    arguments: Any = None

    @property
    def state(self) -> str:
        """Return the state that a call enters by this step, where states are derived from tools."""
        return self.name if self.by == "agent" else f"user:{self.name}"


class Conversation(msgspec.Struct, kw_only=True):
    """Represent one call of one flow by one agent in one run; field meanings are in docs/formats.md, section 1.

    Not on the wire, but from sources that know more: `passed` says whether the task was done, `measured` holds
    computed aspects that no event stream tells, or tells wrong (`None`: not measured), `voice` what is kept of a voice
    call, `interaction` how its sides shared the line. Of two copies of a call the one in which more is `filled` in
    counts; `unique` says that no other call of the run has its id, so that a copy is one whatever flow it tells.
    """

    conversation_id: str
    flow: str
    run_id: str | None = None
    run_label: str | None = None
    commit: str | None = None
    branch: str | None = None
    archetype: str | None = None
    agent_model: str = "(unknown)"
    persona: str | None = None
    scenario: str | None = None
    trial: int = 0
    started_at: str | None = None
    duration_s: float | None = None
    completed: bool | None = None
    stop_reason: str | None = None
    final_state: str | None = None
    final_status: str | None = None
    errored: bool = False
    error: str | None = None
    caller: str | None = None
    caller_ok: bool | None = None
    errors: list[Any] | int = []
    contract: Contract | None = None
    slots: dict[str, Any] = {}
    turns: list[Turn] = []
    events: list[Event] = []
    tool_calls: list[ToolCall] = []
    expected_steps: list[ReferenceStep] = []
    aspects: dict[str, float | None] = {}
    state_aspects: list[dict[str, Any]] = []
    origin: str = "observed"
    defects: dict[str, int] = {}
    passed: bool | None = None
    measured: Mapping[str, float | None] = {}
    voice: Voice | None = None
    interaction: Interaction | None = None
    filled: int = 0
    unique: bool = False

    def error_count(self) -> int:
        """Return how many errors the call met; a request that was sent again is no error of the agent."""
        if isinstance(self.errors, int):
            return self.errors
        return sum(not (isinstance(error, dict) and error.get("kind") == RETRIED) for error in self.errors)

    def is_excluded(self) -> bool:
        """Tell whether the call is in no mean: its agent or backend was broken, or its caller failed."""
        return self.errored or self.caller_ok is False
