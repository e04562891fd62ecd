"""Run the reference state machine, which shows how a flow has to emit its events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from riff_ingest.events import EventBus, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_store.errors import RiffError

Guard: TypeAlias = Callable[[Mapping[str, Any]], Any]
Clock: TypeAlias = Callable[[], float | None]


class NoSuchTransition(RiffError):
    """Report that the flow has no edge between two states."""


class Machine:
    """Move one call through a flow.

    `edges` maps a state to the states that it may lead to; `clock` gives the seconds since the call started. What
    callers say is kept with `collect` and becomes public, once per slot and call, in `commit_transition`, which is the
    only place that emits `slot_filled`.
    """

    def __init__(
        self, bus: EventBus, initial: str, edges: Mapping[str, Collection[str]], clock: Clock = lambda: None
    ) -> None:
        self._emit = bus.emit
        self._edges = edges
        self._clock = clock
        self._collected: dict[str, str] = {}
        self.state = initial
        self.heard: dict[str, Any] = {}
        self.slots: dict[str, Any] = {}
        self._emit(StateEntered(initial, clock()))

    def collect(self, slot: str, value: Any) -> None:
        """Keep a value until the next transition; `0`, `False` and `""` are values, `None` is not."""
        if value is None:
            return
        self.heard[slot] = value
        self._collected[slot] = self.state

    def turn_complete(self, latency_ms: float | None) -> None:
        """Emit that the agent finished a turn in the current state."""
        self._emit(TurnComplete(latency_ms, self._clock()))

    def evaluate(self, name: str, guard: Guard) -> bool:
        """Ask a guard about all that was heard; one that raises is reported and does not pass."""
        try:
            result = guard(self.heard)
        except Exception as error:  # a guard is the flow author's code: whatever it raises is evidence
            self._emit(GuardEvaluated(name, None, f"{type(error).__name__}: {error}", self._clock()))
            return False
        self._emit(GuardEvaluated(name, result, None, self._clock()))
        return bool(result)

    def commit_transition(self, to_state: str, reason: str | None = None) -> None:
        """Make public what was collected, leave the state and enter the next.

        A slot that was public before takes its new value without a second event. Raises `NoSuchTransition` and changes
        nothing if the flow has no such edge.
        """
        state, now = self.state, self._clock()
        if to_state not in self._edges.get(state, ()):
            raise NoSuchTransition(f"no edge from {state} to {to_state}")
        for slot, collector in self._collected.items():
            value = self.heard[slot]
            if slot not in self.slots:
                self._emit(SlotFilled(slot, value, collector, now))
            self.slots[slot] = value
        self._collected.clear()
        self._emit(StateExited(state, to_state, reason, now))
        self.state = to_state
        self._emit(StateEntered(to_state, now))
