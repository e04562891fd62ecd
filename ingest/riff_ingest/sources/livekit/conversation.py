"""Turn a session report into a call and the verdicts on it (docs/formats/livekit.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from riff_ingest.conversation import DERIVED, ROLES, Contract, Conversation
from riff_ingest.platforms import ESCALATED, with_escalation
from riff_ingest.segments import OPENING, ToolSegments, hands_over
from riff_ingest.source import run_of, text_of
from riff_ingest.sources.livekit.report import Item, Report
from riff_ingest.state_aspects import read_stream
from riff_ingest.tool_states import ToolStates, answers_in_order
from riff_store.facts import JudgedScore
from riff_store.voice import Span, TraceEntry, Voice, VoiceTurn

UNNAMED = "(unnamed tool)"
CONSOLE = "console-recordings"
"""The directory in which the SDK itself keeps reports, a directory for each."""

_SUCCESS, _FAIL = "lk.success", "lk.fail"
_JUDGE = "lk.judge."
_OUTPUT = "function_call_output"
_OF_TOOLS = ("function_call", _OUTPUT)
_SCORES = {"pass": 10.0, "maybe": 5.0, "fail": 0.0}
_STOPS = {
    "job_shutdown": "job_shutdown",
    "participant_disconnected": "hangup",
    "user_initiated": "terminal",
    "task_completed": "terminal",
}


def conversation_of(
    report: Report, path: Path, contracts: Mapping[str, Contract], segments: ToolSegments
) -> Conversation:
    """Return the call of a report; `path` is where it is, `contracts` are by flow."""
    first, by_agent = _agents(report)
    states = ToolStates(segments, first or OPENING)
    for item in _with_outputs(report.items):
        _take(item, states, report, by_agent=by_agent)
    flow = report.agent_name or first or "livekit"
    reason = None if report.close_reason is None else report.close_reason.lower().removeprefix("cr_")
    call = Conversation(
        conversation_id=_name(report, path),
        flow=flow,
        run_id=_run(report, path),
        agent_model=" + ".join(report.models) or "(unknown)",
        started_at=_iso(report.begins_at),
        duration_s=report.duration_s,
        stop_reason=_STOPS.get(reason or "", reason),
        unknown_end=reason is not None and reason not in _STOPS and "error" not in reason,
        final_state=states.state,
        final_status=report.close_reason,
        errored=(error := _error(report, reason)) is not None,
        error=error,
        errors=_errors(report, states),
        contract=_contract(contracts.get(flow), states, by_agent=by_agent),
        turns=states.turns,
        events=states.events,
        tool_calls=states.tool_calls,
        origin="observed" if by_agent else DERIVED,
        passed=False if _FAIL in report.tags else True if _SUCCESS in report.tags else None,
        voice=voice_of(report),
    )
    _complete(call, reason)
    return call


def _contract(promised: Contract | None, states: ToolStates, *, by_agent: bool) -> Contract | None:
    """Return what a flow file promises of a call; a tool that hands it to a human is an escalation without one too."""
    if promised is not None:
        return with_escalation(promised) if ESCALATED in states.states else promised
    if by_agent:
        return None
    return Contract(escalation_terminals=list(dict.fromkeys(filter(hands_over, states.states))))


def _complete(call: Conversation, reason: str | None) -> None:
    """Decide whether a call was completed: by its tags, by LiveKit, by the terminals of a flow file, or unknown.

    A call that was did end as it should, whoever hung up.
    """
    contract = call.contract
    call.completed = call.passed
    if call.completed is None and reason == "task_completed":
        call.completed = True
    if call.completed is None and contract is not None and contract.success_terminals:
        stream = read_stream(call.events, contract)
        if stream.succeeded or stream.escalated or not call.unknown_end:
            call.completed = stream.succeeded
    if call.completed is None:
        call.measured = {"completion": None}
    elif call.completed and "error" not in (reason or ""):
        call.stop_reason = "terminal"


def verdicts_of(report: Report, call: Conversation) -> Iterator[JudgedScore]:
    """Yield what the judges of LiveKit say about a call; a word that is none of theirs is unscored."""
    for tag in dict.fromkeys(report.tags):
        judge, colon, verdict = tag.removeprefix(_JUDGE).rpartition(":")
        if tag.startswith(_JUDGE) and colon and judge:
            yield JudgedScore(
                run=call.run_id or "",
                conversation=call.conversation_id,
                judge=judge,
                score=_SCORES.get(verdict.lower()),
                judged_at=None if report.written_at is None else int(report.written_at * 1e6),
                aspect=judge,
                rationale=verdict,
                flow=call.flow,
                agent=call.agent_model,
                trial=call.trial,
            )


def _agents(report: Report) -> tuple[str | None, bool]:
    """Return the agent that the call began with, and whether it was handed to another one."""
    handed = [item for item in report.items if item.kind == "agent_handoff" and item.new_agent]
    if not handed:
        return report.agent_name, False
    spoken_before = any(item.is_said for item in report.items[: report.items.index(handed[0])])
    first = handed[0].old_agent or (report.agent_name if spoken_before else None) or handed[0].new_agent
    return first, any(item.new_agent != first for item in handed)


def _with_outputs(items: list[Item]) -> Iterator[tuple[Item, Item | None]]:
    """Yield items with what came back of those that call a tool; an answer to no call represents its call."""
    called = {item.call_id for item in items if item.kind == "function_call"}
    steps = ((item.call_id if item.kind in _OF_TOOLS else None, item.kind == _OUTPUT) for item in items)
    outputs = answers_in_order(steps)
    for place, item in enumerate(items):
        if item.kind != _OUTPUT:
            yield item, items[outputs[place]] if place in outputs else None
        elif item.call_id is None or item.call_id not in called:
            yield item, item


def _take(pair: tuple[Item, Item | None], states: ToolStates, report: Report, *, by_agent: bool) -> None:
    item, output = pair
    t = report.since(item.at)
    if item.is_said:
        states.say(ROLES[item.role], item.text, t, None if item.latency is None else item.latency * 1000)
    elif item.kind == "agent_handoff" and item.new_agent and by_agent:
        states.begin(t)
        states.move(item.new_agent, t)
    elif item.kind in ("function_call", "function_call_output"):
        states.begin(t)
        name, by, place = item.name or UNNAMED, states.state, len(states.events) + len(states.turns)
        states.call(
            name,
            t=t,
            arguments=item.arguments,
            result=None if output is None else output.output,
            error=None if output is None or not output.is_error else str(output.output or "error"),
            state=None if not by_agent else ESCALATED if hands_over(name) else states.state,
        )
        if by_agent:  # the agent called it that was there before it led anywhere
            states.tool_calls[-1] = msgspec.structs.replace(states.tool_calls[-1], state=by, seq=place)


def _error(report: Report, reason: str | None) -> str | None:
    """Return why a call counts as errored, `None` if it does not; older reports count no errors."""
    if reason is None or "error" not in reason or (report.errors is not None and not report.errors):
        return None
    parts = ", ".join(f"{part} {count}" for part, count in (report.errors or {}).items())
    return f"closed by an error{f' ({parts})' if parts else ''}"


def _errors(report: Report, states: ToolStates) -> list[Any]:
    """Return what went wrong during the call: tools that failed, and errors of the session's parts."""
    tools = [
        {"kind": "tool", "message": call.error, "t": call.t} for call in states.tool_calls if call.error is not None
    ]
    parts = [{"kind": part} for part, count in (report.errors or {}).items() for _ in range(count)]
    return [*tools, *parts]


def _name(report: Report, path: Path) -> str:
    """Return the name of the call: of its job, else of the directory of its own, else of the file."""
    if report.job:
        return report.job
    if path.name.startswith("session_report."):
        return run_of(path)
    return text_of(path.name.partition(".")[0])


def _run(report: Report, path: Path) -> str:
    """Return the run: the directory of the reports, the day if that is the SDK's own, which has all days."""
    directory = path.absolute().parent
    if directory.parent.name == CONSOLE or text_of(directory.name) in (report.job, *report.rooms):
        directory = directory.parent
    day = _iso(report.begins_at or report.written_at)
    return day[:10] if directory.name == CONSOLE and day else run_of(directory / path.name)


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


# Keep the voice of a session: when each side spoke, who broke in, and what the parts of an answer took.
def voice_of(report: Report) -> Voice | None:
    """Return the kept form of a session's voice, `None` of a chat: nothing shows sound."""
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
        """Return what is known of a turn; what was said in it is in the trace."""
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
