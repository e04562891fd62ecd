"""Make a conversation of the record of a call of ElevenLabs, of a simulation or of a test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from riff_ingest.conversation import Contract, Conversation
from riff_ingest.lenient_json import epoch_ms, moment, number_of, object_of, objects_of, text_of
from riff_ingest.lines import BrokenInput
from riff_ingest.platforms import (
    AGENT_HANGUP,
    ERROR,
    HANGUP,
    NOTHING_SAID,
    TIMEOUT,
    TRANSFER,
    UNKNOWN,
    VOICEMAIL,
    CallEnding,
    CallRecord,
    Candidate,
    PlatformVerdict,
    ended_call,
    judged_at,
    read_call_records,
    short,
)
from riff_ingest.private_values import PrivateValues
from riff_ingest.source import ReadContext, ReadItem, run_of
from riff_ingest.source import text_of as text_of_path
from riff_ingest.sources.elevenlabs.transcript import ReadTranscript, agents_of, nodes_of, read_transcript, results_of
from riff_ingest.sources.retell.to_conversation import FlowNodes
from riff_store.facts import NOT_ENDED, Annotation, Skipped

JUDGE = "elevenlabs"
SOUND = "the sound of a call (post_call_audio); the words come in post_call_transcription"

_AUDIO, _FAILURE = "post_call_audio", "call_initiation_failure"
_GOING_ON = frozenset({"initiated", "in-progress", "processing"})
_RESULTS = {"success": 10.0, "failure": 0.0}
_VERSION_SHOWN = 6
_ENDS = {
    "end_call_success": AGENT_HANGUP,
    "voicemail_detection_success": VOICEMAIL,
    **{f"transfer_to_number_{way}_success": TRANSFER for way in ("twilio", "sip", "exotel")},
}
_HANGUPS = ("Client disconnected", "Call ended by remote party")
_LIMITS = re.compile(r"inactiv|silence|time(?:d)? ?out|max(?:imum)? (?:call )?duration", re.IGNORECASE)
_NAMES_A_NUMBER = re.compile(r"phone|tel|mobile|number", re.IGNORECASE)


class _Told(NamedTuple):
    """Describe a call with the verdicts on it, their time, and what the caller thought of turns."""

    call: Conversation
    verdicts: list[PlatformVerdict]
    judged_at: int | None = None
    feedback: Sequence[tuple[int, str]] = ()


@dataclass
class _File:
    """Describe what calls of a file share."""

    path: Path
    context: ReadContext
    flows: FlowNodes
    trials: Counter[str] = field(default_factory=Counter)


def read_elevenlabs_calls(path: Path, context: ReadContext, is_call: Callable[[Any], bool]) -> Iterator[ReadItem]:
    """Yield the calls of a file with the verdicts and notes on them."""
    file, run = _File(path, context, FlowNodes(context.contracts)), run_of(path)
    for record in read_call_records(path, _candidate, is_call):
        if not isinstance(record, CallRecord):
            yield record
            continue
        for told in _told(record, file):
            if isinstance(told, Skipped):
                yield told
                continue
            call = told.call
            call.run_id = call.run_id or run
            yield record.number, call
            if not (call.turns or call.tool_calls or call.errored):
                yield Skipped("defect", record.number, NOTHING_SAID, call.conversation_id)
            for number, (turn, thought) in enumerate(told.feedback, 1):
                yield _note(call, number, turn, thought)
            for verdict in told.verdicts:
                yield verdict.of(JUDGE, call, told.judged_at)


def _note(call: Conversation, number: int, turn: int, thought: str) -> Annotation:
    return Annotation(
        id=f"{JUDGE}:{call.conversation_id}:{number}",
        conversation=call.conversation_id,
        author="caller",
        run=call.run_id,
        flow=call.flow,
        agent=call.agent_model,
        trial=call.trial,
        turn=turn,
        labels=[thought],
    )


def _candidate(value: Any) -> Candidate | None:
    record = object_of(value)
    for key in ("simulated_conversation", "test_runs"):
        if isinstance(record.get(key), list):
            return Candidate(f"{key} {hash(repr(value))}", 1)
    call = _call_of(record)
    name = text_of(call.get("conversation_id"))
    if name is None or not ("transcript" in call or record.get("type") in (_AUDIO, _FAILURE)):
        return None
    is_done = text_of(call.get("status")) not in _GOING_ON
    has_words = bool(call.get("transcript"))
    stage = 4 * bool(call.get("analysis")) + 2 * (is_done and has_words) + has_words
    words = call.get("transcript") if is_done else None
    return Candidate(name, stage, epoch_ms(record.get("event_timestamp")), words)


def _call_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conversation of a record, which a webhook has under `data`."""
    inner = object_of(record.get("data"))
    return inner if "conversation_id" in inner and "transcript" not in record else dict(record)


