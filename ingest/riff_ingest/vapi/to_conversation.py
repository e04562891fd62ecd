"""Make a conversation of the record of a call of Vapi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from riff_ingest.conversation import Conversation
from riff_ingest.platforms.call import UNKNOWN, ended_call
from riff_ingest.platforms.start import moment, run_of_day
from riff_ingest.platforms.verdict import PlatformVerdict
from riff_ingest.sources.coercion import parse_time
from riff_ingest.sources.json_parts import number_of, object_of, text_of
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.sources.source import ReadContext
from riff_ingest.vapi.ending import ending_of, reason_of, refusal
from riff_ingest.vapi.record import REPORT, artifact_of, call_of, private_values
from riff_ingest.vapi.states import variables_of
from riff_ingest.vapi.transcript import read_transcript
from riff_ingest.vapi.verdicts import verdicts_of


class ReadVapiCall(NamedTuple):
    """Hold a conversation and the verdicts on it with their time."""

    conversation: Conversation
    verdicts: list[PlatformVerdict]
    judged_at: int | None


def conversation_of(record: Mapping[str, Any], context: ReadContext, filled: int) -> ReadVapiCall:
    """Return what a record tells; raise `BrokenInput` where it is of no call that was held to its end."""
    call, message = call_of(record)
    name = text_of(call.get("id"))
    if name is None:
        raise BrokenInput("the call has no id")
    if message not in (None, REPORT):
        raise BrokenInput("the call had not ended when this was written", conversation=name)
    if why := refusal(call):
        raise BrokenInput(why, conversation=name)
    private = private_values(call)
    flow, agent = _flow(call), _agent(call)
    states = read_transcript(call, private, context.tool_segments)
    contract = context.contracts.get(flow)
    conversation = ended_call(name, private.text(flow), states, ending_of(call, private), contract)
    started, ended = (_time(call.get(key)) for key in ("startedAt", "endedAt"))
    started = _time(call.get("createdAt")) if started is None else started
    version = text_of(call.get("squadVersion")) or text_of(call.get("assistantVersion"))
    conversation.started_at = moment(None if started is None else started / 1000)
    conversation.run_id = run_of_day(conversation.started_at, version)
    conversation.agent_model = private.text(f"{agent}@v{version}" if agent and version else agent or UNKNOWN)
    if started is not None and ended is not None:
        conversation.duration_s = number_of((ended - started) / 1e6)
    conversation.final_status = reason_of(call, private)
    variables = variables_of(artifact_of(call).get("variableValues"))
    conversation.slots = {private.text(slot): private.value(value) for slot, value in variables.items()}
    conversation.filled = filled
    return ReadVapiCall(conversation, list(verdicts_of(call, private)), started if ended is None else ended)


def _flow(call: Mapping[str, Any]) -> str:
    """Return the flow of a call: its squad, its workflow or its assistant."""
    return next((name for kind in ("squad", "workflow", "assistant") if (name := _named(call, kind))), UNKNOWN)


def _agent(call: Mapping[str, Any]) -> str | None:
    """Return who spoke: the assistant, the squad or the workflow."""
    return next((name for kind in ("assistant", "squad", "workflow") if (name := _named(call, kind))), None)


def _named(call: Mapping[str, Any], kind: str) -> str | None:
    return text_of(object_of(call.get(kind)).get("name")) or text_of(call.get(f"{kind}Id"))


def _time(given: Any) -> int | None:
    """Return a time in microseconds since the epoch."""
    return parse_time(given) if isinstance(given, str) else None
