"""Turn one conversation of a run into the form that every source delivers (docs/formats/eva.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from riff_ingest.conversation import Contract, Conversation
from riff_ingest.eva.context import AudioByTurn, MetricContext
from riff_ingest.eva.derived import CallClock, Derived, derive, expected_steps, is_transfer, tool_name, tool_types
from riff_ingest.eva.directories import Identity
from riff_ingest.eva.metrics.compute import COMPUTED
from riff_ingest.eva.metrics.conversation_end import AGENT_TIMEOUT, VALID_END
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.scenario_outcome import task_completion
from riff_ingest.eva.metrics.score import MetricScore
from riff_ingest.eva.metrics.turn_taking import turn_taking
from riff_ingest.eva.run_inputs import Configuration
from riff_ingest.eva.stored_metrics import Places, is_judged, stored_pass
from riff_ingest.eva.trace import LoggedEntry
from riff_ingest.events import LONGEST
from riff_ingest.lenient_json import is_deep, parse_time
from riff_store.metrics import metric_of
from riff_store.voice import Span, Task, TraceEntry, Voice, VoiceTurn

RECOMPUTED = "recomputed from the expected database"
STORED = "metrics.json"


@dataclass(slots=True)
class ReadCall:
    """Describe a conversation, where its stored scores differ from its logs, and the places of its turns."""

    conversation: Conversation
    mismatches: list[str] = field(default_factory=list)
    places: Places = field(default_factory=dict)


def conversation_of(
    identity: Identity,
    configuration: Configuration,
    context: MetricContext,
    result: Mapping[str, Any] | None,
    scores: Mapping[str, MetricScore],
    computed: Mapping[str, MetricScore],
    played: Mapping[str, Any] | None = None,
) -> ReadCall:
    """Return the conversation of a context with the scores that EVA stored and those that are computed from it.

    `played` is the dataset's record, `result` its result.json.
    """
    ending = outcome_of(result, scores.get(VALID_END))
    moments, types = CallClock(context), tool_types(context.agent_tools)
    derived = derive(context, moments, types, said_goodbye=ending.said_goodbye)
    steps = expected_steps(context.expected_trace, context.tool_params, types)
    timing = _timing(context)
    task, mismatches = _task(context, scores)
    aspects = aspects_of(computed, scores)
    call = Conversation(
        conversation_id=identity.conversation,
        flow=configuration.domain,
        run_id=identity.run,
        run_label=identity.run_label,
        commit=configuration.commit,
        branch=configuration.branch,
        agent_model=configuration.agent or "(unknown)",
        persona=_persona(played),
        scenario=identity.record,
        trial=identity.trial or 0,
        started_at=moments.started_at() or _stored_start(result),
        duration_s=seconds if (seconds := context.duration_seconds) is not None and 0 <= seconds <= LONGEST else None,
        completed=ending.completed,
        stop_reason=ending.stop_reason,
        unknown_end=ending.completed is None and ending.stop_reason is not None,
        final_state=derived.states[-1] if derived.states else None,
        final_status=context.conversation_ended_reason,
        errored=ending.error is not None,
        error=ending.error,
        errors=derived.errors,
        contract=_contract(derived, types, {step.name for step in steps or ()}),
        turns=derived.turns,
        events=derived.events,
        tool_calls=derived.tool_calls,
        expected_steps=steps,
        channel="voice",
        origin="derived",
        passed=task.passed,
        needs_verdict=task.passed is None,
        measured=aspects.measured,
        stored=aspects.stored,
        voice=voice_of(context, moments, task, timing, aspects),
    )
    return ReadCall(call, mismatches + aspects.mismatches, derived.places)


def _contract(derived: Derived, types: Mapping[str, str], expected: set[str]) -> Contract:
    """Return a contract by which hand-overs to a human that the task does not ask for are escalations."""
    called = dict.fromkeys(state for state in derived.states if is_transfer(state, types) and state not in expected)
    return Contract(escalation_terminals=list(called))


def _timing(context: MetricContext) -> MetricScore | None:
    """Return the score of turn-taking.

    `None` if no turn could be looked at, which is not the same as badly timed.
    """
    score = turn_taking(context, RecordFiles())
    return score if score.details["num_evaluated"] or score.details["missed_turn"] else None


def _task(context: MetricContext, scores: Mapping[str, MetricScore]) -> tuple[Task, list[str]]:
    """Return whether the task was done, by the logs where they can tell, else as stored; and where these two differ."""
    stored = stored_pass(scores)
    computed = task_completion(context, RecordFiles())
    if computed.error is not None or computed.score is None:
        source = None if stored is None else STORED
        return task_of(stored, source, scores.get(computed.name) if source else None), []
    passed = computed.score >= 1.0
    task = task_of(passed, RECOMPUTED, computed)
    if stored is None or stored == passed:
        return task, []
    return task, [f"task_completion stored as {_word(stored)}, recomputed as {_word(passed)}"]


def _word(passed: bool) -> str:
    return "passed" if passed else "failed"


def _persona(played: Mapping[str, Any] | None) -> str | None:
    user = (played or {}).get("user_config")
    given = user.get("user_persona_id") if isinstance(user, Mapping) else None
    if isinstance(given, str):
        return given or None
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else None


def _stored_start(result: Mapping[str, Any] | None) -> str | None:
    """Return when the worker began by its own words: in its own time without a zone, so only where no log shows."""
    started = (result or {}).get("started_at")
    return started if isinstance(started, str) and parse_time(started) is not None else None


# Read how a conversation ended, in the terms of every source, and whether it counts at all.
_ENDS = {
    "goodbye": (True, "terminal"),
    "transfer": (True, "terminal"),
    "time_limit_exceeded": (False, "timeout"),
    "timeout": (False, "timeout"),
    "inactivity_timeout": (False, "timeout"),
    "session_ended": (False, "hangup"),
}
_DISCONNECT, _FAILURE = "_disconnect", "_error"
_BROKEN = frozenset({"error", "cancelled"})


class EvaOutcome(NamedTuple):
    """Describe how a conversation ended; `error` shows why it does not count, `None` if it counts."""

    completed: bool | None
    stop_reason: str | None
    error: str | None

    @property
    def said_goodbye(self) -> bool:
        """Return whether the call came to a regular end."""
        return self.completed is True


def outcome_of(result: Mapping[str, Any] | None, valid_end: MetricScore | None = None) -> EvaOutcome:
    """Return what a result.json reports of the end; without one the conversation was never finished.

    If it has no word that EVA has, EVA's own metric `valid_end` shows whether it is 1: it gives 0 to all but a goodbye.
    """
    if result is None:
        return EvaOutcome(False, "error", "result.json is missing or broken, so the conversation was never finished")
    reason = result.get("conversation_ended_reason")
    reason = reason if isinstance(reason, str) and reason else None
    completed, stop = _end(reason)
    error = _error(result, reason)
    if error is not None:
        return EvaOutcome(False, stop or "error", error)
    if completed is None and valid_end is not None and not valid_end.skipped and valid_end.value == 1:
        left = valid_end.details.get("reason") == AGENT_TIMEOUT
        return EvaOutcome(False, "timeout", None) if left else EvaOutcome(True, "terminal", None)
    return EvaOutcome(completed, stop, None)


def _end(reason: str | None) -> tuple[bool | None, str | None]:
    if reason is None:
        return None, None
    if reason.endswith(_DISCONNECT):
        return False, "hangup"
    if reason.endswith(_FAILURE):
        return False, "error"
    return _ENDS.get(reason, (None, reason))


def _error(result: Mapping[str, Any], reason: str | None) -> str | None:
    accepted = result.get("time_limit_accepted") is True
    if reason in _BROKEN or (reason or "").endswith(_FAILURE):
        why = f"it ended with {reason}"
    elif result.get("completed") is False and not accepted:
        why = "result.json reports that it was not completed"
    else:
        return None
    said = _said(result)
    return f"{why}: {said}" if said else why


def _said(result: Mapping[str, Any]) -> str | None:
    """Return what the worker wrote of the error."""
    details = result.get("error_details")
    details = details if isinstance(details, Mapping) else {}
    for text in (result.get("error"), details.get("original_error"), details.get("error_type")):
        if isinstance(text, str) and text:
            return text
    return None


# Keep the voice of a call beside its transcript: lanes of audio, what each side said and heard, and timing.
def voice_of(
    context: MetricContext,
    moments: CallClock,
    task: Task,
    timing: MetricScore | None,
    aspects: CallAspects,
) -> Voice:
    """Return the kept form of a call's context; `timing` has the score of each turn, `aspects` those of the call."""
    details = timing.details if timing is not None else {}
    return Voice(
        pipeline=context.pipeline_type,
        language=context.language,
        ended=context.conversation_ended_reason,
        caller=list(_spans(context.audio_timestamps_user_turns, moments)),
        agent=list(_spans(context.audio_timestamps_assistant_turns, moments)),
        turns=[_turn(context, turn, details) for turn in _turns(context)],
        trace=[_entry(entry, moments) for entry in context.conversation_trace],
        task=task,
        turn_taking=aspects.measured.get("turn_taking"),
        warnings=list(context.warnings),
        unmeasured=aspects.unmeasured,
    )