def _told(record: CallRecord, file: _File) -> Iterator[_Told | Skipped]:
    given = record.value
    if isinstance(given.get("test_runs"), list):
        yield from _tests(given, record, file)
        return
    call = _call_of(given)
    name = text_of(call.get("conversation_id"))
    if given.get("type") == _AUDIO:
        yield Skipped("superseded", record.number, SOUND, name)
        return
    try:
        if isinstance(given.get("simulated_conversation"), list):
            yield _simulation(given, record, file)
        else:
            yield _conversation(given, call, record, file)
    except BrokenInput as problem:
        yield Skipped("skipped", record.number, problem.reason, problem.conversation)


def _conversation(given: Mapping[str, Any], call: Mapping[str, Any], record: CallRecord, file: _File) -> _Told:
    name = text_of(call.get("conversation_id"))
    if name is None:
        raise BrokenInput("conversation_id is missing")
    if given.get("type") == _FAILURE:
        why = text_of(call.get("failure_reason"))
        known = why if why in ("busy", "no-answer", "unknown") else None
        raise BrokenInput(f"the call never came about{f': {known}' if known else ''}", conversation=name)
    if text_of(call.get("status")) in _GOING_ON:
        raise BrokenInput(NOT_ENDED, conversation=name)
    private, metadata = private_values(call), object_of(call.get("metadata"))
    items = objects_of(call.get("transcript"))
    agent_id = text_of(call.get("agent_id"))
    own = text_of(call.get("agent_name"))
    agent = private.text(own or agent_id or UNKNOWN)
    flow = private.text(file.flows.flow_of(_places(items), own, agent_id))
    others = {each: known for each in agents_of(items) if (known := file.flows.called(each))}
    names = {**others, **file.flows.names(flow), **({agent_id: agent} if agent_id else {})}
    found = read_transcript(
        items,
        private,
        file.context.tool_segments,
        names=names,
        exits=file.flows.exits(flow),
        first_agent=agent_id,
        is_text=metadata.get("text_only") is True,
    )
    ending = _ending(call, found, private)
    conversation = _ended(name, flow, found, ending, file.context.contracts.get(flow))
    version = text_of(call.get("version_id"))
    tail = f"@{private.text(version[-_VERSION_SHOWN:])}" if version else ""
    conversation.agent_model = f"{agent}{tail}"
    begins = epoch_ms(metadata.get("start_time_unix_secs"))
    conversation.started_at = moment(begins)
    if conversation.started_at is not None:
        conversation.run_id = f"{conversation.started_at[:10]}{tail}"
    conversation.duration_s = number_of(metadata.get("call_duration_secs"))
    status = text_of(metadata.get("termination_reason"))
    conversation.final_status = None if status is None else private.text(status)
    conversation.channel = "text" if metadata.get("text_only") is True else "voice"
    analysis = object_of(call.get("analysis"))
    conversation.slots = _slots(analysis, private)
    conversation.filled, conversation.unique = record.filled, True
    at = judged_at(given.get("event_timestamp"), begins)
    return _Told(conversation, list(_verdicts(analysis, private)), at, found.feedback)


def _ended(name: str, flow: str, found: ReadTranscript, ending: CallEnding, contract: Contract | None) -> Conversation:
    """Return a call with its end: no end shows that it was not completed, for agents hang up in any node."""
    call = ended_call(name, flow, found.states, ending, contract)
    if call.completed is False:
        call.completed = None
        call.measured = {**call.measured, "completion": None}
    if isinstance(call.errors, list):
        call.errors += found.errors
    call.defects = found.defects
    call.voice = found.voice
    return call


