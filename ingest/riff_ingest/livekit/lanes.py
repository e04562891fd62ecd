"""Keep the voice of a session: when each side spoke, who broke in, and what the parts of an answer took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from riff_ingest.livekit.report import Item, Report
from riff_store.voice import Span, TraceEntry, Voice, VoiceTurn


def voice_of(report: Report) -> Voice | None:
    """Return the kept form of a session's voice, `None` of a chat: nothing tells of sound."""
    said = [item for item in report.items if item.is_said]
    if not any(item.started or item.interrupted or "transcription_delay" in item.details for item in said):
        return None
    turns = _Turns()
    trace = [entry for item in report.items for entry in turns.take(item, report)]
    return Voice(
        pipeline="cascade" if any("tts_node_ttfb" in item.details for item in said) else "",
        language="",
        ended=report.close_reason,
        caller=turns.spans["user"],
        agent=turns.spans["assistant"],
        turns=[turns.turn(number) for number in sorted(turns.numbers)],
        trace=trace,
    )


@dataclass(slots=True)
class _Turns:
    """Number the turns of a call: one is what the caller said, and all that the agent did then; 0 is the greeting."""

    numbers: set[int] = field(default_factory=set)
    spans: dict[str, list[Span]] = field(default_factory=lambda: {"user": [], "assistant": []})
    _now: int = 0
    _last: str = "assistant"
    _latency: dict[int, float] = field(default_factory=dict)
    _broken_into: set[int] = field(default_factory=set)
    _details: dict[int, dict[str, Any]] = field(default_factory=dict)

    def take(self, item: Item, report: Report) -> Iterator[TraceEntry]:
        """Yield what the trace has of an item."""
        t = report.since(item.at)
        if item.is_said:
            self._number(item)
            started, stopped = report.since(item.started), report.since(item.stopped)
            if started is not None and stopped is not None and started <= stopped:
                self.spans[item.role].append(Span(self._now, started, stopped))
            kind = "transcribed" if item.role == "user" else "intended"
            yield TraceEntry(kind, self._now, t, role=item.role, text=item.text)
        elif item.kind == "function_call":
            yield TraceEntry("tool_call", self._now, t, tool=item.name, value=item.arguments)
        elif item.kind == "function_call_output":
            answer = {"status": "error", "message": item.output} if item.is_error else item.output
            yield TraceEntry("tool_response", self._now, t, tool=item.name, value=answer)

    def turn(self, number: int) -> VoiceTurn:
        """Return what is known of a turn; what was said in it stands in the trace."""
        return VoiceTurn(
            number,
            latency=self._latency.get(number),
            caller_interrupted=number in self._broken_into,
            evidence=self._details.get(number, {}),
        )

    def _number(self, item: Item) -> None:
        self._now += item.role == "user" and self._last == "assistant"
        self._last = item.role
        self.numbers.add(self._now)
        if item.role == "assistant" and item.latency is not None:
            self._latency.setdefault(self._now, item.latency)
        if item.role == "assistant" and item.interrupted:
            self._broken_into.add(self._now + 1)
            self.numbers.add(self._now + 1)
        self._keep(item.details)

    def _keep(self, details: Mapping[str, float]) -> None:
        """Keep the first of each latency in a turn, in milliseconds."""
        kept = self._details.setdefault(self._now, {})
        for name, seconds in details.items():
            kept.setdefault(f"{name}_ms", seconds * 1000)
