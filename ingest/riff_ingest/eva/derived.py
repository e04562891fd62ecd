"""Derive the states of a voice call from the tools that it called (docs/metrics.md, section 9).

The state is the tool last called, `opening` before the first, `closing` from the last turn after the last tool
where the call ended by goodbye. The same tool again at once is one visit.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from riff_ingest.conversation import ToolCall, Turn
from riff_ingest.eva.call_clock import CallClock
from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.tool_call_validity import INVALID
from riff_ingest.eva.tools import segment_of_tool, tool_name
from riff_ingest.eva.trace import GENERIC_ERROR, LoggedEntry
from riff_ingest.events import Event, GuardEvaluated, StateEntered, StateExited, TurnComplete
from riff_ingest.sources.lenient_json import is_deep

OPENING = "opening"
CLOSING = "closing"
_SIDES = {"assistant": "agent", "user": "caller"}


@dataclass(slots=True)
class Derived:
    """Hold what a call's trace says in the terms of every source; `states` are those visited, in order.

    `places` are the numbers, from 1 on, of the first thing that each side said in each turn.
    """

    turns: list[Turn] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    places: dict[tuple[str, int], int] = field(default_factory=dict)


def derive(context: MetricContext, moments: CallClock, tool_types: Mapping[str, str], *, said_goodbye: bool) -> Derived:
    """Return turns, events and calls of tools of a context; nothing where its trace and its turns are empty."""
    walk = _Walk(context, moments, tool_types)
    closing = _closing(context.conversation_trace) if said_goodbye else None
    for index, entry in enumerate(context.conversation_trace):
        walk.take(index, entry, closes=index == closing)
    walk.catch_up(None)
    return walk.found


def error_of(response: Any) -> str | None:
    """Return what a tool's response says went wrong, `None` where nothing did."""
    if not isinstance(response, Mapping):
        return None
    kind, status = response.get("error_type"), response.get("status")
    if not kind and not (isinstance(status, str) and status.lower() in ("error", "failure", "failed")):
        return None
    said = [text for text in (kind, response.get("message") or response.get("error")) if isinstance(text, str) and text]
    return ": ".join(said) or "error"


def _closing(trace: list[LoggedEntry]) -> int | None:
    """Return where the last turn after the last tool begins: the agent's last one, or the caller's alone."""
    after = next((index + 1 for index in reversed(range(len(trace))) if trace[index].tool_name is not None), 0)
    past = trace[after - 1].turn_id if after else 0
    rest = [entry for entry in trace[after:] if entry.turn_id > past]
    said = [entry.turn_id for entry in rest if entry.role == "assistant"] or [entry.turn_id for entry in rest]
    if not said:
        return None
    return next(index for index in range(after, len(trace)) if trace[index].turn_id == max(said))


