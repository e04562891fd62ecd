"""Collect a call that tells its own states."""

from __future__ import annotations

from typing import Any

from riff_ingest.conversation import Turn
from riff_ingest.events import LONGEST, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_ingest.tool_states import ToolStates


class ObservedStates(ToolStates):
    """Collect a call in its order, as `ToolStates` does, with the states that it was seen to enter."""

    def begin(self, t: float | None = None) -> None:
        """Do nothing: what comes before the first state belongs to none."""

    def enter(self, state: str, t: float | None = None, *, left: str | None = None, reason: str | None = None) -> None:
        """Go into a state; `left` is the one that the source says was left for it, else the one that the call is in."""
        if (left := left or self.state) is not None:
            self.events.append(StateExited(left, state, reason, t))
        self.events.append(StateEntered(state, t))
        self.states.append(state)

    def _visit(self, tool: str, by: str, segment: str | None, t: float | None) -> None:
        """Stay in the state: tools are none."""

    def _failed(self, tool: str, error: str, t: float | None) -> None:
        """Leave it to the tool call: no guard raised."""


def say_aside(states: ToolStates, role: str, text: str, t: float | None = None) -> None:
    """Take what was said without having the turn, such as "mhm" while the other side speaks."""
    states.begin(t)
    states.turns.append(Turn(role, text, t, states.state))


def fill(states: ToolStates, slot: str, value: Any, t: float | None = None) -> None:
    """Take the value of a slot in the state that the call is in, the first one that is no `None`."""
    known = any(type(event) is SlotFilled and event.slot == slot for event in states.events)
    if value is not None and not known:
        states.begin(t)
        states.events.append(SlotFilled(slot, value, states.state, t))


def latencies(states: ToolStates) -> list[float]:
    """Return the latencies that are known of turns, in milliseconds."""
    return [
        event.latency_ms
        for event in states.events
        if type(event) is TurnComplete and event.latency_ms is not None and event.latency_ms <= LONGEST
    ]
