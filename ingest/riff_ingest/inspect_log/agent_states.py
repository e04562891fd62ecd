"""Take the agents that were at work for the states of a call, where it was handed from one to another."""

from __future__ import annotations

from riff_ingest.tool_segments import NO_SEGMENTS
from riff_ingest.tool_states import ToolStates


class AgentStates(ToolStates):
    """Collect a call in its order, as `ToolStates` does; it moves to the agents, and its tools change no state."""

    def __init__(self, first: str) -> None:
        super().__init__(NO_SEGMENTS, first)

    def _visit(self, tool: str, by: str, segment: str | None, t: float | None) -> None:
        """Stay with the agent: tools are no states."""
