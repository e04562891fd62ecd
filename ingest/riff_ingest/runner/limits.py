"""Bound what one call may take, so that every call ends."""

from __future__ import annotations

from dataclasses import dataclass


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
