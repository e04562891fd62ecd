"""Turn one conversation of a log into the form that every source delivers."""

from __future__ import annotations

import re
from typing import Any

from riff_ingest.contract import Contract
from riff_ingest.conversation import RETRIED, Conversation
from riff_ingest.events import LONGEST
from riff_ingest.inspect_log.happenings import Happenings, time_of
from riff_ingest.inspect_log.header import Header
from riff_ingest.inspect_log.log import key_of
from riff_ingest.inspect_log.sample import PRIVATE, Sample
from riff_ingest.inspect_log.scores import Part, Scales
from riff_ingest.inspect_log.transcript import transcript_of
from riff_ingest.sources.json_parts import object_of, objects_of, text_of
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.tool_segments import ToolSegments
from riff_ingest.tool_states import DERIVED, ToolStates

_TO_A_HUMAN = re.compile(r"transfer.*(human|person|operator|representative|agent)|escalat", re.IGNORECASE)
LONGEST_ERROR = 1000

_TERMINAL, _ERROR = "terminal", "error"


def conversation_of(
    sample: Sample, happenings: Happenings, header: Header, scales: Scales, segments: ToolSegments
) -> Conversation:
    """Return the call that a sample is; raise `BrokenInput` where it has no id."""
    key = key_of(sample.id, sample.epoch)
    if key is None:
        raise BrokenInput("sample has no id")
    name, epoch = key
    began = time_of(sample.started_at)
    began = happenings.first if began is None else began
    told = transcript_of(sample, happenings, began, segments)
    metadata = object_of(sample.metadata)
    error, limit = _error(sample), _limit(sample.limit)
    return Conversation(
        conversation_id=name,
        flow=text_of(metadata.get("flow")) or header.flow,
        run_id=header.run,
        run_label=header.created,
        commit=header.commit,
        branch=header.branch,
        agent_model=header.agent,
        persona=text_of(metadata.get("persona")) or header.persona,
        scenario=name,
        trial=epoch - 1,
        started_at=_first_time(sample, happenings) or header.created,
        duration_s=_duration(sample, began, happenings.last),
        completed=error is None and limit is None,
        stop_reason=_ERROR if error is not None else limit or _TERMINAL,
        final_state=told.state,
        errored=error is not None,
        error=error,
        caller=header.roles.get("user"),
        errors=_errors(sample, told),
        contract=None if happenings.has_agents else _contract(told),
        turns=told.turns,
        events=told.events,
        tool_calls=told.tool_calls,
        origin="observed" if happenings.has_agents else DERIVED,
        passed=_passed(sample, header, scales),
        filled=len(object_of(sample.scores)),
    )


def _first_time(sample: Sample, happenings: Happenings) -> str | None:
    if time_of(sample.started_at) is not None:
        return text_of(sample.started_at)
    return next(
        (each for each in (text_of(event.timestamp) for event in sample.events) if time_of(each) is not None), None
    )


def _duration(sample: Sample, began: int | None, last: int | None) -> float | None:
    """Return how long a call took in seconds: as the log says, else from its first to its last time."""
    given, ended = sample.total_time, time_of(sample.completed_at)
    ended = last if ended is None else ended
    if isinstance(given, int | float) and not isinstance(given, bool):
        seconds: float | None = float(given)
    else:
        seconds = None if began is None or ended is None else (ended - began) / 1e6
    return seconds if seconds is not None and 0 <= seconds <= LONGEST else None


def _error(sample: Sample) -> str | None:
    """Return why a sample does not count: its run broke, or a person declared it invalid."""
    if sample.error is not None:
        said = text_of(object_of(sample.error).get("message")) or text_of(sample.error)
        return PRIVATE.text(said)[:LONGEST_ERROR] if said else "an error without a message"
    if sample.invalidation is not None:
        reason = text_of(object_of(sample.invalidation).get("reason"))
        return PRIVATE.text(f"declared invalid: {reason}")[:LONGEST_ERROR] if reason else "declared invalid"
    return None


def _limit(given: Any) -> str | None:
    """Return the kind of the limit that ended a sample, as the log calls it."""
    return text_of(given) or text_of(object_of(given).get("type")) or (None if given is None else "limit")


def _errors(sample: Sample, told: ToolStates) -> list[Any]:
    """Return what went wrong without ending the call: attempts that were made again, tools that failed."""
    retries = (text_of(each.get("message")) or "" for each in objects_of(sample.error_retries))
    attempts = [{"kind": RETRIED, "message": PRIVATE.text(said)[:LONGEST_ERROR]} for said in retries]
    failed = [call for call in told.tool_calls if call.by == "agent" and call.error is not None]
    return [*attempts, *({"kind": "tool", "message": f"{call.name}: {call.error}", "t": call.t} for call in failed)]


def _contract(told: ToolStates) -> Contract | None:
    """Return a contract by which hand-overs to a human are escalations."""
    called = [name for name in dict.fromkeys(told.states) if _TO_A_HUMAN.match(name)]
    return Contract(escalation_terminals=called) if called else None


def _passed(sample: Sample, header: Header, scales: Scales) -> bool | None:
    """Tell whether the task was done by the score that stands for the whole, unless that is a model's opinion."""
    name = header.headline
    score = object_of(sample.scores).get(name) if name else None
    if name is None or score is None or header.grader(name) is not None:
        return None
    share = scales.share(Part(name, name), object_of(score).get("value"))
    return None if share is None else share >= 1