def _places(items: Sequence[Mapping[str, Any]]) -> set[frozenset[str]]:
    return {frozenset([node]) for node in nodes_of(items)}


def _simulation(given: Mapping[str, Any], record: CallRecord, file: _File) -> _Told:
    items, analysis = objects_of(given.get("simulated_conversation")), object_of(given.get("analysis"))
    stem = text_of_path(file.path.name.partition(".")[0]) or UNKNOWN
    name = stem if record.number == 1 else f"{stem}/{record.number}"
    agent = next(iter(agents_of(items)), None) or run_of(file.path)
    private = private_values({**given, "transcript": items})
    call, found = _made_up(name, agent, items, private, file)
    call.filled = record.filled
    call.slots = _slots(analysis, private)
    return _Told(call, list(_verdicts(analysis, private)), None, found.feedback)


def _tests(given: Mapping[str, Any], record: CallRecord, file: _File) -> Iterator[_Told | Skipped]:
    invocation = text_of(given.get("id"))
    for run in objects_of(given.get("test_runs")):
        name = text_of(run.get("test_run_id"))
        if name is None:
            yield Skipped("skipped", record.number, "test_run_id is missing")
            continue
        test = text_of(run.get("test_id")) or name
        file.trials[test] += 1
        if reason := _no_call(run):
            yield Skipped("skipped", record.number, reason, name)
            continue
        items = objects_of(run.get("agent_responses"))
        private = private_values({**run, "transcript": items})
        agent = text_of(run.get("agent_id")) or text_of(given.get("agent_id")) or UNKNOWN
        call, found = _made_up(name, agent, items, private, file)
        call.run_id = None if invocation is None else private.text(invocation)
        call.trial = file.trials[test] - 1
        call.scenario = private.text(text_of(run.get("test_name")) or test)
        begins = epoch_ms(run.get("created_at") or given.get("created_at"))
        call.started_at = moment(begins)
        call.filled = record.filled
        judged = object_of(run.get("condition_result"))
        why = object_of(judged.get("rationale"))
        words = [text_of(why.get("summary")), *(text_of(each) for each in _list(why.get("messages")))]
        verdict = PlatformVerdict(
            "test",
            _RESULTS.get(text_of(judged.get("result")) or ""),
            short(" ".join(filter(None, words)) or None, private),
        )
        yield _Told(call, [verdict], judged_at(begins), found.feedback)


def _no_call(run: Mapping[str, Any]) -> str | None:
    if text_of(run.get("status")) == "pending":
        return "the test had not ended"
    kind = text_of(object_of(run.get("test_info")).get("type"))
    return "a test of one answer, no call" if kind in ("llm", "tool") else None


def _made_up(
    name: str, agent: str, items: list[dict[str, Any]], private: PrivateValues, file: _File
) -> tuple[Conversation, ReadTranscript]:
    """Return a call whose caller was a model."""
    flow = private.text(file.flows.flow_of(_places(items), agent))
    found = read_transcript(
        items,
        private,
        file.context.tool_segments,
        names={**file.flows.names(flow), agent: private.text(agent)},
        exits=file.flows.exits(flow),
        first_agent=agent,
        is_text=True,
    )
    sign = _sign(found)
    ending = CallEnding(sign, is_handed_over=sign == TRANSFER)
    call = _ended(name, flow, found, ending, file.context.contracts.get(flow))
    call.agent_model = private.text(agent)
    call.channel = "text"
    models = (text_of(item.get("simulated_user_model")) for item in items)
    call.caller = next((private.text(model) for model in models if model), "simulated")
    return call, found


# Decide how a call ended: by the results of its tools, else by the words of ElevenLabs.
def _ending(call: Mapping[str, Any], found: ReadTranscript, private: PrivateValues) -> CallEnding:
    metadata = object_of(call.get("metadata"))
    error = object_of(metadata.get("error"))
    if call.get("status") == "failed" or metadata.get("error") is not None:
        told = " ".join(filter(None, (text_of(error.get("code")), text_of(error.get("reason")))))
        return CallEnding(ERROR, private.text(told) or "its status is failed")
    words = text_of(metadata.get("termination_reason"))
    sign = _sign(found) or _stop(words)
    if sign is None:
        return CallEnding(None if words is None else private.text(words), is_unknown=words is not None)
    return CallEnding(sign, is_handed_over=sign == TRANSFER)


