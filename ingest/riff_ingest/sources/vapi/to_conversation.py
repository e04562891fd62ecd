"""Make a conversation of the record of a call of Vapi."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.lenient_json import epoch_ms, moment, number_of, object_of, parse_time, text_of
from riff_ingest.lines import BrokenInput
from riff_ingest.platforms import (
    AGENT_HANGUP,
    ERROR,
    HANGUP,
    TIMEOUT,
    TRANSFER,
    UNKNOWN,
    CallEnding,
    Candidate,
    PlatformVerdict,
    ReadCall,
    ended_call,
    read_calls,
    run_of_day,
    short,
    yes_or_no,
)
from riff_ingest.private_values import PrivateValues
from riff_ingest.source import ReadContext, ReadItem
from riff_ingest.sources.retell.to_conversation import FlowNodes
from riff_ingest.sources.vapi import is_call, no_call
from riff_ingest.sources.vapi.transcript import (
    REPORT,
    artifact_of,
    call_of,
    entries_of,
    kept_words,
    private_values,
    read_transcript,
    variables_of,
    words_of,
)
from riff_store.facts import NOT_ENDED

_OF_CALLS = {
    "analysis", "artifact", "assistant", "assistantId", "endedReason", "orgId", "squadId", "startedAt", "transcript",
}  # fmt: skip
"""What makes a record with an id one of a call, whatever `--as` takes the file for."""


def read_vapi_calls(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a file with the verdicts on them."""
    flows = FlowNodes(context.contracts)
    return read_calls(
        path, _candidate, JUDGE, lambda record: conversation_of(record.value, context, flows, record.filled), is_call
    )


def _candidate(value: Any) -> Candidate | None:
    if not isinstance(value, dict):
        return None
    message = object_of(value.get("message"))
    call = object_of(message.get("call")) if message else value
    if not message and (why := no_call(value)):
        raise BrokenInput(f"it is {why}")
    name = call.get("id")
    is_one = is_call(value) if "endedReason" in value else bool(message) or not _OF_CALLS.isdisjoint(call)
    if not isinstance(name, str) or not name or not is_one:
        return None
    told = message if message.get("type") == REPORT else call
    is_analyzed = bool(told.get("analysis"))
    stage, words = 4 * is_analyzed + 2 * bool(told.get("endedReason")), kept_words(told)
    sent = epoch_ms(message.get("timestamp"))
    return Candidate(name, stage + any(words), sent, words if stage else None)


def conversation_of(record: Mapping[str, Any], context: ReadContext, flows: FlowNodes, filled: int) -> ReadCall:
    """Return what a record shows; raise `BrokenInput` if it is of no call that was held to its end."""
    call, message = call_of(record)
    name = text_of(call.get("id"))
    if name is None:
        raise BrokenInput("the call has no id")
    if message not in (None, REPORT):
        raise BrokenInput(NOT_ENDED, conversation=name)
    private = private_values(call)
    words = words_of(call, private)
    if why := refusal(call, words.sides):
        raise BrokenInput(why, conversation=name)
    agent = _agent(call)
    entries = entries_of(call, words.messages)
    places = {frozenset(filter(None, (entry.state, entry.id))) for entry in entries or ()}
    flow = flows.flow_of(places, *_flow_names(call))
    states = read_transcript(call, words, private, context.tool_segments, entries, flows.names(flow))
    contract = context.contracts.get(flow)
    conversation = ended_call(name, private.text(flow), states, ending_of(call, private), contract)
    started, ended = (_time(call.get(key)) for key in ("startedAt", "endedAt"))
    started = _time(call.get("createdAt")) if started is None else started
    version = text_of(call.get("squadVersion")) or text_of(call.get("assistantVersion"))
    conversation.started_at = moment(None if started is None else started / 1000)
    conversation.run_id = run_of_day(conversation.started_at, version and private.text(version))
    conversation.agent_model = private.text(f"{agent}@v{version}" if agent and version else agent or UNKNOWN)
    if started is not None and ended is not None:
        conversation.duration_s = number_of((ended - started) / 1e6)
    conversation.final_status = reason_of(call, private)
    variables = variables_of(artifact_of(call).get("variableValues"))
    conversation.slots = {private.text(slot): private.value(value) for slot, value in variables.items()}
    conversation.stored = _stored(call)
    conversation.filled, conversation.unique = filled, True
    notes = [words.problem] if words.problem else []
    return ReadCall(conversation, list(verdicts_of(call, private)), started if ended is None else ended, notes)


