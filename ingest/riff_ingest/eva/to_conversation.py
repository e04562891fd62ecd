"""Turn one conversation of a run into the form that every source delivers (docs/formats.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from riff_ingest.contract import Contract
from riff_ingest.conversation import Conversation
from riff_ingest.eva.aspects import aspects_of
from riff_ingest.eva.call_clock import CallClock
from riff_ingest.eva.config import Configuration
from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.derived import Derived, derive
from riff_ingest.eva.directories import Identity
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.scenario_outcome import task_completion
from riff_ingest.eva.metrics.score import MetricScore
from riff_ingest.eva.metrics.turn_taking import turn_taking
from riff_ingest.eva.outcome import outcome_of
from riff_ingest.eva.stored_metrics import Places, stored_pass
from riff_ingest.eva.to_voice import task_of, voice_of
from riff_ingest.eva.tools import expected_steps, is_transfer, tool_types
from riff_ingest.events import LONGEST
from riff_ingest.sources.coercion import parse_time
from riff_store.voice import Task

RECOMPUTED = "recomputed from the expected database"
STORED = "metrics.json"


@dataclass(slots=True)
class ReadCall:
    """Hold a conversation, where its stored scores differ from its logs, and the places of its turns."""

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
    ending, moments, types = outcome_of(result), CallClock(context), tool_types(context.agent_tools)
    derived = derive(context, moments, types, said_goodbye=ending.said_goodbye)
    steps = expected_steps(context.expected_trace, context.tool_params)
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
        final_state=derived.states[-1] if derived.states else None,
        final_status=context.conversation_ended_reason,
        errored=ending.error is not None,
        error=ending.error,
        errors=derived.errors,
        contract=_contract(derived, types, {step.name for step in steps}),
        turns=derived.turns,
        events=derived.events,
        tool_calls=derived.tool_calls,
        expected_steps=steps,
        origin="derived",
        passed=task.passed,
        measured=aspects.measured,
        voice=voice_of(context, moments, task, timing, aspects),
    )
    return ReadCall(call, mismatches + aspects.mismatches, derived.places)


def _contract(derived: Derived, types: Mapping[str, str], expected: set[str]) -> Contract:
    """Return a contract by which hand-overs to a human that the task does not ask for are escalations."""
    called = dict.fromkeys(state for state in derived.states if is_transfer(state, types) and state not in expected)
    return Contract(escalation_terminals=list(called))


def _timing(context: MetricContext) -> MetricScore | None:
    """Return the score of turn-taking.

    `None` where no turn could be looked at, which is not the same as badly timed.
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
    """Return when the worker says it began: in its own time without a zone, so only where no log tells."""
    started = (result or {}).get("started_at")
    return started if isinstance(started, str) and parse_time(started) is not None else None