def task_of(passed: bool | None, source: str | None, score: MetricScore | None) -> Task:
    """Return whether the task was done and, if the score shows it, how the database differs from the expected."""
    details = score.details if score is not None else {}
    message = details.get("message")
    return Task(
        passed=passed,
        source=source,
        message=message if isinstance(message, str) else None,
        diff=_object(details.get("diff")),
        mismatches=_object(details.get("auth_mismatches")),
    )


def _spans(audio: AudioByTurn, moments: CallClock) -> Iterator[Span]:
    for turn in sorted(audio):
        for start, end in audio[turn] or ():
            begins, ends = moments.since(start), moments.since(end)
            if begins is not None and ends is not None:
                yield Span(turn, begins, ends)


def _turns(context: MetricContext) -> list[int]:
    return sorted(
        context.transcribed_assistant_turns.keys()
        | context.transcribed_user_turns.keys()
        | context.fallback_turn_ids
        | {entry.turn_id for entry in context.conversation_trace}
    )


def _turn(context: MetricContext, turn: int, details: Mapping[str, Any]) -> VoiceTurn:
    return VoiceTurn(
        turn,
        caller_meant=context.intended_user_turns.get(turn) or None,
        caller_heard=context.transcribed_user_turns.get(turn) or None,
        agent_meant=context.intended_assistant_turns.get(turn) or None,
        agent_heard=context.transcribed_assistant_turns.get(turn) or None,
        latency=context.latency_assistant_turns.get(turn),
        agent_interrupted=turn in context.assistant_interrupted_turns,
        caller_interrupted=turn in context.user_interrupted_turns,
        nudged=turn in context.fallback_turn_ids,
        score=_of_turn(details, "per_turn_score", turn),
        reason=_of_turn(details, "per_turn_reason", turn),
        evidence=_of_turn(details, "per_turn_evidence", turn) or {},
    )


