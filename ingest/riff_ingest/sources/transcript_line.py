"""A native transcript line as it may be decoded without a second look."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

from riff_ingest.conversation import SCHEMA, ReferenceStep, ToolCall, Turn
from riff_ingest.events import Duration, Event

HIGHEST = 1e5
"""The largest score or count that is believed of what is brought along."""
MOST = 2**31
"""The same for how often something was seen."""

Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Measured: TypeAlias = Annotated[float, msgspec.Meta(ge=-HIGHEST, le=HIGHEST)]

GIVEN_NOTHING = b"null"

FAMILY, _, _MAJOR = SCHEMA.partition("/")


def refusal(schema: str) -> str | None:
    """Why a schema cannot be read, `None` if it can: any minor version of the major one is fine."""
    family, _, version = schema.partition("/")
    if schema == SCHEMA or (family == FAMILY and version.partition(".")[0] == _MAJOR):
        return None
    return f"schema {schema[:60]} is not supported, only {SCHEMA} is"


class Line(msgspec.Struct, kw_only=True):
    """The fields of formats.md, section 1; `None` for what is left out or null.

    The contract stays bytes: it is the same on line after line, so it is decoded once.
    """

    conversation_id: Name | int
    flow: Name | int
    schema: str | None = None
    run_id: str | int | None = None
    run_label: str | None = None
    commit: str | None = None
    branch: str | None = None
    archetype: str | None = None
    agent_model: str | None = None
    persona: str | int | None = None
    scenario: str | int | None = None
    trial: Whole | None = None
    started_at: str | None = None
    duration_s: Duration | None = None
    completed: bool | None = None
    stop_reason: str | None = None
    final_state: str | None = None
    final_status: str | None = None
    errored: bool | None = None
    error: str | None = None
    errors: list[Any] | Count | None = None
    contract: msgspec.Raw = msgspec.Raw(GIVEN_NOTHING)
    slots: dict[str, Any] | None = None
    turns: list[Turn] | None = None
    events: list[Event] | None = None
    tool_calls: list[ToolCall] | None = None
    expected_steps: list[ReferenceStep] | None = None
    aspects: dict[str, Measured | None] | None = None
    state_aspects: list[dict[str, Any]] | None = None
    origin: str | None = None
    defects: dict[str, Count] | None = None