def _stored(call: Mapping[str, Any]) -> dict[str, float | bool | None]:
    """Return what Vapi keeps of a call as a whole: its latency in seconds, and whether it found it a success."""
    average = number_of(object_of(artifact_of(call).get("performanceMetrics")).get("turnLatencyAverage"))
    score = score_of(object_of(call.get("analysis")).get("successEvaluation"), rubric_of(call))
    found: dict[str, float | bool | None] = {} if average is None else {"latency_mean": average / 1000}
    return found | ({"success_evaluation": score > 0} if score in (0, 10) else {})


def _flow_names(call: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Return what the flow of a call is called, by name and by id: its squad, its workflow or its assistant."""
    kind = next((kind for kind in ("squad", "workflow", "assistant") if _named(call, kind)), "")
    return _named(call, kind), text_of(call.get(f"{kind}Id")), text_of(object_of(call.get(kind)).get("id"))


def _agent(call: Mapping[str, Any]) -> str | None:
    """Return who spoke: the assistant, the squad or the workflow."""
    return next((name for kind in ("assistant", "squad", "workflow") if (name := _named(call, kind))), None)


def _named(call: Mapping[str, Any], kind: str) -> str | None:
    return text_of(object_of(call.get(kind)).get("name")) or text_of(call.get(f"{kind}Id"))


def _time(given: Any) -> int | None:
    """Return a time in microseconds since the epoch."""
    if isinstance(given, str):
        return parse_time(given)
    milliseconds = epoch_ms(given)
    return None if milliseconds is None else int(milliseconds * 1000)


# Tell how a call of Vapi ended, by the beginning of its reason (docs/formats/vapi.md).
_BROKEN = (
    "assistant-join-timed-out",
    "call-start-error",
    "call.in-progress.error-",
    "database-error",
    "db-error",
    "license-check-failed",
    "no-server-available",
    "phone-call-provider-closed-websocket",
    "pipeline-error-",
    "pipeline-no-available-",
    "unknown-error",
    "worker-shutdown",
)
_NO_CALL = (
    "call-deleted",
    "call.ringing.sip-inbound-caller-hungup",
    "customer-busy",
    "customer-did-not-answer",
    "customer-did-not-give-microphone-permission",
    "manually-canceled",
    "scheduled-call-deleted",
    "sip-outbound-",
    "twilio-",
    "voicemail",
    "vonage-failed",
    "vonage-rejected",
)
_NEVER_CONNECTED = re.compile(
    r"call\.in-progress\.error-(?:vapifault-|providerfault-)?"
    r"(?:outbound-sip-(?:403|407|408|480|503)-|sip-(?:in|out)bound-call-failed-to-connect|transport-never-connected)"
    r"|call\.ringing\.error|call\.ringing\.hook-executed-|call\.start\.|assistant-request-|assistant-not-"
    r"|phone-call-provider-bypass-enabled-but-no-call-received"
)
"""Reasons of calls that never came about where nothing was said in them, else of broken ones."""
_UNHEARD = "call.in-progress.error-assistant-did-not-receive-customer-audio"
_FAILED_TRANSFERS = (
    "call.in-progress.error-transfer-failed",
    "call.in-progress.error-warm-transfer-assistant-cancelled",
    "call.in-progress.error-warm-transfer-max-duration",
    "call.in-progress.error-warm-transfer-microphone-timeout",
    "call.in-progress.error-warm-transfer-silence-timeout",
)
_STOPS = (
    (_UNHEARD, TIMEOUT),
    ("call.ending.hook-executed-say", AGENT_HANGUP),
    ("customer-ended-call", HANGUP),
    ("call.in-progress.sip-completed-call", HANGUP),
    ("call.in-progress.twilio-completed-call", HANGUP),
    ("vonage-completed", HANGUP),
    ("vonage-disconnected", HANGUP),
    ("assistant-ended-call", AGENT_HANGUP),
    ("assistant-said-end-call-phrase", AGENT_HANGUP),
    ("assistant-forwarded-call", TRANSFER),
    ("call.ending.hook-executed-transfer", TRANSFER),
    ("silence-timed-out", TIMEOUT),
    ("exceeded-max-duration", TIMEOUT),
)
_DURING_A_TRANSFER = (
    *_FAILED_TRANSFERS,
    "call.forwarding.",
    "customer-ended-call-after-warm-transfer",
    "customer-ended-call-before-warm-transfer",
    "customer-ended-call-during-transfer",
)
_NOT_ENDED = frozenset({"scheduled", "queued", "ringing", "in-progress", "forwarding"})


def ending_of(call: Mapping[str, Any], private: PrivateValues) -> CallEnding:
    """Return how a call ended; what is not known of reasons stays as it is."""
    reason = reason_of(call, private)
    if reason is None:
        return CallEnding(None)
    stop = next((stop for beginning, stop in _STOPS if reason.startswith(beginning)), None)
    is_during = reason.startswith(_DURING_A_TRANSFER)
    if not stop and not is_during and (reason.startswith(_BROKEN) or _NEVER_CONNECTED.match(reason)):
        return CallEnding(ERROR, f"it ended with {reason}")
    return CallEnding(
        stop or reason,
        is_handed_over=stop == TRANSFER or is_during,
        is_unknown=stop is None and not is_during,
        lost_transfer=reason if reason.startswith(_FAILED_TRANSFERS) else None,
    )


def refusal(call: Mapping[str, Any], spoke: Collection[str]) -> str | None:
    """Return why a record is of no call that was kept, or of one that goes on; `None` if it is of one.

    `spoke` are the sides that said anything.
    """
    reason = text_of(call.get("endedReason"))
    if reason is not None:
        unheard = reason.startswith(_UNHEARD) and "caller" not in spoke
        silent = not spoke and _NEVER_CONNECTED.match(reason) is not None
        return f"the call never came about: {reason}" if reason.startswith(_NO_CALL) or unheard or silent else None
    if text_of(call.get("status")) in _NOT_ENDED:
        return NOT_ENDED
    return None


def reason_of(call: Mapping[str, Any], private: PrivateValues) -> str | None:
    """Return the reason for the end as Vapi calls it."""
    reason = text_of(call.get("endedReason"))
    return None if reason is None else private.text(reason)


# Take what Vapi's own models said about a call as verdicts of a judge (docs/formats/vapi.md).
JUDGE = "vapi"

_WORDS = {
    **dict.fromkeys(("true", "pass", "passed", "yes", "success", "successful"), 10.0),
    **dict.fromkeys(("false", "fail", "failed", "no", "failure", "unsuccessful"), 0.0),
    "excellent": 10.0,
    "good": 20 / 3,
    "fair": 10 / 3,
    "poor": 0.0,
    "strongly agree": 10.0,
    "agree": 7.5,
    "neutral": 5.0,
    "disagree": 2.5,
    "strongly disagree": 0.0,
}
_PERCENT, _SCALES = "percentagescale", frozenset({"", "numericscale"})


def verdicts_of(call: Mapping[str, Any], private: PrivateValues) -> Iterator[PlatformVerdict]:
    """Yield the verdicts on a call: its evaluation, its scorecards, and structured outputs that are yes or no."""
    analysis, artifact = object_of(call.get("analysis")), artifact_of(call)
    given = analysis.get("successEvaluation")
    if given is not None:
        said = text_of(analysis.get("summary")) or (text_of(given) if not isinstance(given, bool) else None)
        yield PlatformVerdict("success_evaluation", score_of(given, rubric_of(call)), short(said, private))
    for key, card in object_of(artifact.get("scorecards")).items():
        found = object_of(card)
        score = number_of(found.get("scoreNormalized"), highest=100)
        name = private.text(text_of(found.get("name")) or key)
        yield PlatformVerdict(name, None if score is None else round(score / 10, 6))
    for key, output in object_of(artifact.get("structuredOutputs")).items():
        found = object_of(output)
        if isinstance(found.get("result"), bool):
            yield PlatformVerdict(private.text(text_of(found.get("name")) or key), yes_or_no(found["result"]))


def rubric_of(call: Mapping[str, Any]) -> str:
    """Return the rubric by which a call was evaluated, in lower-case letters, empty if the record has none."""
    plan = object_of(object_of(call.get("assistant")).get("analysisPlan"))
    given = object_of(plan.get("successEvaluationPlan")).get("rubric") or plan.get("successEvaluationRubric")
    return (text_of(given) or "").lower()


def score_of(given: Any, rubric: str) -> float | None:
    """Return an evaluation as a score from 0 to 10; `None` if it is not one number or word of a known scale."""
    if isinstance(given, bool):
        return yes_or_no(given)
    if isinstance(given, int | float):
        return _on_scale(float(given), rubric)
    said = (text_of(given) or "").strip().rstrip(".").lower()
    if said in _WORDS:
        return round(_WORDS[said], 6)
    amount, slash, of = said.partition("/")
    if slash:
        part, whole = _number(amount), _number(of)
        return None if part is None or not whole or part > whole else round(10 * part / whole, 6)
    value = _number(said.removesuffix("%"))
    return None if value is None else _on_scale(value, _PERCENT if said.endswith("%") else rubric)


def _on_scale(value: float, rubric: str) -> float | None:
    if rubric == _PERCENT:
        return round(value / 10, 6) if 0 <= value <= 100 else None
    return value if rubric in _SCALES and 0 <= value <= 10 else None


def _number(said: str) -> float | None:
    try:
        return number_of(float(said.strip()))
    except ValueError:
        return None
