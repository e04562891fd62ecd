"""Represent one call as every source delivers it and as a native transcript line spells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from riff_ingest.contract import Contract
from riff_ingest.events import (
    Duration,
    Event,
)
from riff_store.facts import CallHead
from riff_store.voice import Voice

SCHEMA = "riff.flow-transcript/1"


RETRIED = "retried"
"""The kind of those `errors` that are of the infrastructure: a request failed, and was sent again."""

ROLES = {"assistant": "agent", "user": "caller"}
"""What others call the two sides of a call, and what they are called here."""

BEYOND_LINES = ("passed", "measured", "voice", "interaction", "filled", "unique")
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


class Conversation(CallHead[str], msgspec.Struct, kw_only=True, gc=True):
    """Represent one call of one flow by one agent in one run; field meanings are in docs/formats.md, section 1.

    Not on the wire, but from sources that know more: `passed` says whether the task was done, `measured` holds
    computed aspects that no event stream tells, or tells wrong (`None`: not measured), `voice` what is kept of a voice
    call.
    """

    errors: list[Any] | int = []
    contract: Contract | None = None
    slots: dict[str, Any] = {}
    turns: list[Turn] = []
    events: list[Event] = []
    tool_calls: list[ToolCall] = []
    expected_steps: list[ReferenceStep] = []
    aspects: dict[str, float | None] = {}
    state_aspects: list[dict[str, Any]] = []
    defects: dict[str, int] = {}
    passed: bool | None = None
    measured: Mapping[str, float | None] = {}
    voice: Voice | None = None

    def error_count(self) -> int:
        """Return how many errors the call met; a request that was sent again is no error of the agent."""
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
