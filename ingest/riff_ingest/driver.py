"""Collect what happens in one session and hand it over as a `Conversation`."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Unpack

from riff_ingest.conversation import Contract, Conversation, ReferenceStep, ToolCall, Turn
from riff_ingest.events import Event, EventBus, SlotFilled, StateEntered


class SessionFacts(TypedDict, total=False):
    """Name what is known of a session apart from its events; field meanings are in docs/formats/transcripts.md."""

    run_id: str | None
    run_label: str | None
    commit: str | None
    branch: str | None
    archetype: str | None
    agent_model: str
    persona: str | None
    scenario: str | None
    trial: int
    started_at: str | None
    duration_s: float | None
    completed: bool | None
    stop_reason: str | None
    final_state: str | None
    final_status: str | None
    errored: bool
    error: str | None
    caller: str | None
    caller_ok: bool | None
    contract: Contract | None
    expected_steps: list[ReferenceStep]
    facts: dict[str, Any]
    channel: str | None


class Driver:
    """Listen to the bus of one session until `finish`, and be shown what no event reports.

    A driver knows only the bus that it was given, so sessions that run at the same time cannot mix. Slots follow from
    the events; `slot` sets what a slot has at the end where that differs.
    """

    def __init__(self, bus: EventBus) -> None:
        self._events: list[Event] = []
        self._turns: list[Turn] = []
        self._slots: dict[str, Any] = {}
        self._tool_calls: list[ToolCall] = []
        self._errors: list[Any] = []
        self._state: str | None = None
        self._leave = bus.subscribe(self._collect)

    @property
    def state(self) -> str | None:
        """Return the state entered last, `None` before the first."""
        return self._state

    def _collect(self, event: Event) -> None:
        self._events.append(event)
        if isinstance(event, StateEntered):
            self._state = event.state
        elif isinstance(event, SlotFilled):
            self._slots[event.slot] = event.value

    def said(
        self, role: Literal["agent", "caller"], text: str, *, t: float | None = None, latency_ms: float | None = None
    ) -> None:
        """Note a turn; the agent's is placed in the state entered last. `t` in seconds of the call."""
        self._turns.append(Turn(role, text, t, self._state if role == "agent" else None, latency_ms))

    def called(
        self,
        name: str,
        arguments: Any = None,
        *,
        t: float | None = None,
        error: Any = None,
        by: Literal["agent", "caller"] = "agent",
        result: Any = None,
        latency_ms: float | None = None,
        changes: bool | None = None,
        fits: bool | None = None,
    ) -> None:
        """Note a tool call, in the state entered last; `error` is `None` unless it failed.

        `changes` shows whether the tool changes something, `fits` whether the arguments fit its schema.
        """
        seq = len(self._events) + len(self._turns)
        self._tool_calls.append(
            ToolCall(name, t, arguments, error, by, result, self._state, seq, latency_ms, changes, fits)
        )

    def slot(self, name: str, value: Any) -> None:
        """Set what a slot has, as after a correction that fills it no second time."""
        self._slots[name] = value

    def failed(self, kind: str, message: str, *, t: float | None = None) -> None:
        """Note an error that the call met and survived."""
        self._errors.append({"kind": kind, "message": message, "t": t})

    def conversation(self, conversation_id: str, flow: str, **facts: Unpack[SessionFacts]) -> Conversation:
        """Return the session up to this moment; what is collected later does not change it.

        Where not given, `final_state` is the state entered last, and `duration_s` the time of the
        last thing that happened.
        """
        facts.setdefault("final_state", self._state)
        last = (*self._events[-1:], *self._turns[-1:], *self._tool_calls[-1:])
        facts.setdefault("duration_s", max((item.t for item in last if item.t is not None), default=None))
        return Conversation(
            conversation_id=conversation_id,
            flow=flow,
            events=self._events.copy(),
            turns=self._turns.copy(),
            slots=self._slots.copy(),
            tool_calls=self._tool_calls.copy(),
            errors=self._errors.copy(),
            **facts,
        )

    def finish(self, conversation_id: str, flow: str, **facts: Unpack[SessionFacts]) -> Conversation:
        """Return the whole session and unsubscribe from its bus."""
        self._leave()
        return self.conversation(conversation_id, flow, **facts)
