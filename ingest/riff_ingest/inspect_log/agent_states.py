"""Take the agents that were at work for the states of a call, where it was handed from one to another."""

from __future__ import annotations

from typing import Any

from riff_ingest.conversation import ToolCall
from riff_ingest.events import GuardEvaluated
from riff_ingest.tool_segments import NO_SEGMENTS
from riff_ingest.tool_states import ToolStates


class AgentStates(ToolStates):
    """Collect a call in its order, as `ToolStates` does; it moves to the agents, and its tools change no state."""

    def __init__(self, first: str) -> None:
        super().__init__(NO_SEGMENTS, first)

    def call(
        self,
        name: str,
        *,
        by: str = "agent",
        t: float | None = None,
        arguments: Any = None,
        result: Any = None,
        error: str | None = None,
        state: str | None = None,
        segment: str | None = None,
    ) -> None:
        """Take a call of a tool with what came back, in the state that the call is in."""
        self.begin(t)
        self.tool_calls.append(ToolCall(name, t, arguments, error, by, result))
        if error is not None and by == "agent":
            self.events.append(GuardEvaluated(name, None, error, t))