def _of_turn(details: Mapping[str, Any], name: str, turn: int) -> Any:
    by_turn = details.get(name)
    return by_turn.get(turn) if isinstance(by_turn, Mapping) else None


def _entry(entry: LoggedEntry, moments: CallClock) -> TraceEntry:
    if entry.role is not None:
        return TraceEntry(entry.type, entry.turn_id, moments.of(entry), role=entry.role, text=entry.content)
    value = entry.parameters if entry.type == "tool_call" else entry.tool_response
    kept = None if is_deep(value) else value
    return TraceEntry(entry.type, entry.turn_id, moments.of(entry), tool=tool_name(entry.tool_name), value=kept)


def _object(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) and not is_deep(value) else {}


# Choose what a voice call scores in the store: what its logs show, else what EVA stored (docs/formats/eva.md).
MISMATCH = 0.05
_TASK = "task_completion"


@dataclass(slots=True)
class CallAspects:
    """Keep the `measured` aspects of a call, what EVA `stored`, why others could not be, and where these two differ."""

    measured: dict[str, float] = field(default_factory=dict)
    stored: dict[str, float] = field(default_factory=dict)
    unmeasured: dict[str, str] = field(default_factory=dict)
    mismatches: list[str] = field(default_factory=list)


def aspects_of(computed: Mapping[str, MetricScore], stored: Mapping[str, MetricScore]) -> CallAspects:
    """Return the aspects that need no judge, on their own scales: computed ones, and stored ones where these fail."""
    found = CallAspects()
    known = {name: score for name, score in stored.items() if name in COMPUTED and not is_judged(score)}
    for name in (*COMPUTED, *(own for own in computed if own not in COMPUTED)):
        ours, theirs = (_value(name, scores.get(name)) for scores in (computed, known))
        value = theirs if ours is None else ours
        if value is not None:
            found.measured[name] = value
            found.stored |= {} if theirs is None else {name: theirs}
        elif name in computed and (reason := _reason(name, computed[name])):
            found.unmeasured[name] = reason
        # Whether the task was done has words of its own.
        if name != _TASK and ours is not None and theirs is not None and abs(ours - theirs) > MISMATCH:
            found.mismatches.append(f"{name} stored as {theirs:g}, recomputed as {ours:g}")
    return found


def _reason(name: str, score: MetricScore) -> str | None:
    """Return why a metric is not measured, `None` if it does not apply."""
    if score.error is not None or score.score is None or score.skipped or name in COMPUTED:
        return score.error
    return f"{score.score:g} is not on its scale"


def _value(name: str, score: MetricScore | None) -> float | None:
    """Return a score on the metric's own scale, `None` if nothing was measured."""
    if score is None or score.error is not None or score.skipped or score.score is None:
        return None
    if score.details.get("num_evaluated") == 0 and not score.details.get("missed_turn"):
        return None  # a mean of no turns, which EVA puts down as 0
    metric = metric_of(name)
    return score.score if metric is not None and metric.holds(score.score) else None
