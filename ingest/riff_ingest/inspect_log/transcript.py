"""Put the messages, tool calls and agents of a sample into one order, with the times that its events tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from riff_ingest.conversation import ROLES
from riff_ingest.events import LONGEST
from riff_ingest.inspect_log.agent_states import AgentStates
from riff_ingest.inspect_log.happenings import Happening, Happenings
from riff_ingest.inspect_log.sample import PRIVATE, Sample, attached, spoken
from riff_ingest.sources.json_parts import object_of, objects_of, text_of
from riff_ingest.tool_segments import ToolSegments
from riff_ingest.tool_states import ToolStates

_HAND_OVER, _SPEAK = 0, 1
_WITHOUT_A_REASON = "failed"


def transcript_of(sample: Sample, happenings: Happenings, began: int | None, segments: ToolSegments) -> ToolStates:
    """Return what was said and called in a sample, in order; its states are its agents, else its tools.

    `began` is when the call started, in microseconds since the epoch.
    """
    if happenings.has_agents:
        agents = AgentStates(happenings.agents[0].name)
        order = _Order(sample, happenings, began, agents)
        for agent in happenings.agents:
            order.add(agent.place, _HAND_OVER, partial(agents.move, agent.name, order.seconds(agent.began)))
        states: ToolStates = agents
    else:
        states = ToolStates(segments)
        order = _Order(sample, happenings, began, states)
    order.take_messages()
    order.take_other_calls()
    order.carry_out()
    return states


class _Order:
    """Collect the steps of a call, each at its place among the events; of one place they stay as they came."""

    def __init__(self, sample: Sample, happenings: Happenings, began: int | None, states: ToolStates) -> None:
        self._sample = sample
        self._attachments = object_of(sample.attachments)
        self._happenings = happenings
        self._began = began
        self._states = states
        self._steps: list[tuple[int, int, Callable[[], None]]] = []
        self._called: set[str] = set()

    def add(self, place: int, rank: int, step: Callable[[], None]) -> None:
        self._steps.append((place, rank, step))

    def seconds(self, time: int | None) -> float | None:
        """Return a time in seconds since the call started; what came before it comes with its start."""
        if time is None or self._began is None:
            return None
        seconds = (time - self._began) / 1e6
        return max(seconds, 0.0) if seconds <= LONGEST else None

    def take_messages(self) -> None:
        """Add what was said and called, as the messages have it."""
        messages = objects_of(self._sample.messages)
        results = {key: each for each in messages if (key := text_of(each.get("tool_call_id")))}
        place = -1
        for message in messages:
            by = ROLES.get(str(message.get("role")))
            if by is None:
                made = self._happenings.tools.get(text_of(message.get("tool_call_id")) or "")
                place = place if made is None else max(place, made.place)
                continue
            said = spoken(message.get("content"), self._attachments)
            made = self._happenings.answer(message, said, by, self._attachments)
            place = place if made is None else max(place, made.place)
            if said:
                t = self.seconds(made.ended or made.began) if made else self._given_at_first(message, place)
                latency = made.latency_ms if made and by == "agent" else None
                self.add(place, _SPEAK, partial(self._states.say, by, PRIVATE.text(said), t, latency))
            for call in objects_of(message.get("tool_calls")):
                self._take_call(call, by, place, results)

    def take_other_calls(self) -> None:
        """Add the calls that no message has: those of the caller, and of agents that work for another."""
        for key, happening in self._happenings.tools.items():
            if key not in self._called:
                event = happening.event
                self._call(event.function, event.arguments, happening.by, happening.place, None, happening)

    def carry_out(self) -> None:
        for _, _, step in sorted(self._steps, key=lambda step: step[:2]):
            step()

    def _given_at_first(self, message: Mapping[str, Any], place: int) -> float | None:
        """Return when a message came that no model made: with the start of the call, if it is of its input."""
        return self.seconds(self._began) if place < 0 and message.get("source") == "input" else None

    def _take_call(self, call: Mapping[str, Any], by: str, place: int, results: Mapping[str, Any]) -> None:
        key = text_of(call.get("id")) or ""
        self._called.add(key)
        happening = self._happenings.tools.get(key)
        place = place if happening is None else max(place, happening.place)
        self._call(call.get("function"), call.get("arguments"), by, place, results.get(key), happening)

    def _call(
        self,
        function: Any,
        arguments: Any,
        by: str,
        place: int,
        answer: Mapping[str, Any] | None,
        happening: Happening | None,
    ) -> None:
        name = text_of(function)
        if name is None:
            return
        event = happening.event if happening else None
        result = answer.get("content") if answer else event.result if event else None
        if isinstance(result, str | list):
            result = spoken(result, self._attachments) or None
        failed = _error(answer.get("error")) if answer else None
        step = partial(
            self._states.call,
            name,
            by=by,
            t=self.seconds(happening.began) if happening else None,
            arguments=PRIVATE.value(attached(arguments, self._attachments)),
            result=PRIVATE.value(result),
            error=failed or (_error(event.error, bool(event.failed)) if event else None),
        )
        self.add(place, _SPEAK, step)


def _error(given: Any, failed: bool = False) -> str | None:
    """Return what went wrong with a call of a tool: the kind of the error and what it says."""
    error = object_of(given)
    said = [part for part in (text_of(error.get("type")), text_of(error.get("message"))) if part]
    return PRIVATE.text(": ".join(said)) or (_WITHOUT_A_REASON if failed or error else None)