class _Walk:
    def __init__(self, context: MetricContext, moments: CallClock, tool_types: Mapping[str, str]) -> None:
        self.found = Derived()
        self._context = context
        self._moments = moments
        self._tool_types = tool_types
        self._state: str | None = None
        self._complete: set[int] = set()
        self._failed_turns: set[int] = set()
        self._answers = _answers(context.conversation_trace)
        self._answered = {id(answer) for answer in self._answers.values()}
        self._agent_turns = _agent_turns(context)
        self._untraced = _untraced(context, self._agent_turns)

    def take(self, index: int, entry: LoggedEntry, *, closes: bool) -> None:
        """Take the next entry of the trace."""
        self.catch_up(entry.turn_id)
        at = self._moments.of(entry)
        if closes:
            self._move(CLOSING, at)
        elif self._state is None:
            self._move(OPENING, at)
        if entry.type == "tool_call":
            self._called(entry, self._answers.get(index), at)
        elif entry.type == "tool_response":
            self._response(entry, at)
        else:
            self._message(entry, at)

    def catch_up(self, turn: int | None) -> None:
        """Put in what was said in turns before this one of which the trace knows nothing."""
        while self._untraced and (turn is None or self._untraced[0][0] < turn):
            number, role, text = self._untraced.pop(0)
            at = self._moments.audio_start(role, number)
            if self._state is None:
                self._move(OPENING, at)
            self._said(role, number, text, at)

    def _called(self, entry: LoggedEntry, answer: LoggedEntry | None, at: float | None) -> None:
        name = tool_name(entry.tool_name)
        self._move(name, at)
        error = error_of(answer.tool_response) if answer is not None else None
        arguments = None if is_deep(entry.parameters) else entry.parameters
        self.found.tool_calls.append(ToolCall(name, at, arguments, error))
        if error is not None and answer is not None:
            self._guard(name, error, self._moments.of(answer))

    def _response(self, entry: LoggedEntry, at: float | None) -> None:
        error = error_of(entry.tool_response)
        if id(entry) not in self._answered:  # its call was not logged, but it was made
            self._move(tool_name(entry.tool_name), at)
            if error is not None:
                self._guard(tool_name(entry.tool_name), error, at)
        response = entry.tool_response
        kind = response.get("error_type") if isinstance(response, Mapping) else None
        if isinstance(kind, str) and kind in INVALID:
            self.found.errors.append({"kind": kind, "message": error, "t": at, "tool": tool_name(entry.tool_name)})

    def _message(self, entry: LoggedEntry, at: float | None) -> None:
        text = entry.content or ""
        self._said(entry.role or "assistant", entry.turn_id, text, at)
        if entry.role == "assistant" and GENERIC_ERROR in text and entry.turn_id not in self._failed_turns:
            self._failed_turns.add(entry.turn_id)
            self.found.errors.append({"kind": "generic_error", "message": GENERIC_ERROR, "t": at})

    def _said(self, role: str, turn: int, text: str, at: float | None) -> None:
        latency = None
        if role == "assistant" and turn in self._agent_turns and turn not in self._complete:
            self._complete.add(turn)
            latency = self._moments.latency_ms(turn)
            self.found.events.append(TurnComplete(latency, at))
        side = _SIDES.get(role, role)
        self.found.turns.append(Turn(side, text, at, self._state, latency))
        self.found.places.setdefault((side, turn), len(self.found.turns))

    def _guard(self, name: str, error: str, at: float | None) -> None:
        self.found.events.append(GuardEvaluated(name, None, error, at))

    def _move(self, state: str, at: float | None) -> None:
        if state == self._state:
            return
        if self._state is not None:
            self.found.events.append(StateExited(self._state, state, None, at))
        segment = state if state in (OPENING, CLOSING) else segment_of_tool(state, self._tool_types)
        self.found.events.append(StateEntered(state, at, segment))
        self.found.states.append(state)
        self._state = state


def _answers(trace: list[LoggedEntry]) -> dict[int, LoggedEntry]:
    """Return the response to each call, by the call's place: the first one of that tool that no earlier call got."""
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    found = {}
    for index, entry in enumerate(trace):
        name = tool_name(entry.tool_name)
        if entry.type == "tool_call":
            waiting[name].append(index)
        elif entry.type == "tool_response" and waiting[name]:
            found[waiting[name].popleft()] = entry
    return found


def _agent_turns(context: MetricContext) -> set[int]:
    """Return turns in which the agent spoke: those that EVA counts, and where it has none those with any sign of it."""
    texts = context.transcribed_assistant_turns if context.is_s2s else context.intended_assistant_turns
    spoken = {turn for turn, text in texts.items() if text}
    if spoken:
        return spoken
    heard = {turn for turn, text in context.transcribed_assistant_turns.items() if text}
    audible = {turn for turn, spans in context.audio_timestamps_assistant_turns.items() if spans}
    return heard | audible | {entry.turn_id for entry in context.conversation_trace if entry.role == "assistant"}


def _untraced(context: MetricContext, agent_turns: set[int]) -> list[tuple[int, str, str]]:
    """Return what sides said in turns that the trace has nothing of, the caller first in each.

    The caller's turns are among them only where the trace has none from a log: else what is missing was not heard.
    """
    trace = context.conversation_trace
    traced = {entry.turn_id for entry in trace if entry.role == "assistant"}
    found = [
        (
            turn,
            "assistant",
            context.intended_assistant_turns.get(turn) or context.transcribed_assistant_turns.get(turn) or "",
        )
        for turn in agent_turns - traced
    ]
    callers = {entry.turn_id for entry in trace if entry.role == "user"}
    if all(entry.timestamp is None for entry in trace if entry.role == "user"):
        heard, meant = context.transcribed_user_turns, context.intended_user_turns
        texts = {turn: heard.get(turn) or meant.get(turn) for turn in heard.keys() | meant.keys()}
        found += [(turn, "user", text) for turn, text in texts.items() if text and turn not in callers]
    return sorted(found, key=lambda each: (each[0], each[1] != "user"))
