"""Derive the states of a voice call from the tools that it called (docs/metrics.md, section 9).

The state is the tool last called, `opening` before the first, `closing` from the last turn after the last tool
where the call ended by goodbye. The same tool again at once is one visit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from riff_ingest.conversation import ReferenceStep, ToolCall, Turn
from riff_ingest.eva.context import AudioByTurn, MetricContext
from riff_ingest.eva.metrics.tool_call_validity import INVALID
from riff_ingest.eva.trace import GENERIC_ERROR, LoggedEntry
from riff_ingest.events import LONGEST, Event, GuardEvaluated, StateEntered, StateExited, TurnComplete
from riff_ingest.lenient_json import is_deep
from riff_ingest.tool_states import answers_in_order

OPENING = "opening"
CLOSING = "closing"
_SIDES = {"assistant": "agent", "user": "caller"}


@dataclass(slots=True)
class Derived:
    """Describe what a call's trace shows in the terms of every source; `states` are those visited, in order.

    `places` are the numbers, from 1 on, of the first thing that each side said in each turn.
    """

    turns: list[Turn] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    places: dict[tuple[str, int], int] = field(default_factory=dict)


def derive(context: MetricContext, moments: CallClock, tool_types: Mapping[str, str], *, said_goodbye: bool) -> Derived:
    """Return turns, events and calls of tools of a context; nothing if its trace and its turns are empty."""
    walk = _Walk(context, moments, tool_types)
    closing = _closing(context.conversation_trace) if said_goodbye else None
    for index, entry in enumerate(context.conversation_trace):
        walk.take(index, entry, closes=index == closing)
    walk.catch_up(None)
    return walk.found


def error_of(response: Any) -> str | None:
    """Return what went wrong according to a tool's response, `None` if nothing did."""
    if not isinstance(response, Mapping):
        return None
    kind, status = response.get("error_type"), response.get("status")
    if not kind and not (isinstance(status, str) and status.lower() in ("error", "failure", "failed")):
        return None
    said = [text for text in (kind, response.get("message") or response.get("error")) if isinstance(text, str) and text]
    return ": ".join(said) or "error"


def error_kind(response: Any) -> str | None:
    """Return the kind of error that a tool's response names, `None` if it names none."""
    kind = response.get("error_type") if isinstance(response, Mapping) else None
    return kind if isinstance(kind, str) else None


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
        kind = error_kind(answer.tool_response) if answer is not None else None
        fits = False if kind in INVALID and kind.startswith("invalid") else None
        seq = len(self.found.events) + len(self.found.turns)
        changes = told_changes(name, self._tool_types)
        self.found.tool_calls.append(
            ToolCall(name, at, arguments, error, state=self._state, seq=seq, changes=changes, fits=fits)
        )
        if error is not None and answer is not None:
            self._guard(name, error, self._moments.of(answer))

    def _response(self, entry: LoggedEntry, at: float | None) -> None:
        error = error_of(entry.tool_response)
        if id(entry) not in self._answered:  # its call was not logged, but it was made
            self._move(tool_name(entry.tool_name), at)
            if error is not None:
                self._guard(tool_name(entry.tool_name), error, at)
        response = entry.tool_response
        if (kind := error_kind(response)) in INVALID:
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
    """Return the response to each call by the call's place; the log has no ids, so the tools represent them."""
    made = {"tool_call": False, "tool_response": True}
    steps = ((tool_name(each.tool_name) if each.type in made else None, made.get(each.type, False)) for each in trace)
    return {place: trace[answer] for place, answer in answers_in_order(steps).items()}


def _agent_turns(context: MetricContext) -> set[int]:
    """Return turns in which the agent spoke: those that EVA counts, and if it has none those with any sign of it."""
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