def _sign(found: ReadTranscript) -> str | None:
    return next((_ENDS[each] for each in reversed(found.ends) if each in _ENDS), None)


def _stop(words: str | None) -> str | None:
    if words is None:
        return None
    if words.startswith("end_call"):
        return AGENT_HANGUP
    if words.startswith(_HANGUPS):
        return HANGUP
    return TIMEOUT if _LIMITS.search(words) else None


# Take what ElevenLabs' own model said about a call as verdicts of a judge, and what it collected as slots.
def _verdicts(analysis: Mapping[str, Any], private: PrivateValues) -> Iterator[PlatformVerdict]:
    if (word := text_of(analysis.get("call_successful"))) is not None:
        yield PlatformVerdict(
            "call_successful", _RESULTS.get(word), short(text_of(analysis.get("transcript_summary")), private)
        )
    for name, found in _by_id(analysis, "evaluation_criteria_results", "criteria_id"):
        yield PlatformVerdict(private.text(name), _score(found), short(text_of(found.get("rationale")), private))


def _score(found: Mapping[str, Any]) -> float | None:
    most = number_of(found.get("max_score"))
    if found.get("scoring_mode") == "numeric_uniform" and most:
        score = number_of(found.get("score"), highest=most)
        return None if score is None else round(10 * score / most, 6)
    return _RESULTS.get(text_of(found.get("result")) or "")


def _slots(analysis: Mapping[str, Any], private: PrivateValues) -> dict[str, Any]:
    found = _by_id(analysis, "data_collection_results", "data_collection_id")
    return {private.text(name): private.value(each["value"]) for name, each in found if each.get("value") is not None}


def _by_id(analysis: Mapping[str, Any], key: str, id_key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is listed by id, which is in an object, in a list, or in both alike."""
    given = object_of(analysis.get(key))
    if given:
        yield from ((name, object_of(each)) for name, each in given.items() if name)
        return
    for each in objects_of(analysis.get(f"{key}_list")):
        if name := text_of(each.get(id_key)):
            yield name, each


# Know what must not be stored of a call.
_SECRET, _SYSTEM = "secret__", "system__"
_VALUES = ("old_value", "new_value")
_NUMBERS_OF_SYSTEM = ("system__caller_id", "system__called_number")


def private_values(call: Mapping[str, Any]) -> PrivateValues:
    """Return the numbers and the secrets that a record names, wherever it does."""
    client = object_of(call.get("conversation_initiation_client_data"))
    variables = object_of(client.get("dynamic_variables"))
    metadata = object_of(call.get("metadata"))
    numbers = [*_numbers(metadata, 4), call.get("user_id"), *(variables.get(key) for key in _NUMBERS_OF_SYSTEM)]
    secrets = [value for name, value in variables.items() if name.startswith(_SECRET)]
    analysis = object_of(call.get("analysis"))
    numbers += _named(
        (name, each.get("value")) for name, each in _by_id(analysis, "data_collection_results", "data_collection_id")
    )
    items = objects_of(call.get("transcript"))
    numbers += [item.get("user_identifier") for item in items]
    for result in results_of(items):
        numbers += _numbers(object_of(result.get("result")), 4)
        updates = objects_of(result.get("dynamic_variable_updates"))
        told = [(text_of(each.get("variable_name")) or "", each.get(key)) for each in updates for key in _VALUES]
        numbers += _named(told)
        secrets += [value for name, value in told if name.startswith(_SECRET)]
    return PrivateValues(numbers, secrets)


def _named(values: Any) -> list[Any]:
    """Return the values whose names are those of telephone numbers."""
    return [value for name, value in values if _NAMES_A_NUMBER.search(name)]


def _numbers(record: Mapping[str, Any], room: int) -> Iterator[Any]:
    """Yield the numbers and ids of lines that a record has, those of objects in it as well."""
    for key, value in record.items():
        if isinstance(value, dict) and room:
            yield from _numbers(value, room - 1)
        elif key.endswith(("_number", "_sid", "user_id")):
            yield value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