# Give the times of a voice call as seconds since it started.
class CallClock:
    """Measure time in one call, from the earliest event in its logs, else from the first sound."""

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self.start = context.started_s

    def since(self, moment: float | None) -> float | None:
        """Return seconds from the start to a moment in seconds since the epoch.

        `None` if one of them is not known.
        """
        if moment is None or self.start is None or not abs(moment - self.start) <= LONGEST:
            return None
        return round(moment - self.start, 6)

    def of(self, entry: LoggedEntry) -> float | None:
        """Return when an entry of the trace was logged.

        One that was made up is as old as its side's audio in that turn.
        """
        if entry.timestamp is not None:
            return self.since(entry.timestamp / 1000)
        return self.audio_start(entry.role, entry.turn_id)

    def audio_start(self, role: str | None, turn: int) -> float | None:
        """Return when a side began to be heard in a turn."""
        spans = self._audio(role).get(turn)
        return self.since(spans[0][0]) if spans else None

    def latency_ms(self, turn: int) -> float | None:
        """Return how long the caller waited for the agent, in milliseconds; a barge-in has no latency."""
        latency = self._context.latency_assistant_turns.get(turn)
        if latency is None or not 0 < latency * 1000 <= LONGEST:
            return None
        return round(latency * 1000, 3)

    def started_at(self) -> str | None:
        """Return the start in UTC as RFC 3339; `None` if it is not a date."""
        if self.start is None:
            return None
        try:
            return datetime.fromtimestamp(self.start, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            return None

    def _audio(self, role: str | None) -> AudioByTurn:
        context = self._context
        return context.audio_timestamps_user_turns if role == "user" else context.audio_timestamps_assistant_turns


# Type the tools of an agent, and compare those called with those expected (docs/metrics.md, section 9).
AUTH, READ, WRITE, SYSTEM = "auth", "read", "write", "system"
UNNAMED = "(unnamed tool)"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_READS = frozenset({"get", "search", "find", "list", "check", "lookup"})
_NAMES = ("tool_name", "tool", "name", "function")
_ARGUMENTS = ("parameters", "tool_parameters", "arguments", "args", "params")


def tool_name(name: Any) -> str:
    """Return a tool's name as text."""
    return (name if isinstance(name, str) else "" if name is None else str(name)) or UNNAMED


def tool_types(tools: Iterable[Mapping[str, Any]] | None) -> dict[str, str]:
    """Return the types of an agent's tools by name and by id, both in lower case."""
    found = {}
    for tool in tools or ():
        kind = tool.get("tool_type")
        for name in (tool.get("id"), tool.get("name")):
            if isinstance(kind, str) and kind and isinstance(name, str) and name:
                found[name.lower()] = kind.lower()
    return found


def segment_of_tool(name: str, types: Mapping[str, str]) -> str:
    """Return the phase of a call that a tool belongs to: its type, else what its name sounds like."""
    return types.get(name.lower()) or guessed_type(name)


def told_changes(name: str, types: Mapping[str, str]) -> bool | None:
    """Return whether a tool changes something by its type, `None` if it has none."""
    kind = types.get(name.lower())
    return None if kind is None else kind == WRITE


def is_transfer(name: str, types: Mapping[str, str]) -> bool:
    """Return whether a tool hands the call to a human; one of a type that does other work, such as miles, does not."""
    return name.lower().startswith("transfer") and types.get(name.lower(), SYSTEM) == SYSTEM


@lru_cache(maxsize=1024)
def guessed_type(name: str) -> str:
    """Return a tool's type by the words of its name."""
    words = [word.lower() for word in _WORD.findall(name)]
    if any(word.startswith(("auth", "verif")) for word in words):
        return AUTH
    if not _READS.isdisjoint(words):
        return READ
    if any(word == "end" or word.startswith("transfer") for word in words):
        return SYSTEM
    return WRITE


def expected_steps(
    trace: Iterable[Any] | None, called: Iterable[Mapping[str, Any]], types: Mapping[str, str]
) -> list[ReferenceStep] | None:
    """Return the reference steps of a dataset's `expected_trace`; entries that are no calls of tools are passed over.

    `called` are a context's `tool_params`. A step without arguments matches nothing and misses nothing. `None` without
    a trace.
    """
    if trace is None:
        return None
    given = [(tool_name(call.get("tool_name")), call.get("tool_parameters")) for call in called]
    steps = []
    for entry in trace:
        name = _name(entry)
        if name is None:
            continue
        wanted = _arguments(entry)
        tried = [arguments for tool, arguments in given if tool.lower() == name.lower()]
        # The state of a step is that of the call, however the dataset spells its name.
        spelled = next((tool for tool, _ in given if tool.lower() == name.lower()), name)
        matched = None if wanted is None else wanted in tried
        steps.append(
            ReferenceStep(
                spelled,
                called=bool(tried),
                matched=matched,
                arguments=None if is_deep(wanted) else wanted,
                changes=told_changes(name, types),
            )
        )
    return steps


def _name(entry: Any) -> str | None:
    if isinstance(entry, str):
        return entry or None
    if not isinstance(entry, Mapping) or "tool_response" in entry or entry.get("type") == "tool_response":
        return None
    return next((entry[key] for key in _NAMES if isinstance(entry.get(key), str) and entry[key]), None)


def _arguments(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return None
    return next((entry[key] for key in _ARGUMENTS if isinstance(entry.get(key), Mapping)), None)
