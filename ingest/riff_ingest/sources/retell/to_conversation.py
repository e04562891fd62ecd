"""Read calls of Retell: make a conversation of the record of each, or of one of its simulated tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Contract, Exits
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
    Candidate,
    PlatformVerdict,
    ReadCall,
    ended_call,
    judged_at,
    read_calls,
    run_of_day,
    short,
    yes_or_no,
)
from riff_ingest.private_values import PrivateValues, addresses_in
from riff_ingest.source import ReadContext, ReadItem
from riff_ingest.sources.retell.transcript import (
    kept_under,
    places_of,
    preferred,
    read_transcript,
    reply_latencies,
    spoken,
)
from riff_ingest.tool_states import latencies
from riff_store.facts import NOT_ENDED, Skipped
from riff_store.measure import percentile

SCRUBBED = "[scrubbed]"
TEXT_SCRUBBED = "its text is the one that Retell took personal data out of"
NO_FLOW_FILE = (
    "no flow file shows how calls of {flow} should end, so completion and stalls are not measured; ingest Retell's"
    " conversation flow along with them"
)
NO_TEXT = "it has no text: Retell was set to store {setting}"

_WORDS = ("transcript_with_tool_calls", "transcript_object", "transcript")
_PLACES = frozenset({"current_node", "previous_node"})
_WAITING = frozenset({"pending", "in_progress"})


class FlowNodes:
    """Know flows by the ids and the names of their nodes, as flow files name them.

    A call may have come through nodes that a file does not have, which is of another version of the flow: it is of the
    flow that has most of its nodes, and more than half.
    """

    def __init__(self, contracts: Mapping[str, Contract]) -> None:
        self.contracts = contracts
        others = {name: flow for flow, contract in contracts.items() for name in contract.other_names or ()}
        self._flows = others | {flow: flow for flow in contracts}
        self._names = {
            flow: {name: name for name in contract.states}
            | {each.id: name for name, each in contract.states.items() if each.id}
            for flow, contract in contracts.items()
        }
        self._having = defaultdict[str, list[str]](list)
        for flow, names in self._names.items():
            for key in names:
                self._having[key].append(flow)

    def flow_of(self, nodes: Collection[frozenset[str]], *named: str | None) -> str:
        """Return the flow of a call: that of a flow file by a name or by its nodes, else the first name.

        Each of the nodes is what it is called, by its id or its name.
        """
        known = next((flow for name in named if name and (flow := self.called(name))), None)
        if known is None and nodes:
            shared = Counter(flow for node in nodes for flow in {each for key in node for each in self._having[key]})
            most = max(shared.values(), default=0)
            fitting = [flow for flow, count in shared.items() if count == most and 2 * count > len(nodes)]
            known = fitting[0] if len(fitting) == 1 else None
        return known or next((name for name in named if name), UNKNOWN)

    def called(self, name: str) -> str | None:
        """Return the flow that is called so, by any of its names."""
        return self._flows.get(name)

    def names(self, flow: str) -> Mapping[str, str]:
        """Return the names of a flow's nodes by their ids, and by these names."""
        return self._names.get(flow, {})

    def exits(self, flow: str) -> Exits:
        """Return when the nodes of a flow are left, by their names, those of the next ones and the ids of edges."""
        contract = self.contracts.get(flow)
        return {name: state.exits for name, state in contract.states.items() if state.exits} if contract else {}


def read_retell_calls(path: Path, context: ReadContext, is_call: Callable[[Any], bool]) -> Iterator[ReadItem]:
    """Yield the calls of a file with the verdicts on them, and which flows have calls but no flow file."""
    flows = FlowNodes(context.contracts)
    calls = read_calls(
        path,
        _candidate,
        JUDGE,
        lambda record: conversation_of(record.value, context, flows, record.filled),
        is_call,
    )
    yield from with_flow_notes(calls, NO_FLOW_FILE)


def with_flow_notes(items: Iterable[ReadItem], note: str) -> Iterator[ReadItem]:
    """Yield what a file has, then a note on each flow of which it has several calls, and no flow file their ends."""
    unended: Counter[str] = Counter()
    for item in items:
        if isinstance(item, tuple):
            call = item[1]
            unended[call.flow] += call.completed is None and call.origin == "observed"
        yield item
    for flow, count in unended.items():
        if count > 1:
            yield Skipped("defect", None, note.format(flow=flow))


_OF_CALLS = {
    "agent_id", "call_analysis", "call_status", "start_timestamp", "test_case_job_id", "transcript",
    "transcript_object", "transcript_with_tool_calls",
}  # fmt: skip
"""What makes a record with an id one of a call, whatever `--as` takes the file for."""


def _candidate(value: Any) -> Candidate | None:
    if not isinstance(value, dict):
        return None
    call = value["call"] if isinstance(value.get("call"), dict) else value
    name = call.get("call_id") or call.get("test_case_job_id")
    if not isinstance(name, str) or not name or (call is value and _OF_CALLS.isdisjoint(call)):
        return None
    event = value.get("event")
    is_ended = event in ("call_analyzed", "call_ended") or call.get("call_status") in ("ended", "error")
    is_analyzed = event == "call_analyzed" or bool(call.get("call_analysis"))
    has_text = any(kept_under(call, "transcript_with_tool_calls", "transcript_object"))
    stage = 4 * is_analyzed + 2 * is_ended + has_text
    words = next(kept_under(call, *_WORDS), ()) if stage > 1 else None
    return Candidate(name, stage, epoch_ms(value.get("event_timestamp")), words)


def conversation_of(record: Mapping[str, Any], context: ReadContext, flows: FlowNodes, filled: int) -> ReadCall:
    """Return what a record shows; raise `BrokenInput` if it is of no call that was held to its end."""
    if "test_case_job_id" in record:
        return _test(record, context, flows)
    wrapped = isinstance(record.get("call"), dict)
    call = record["call"] if wrapped else record
    if (name := text_of(call.get("call_id"))) is None:
        raise BrokenInput("call_id is missing")
    if why := refusal(call, record.get("event")):
        raise BrokenInput(why, conversation=name)
    private = _private(call)
    items, is_scrubbed, problem = spoken(call, private)
    agent = text_of(call.get("agent_name")) or text_of(call.get("agent_id"))
    engine = object_of(call.get("response_engine"))
    own = text_of(call.get("conversation_flow_id")) or text_of(engine.get("conversation_flow_id"))
    flow = flows.flow_of(places_of(items), own, agent, text_of(engine.get("llm_id")), text_of(call.get("agent_id")))
    found = read_transcript(
        items,
        private,
        segments=context.tool_segments,
        names=flows.names(flow),
        reply_latencies=reply_latencies(call),
    )
    contract, ending = flows.contracts.get(flow), ending_of(call, private)
    conversation = ended_call(name, private.text(flow), found.states, ending, contract, found.handing_over)
    version = text_of(call.get("agent_version"))
    conversation.started_at = moment(epoch_ms(call.get("start_timestamp")))
    conversation.run_id = run_of_day(conversation.started_at, version and private.text(version))
    conversation.agent_model = private.text(f"{agent}@v{version}" if agent and version else agent or UNKNOWN)
    conversation.duration_s = _duration(call)
    conversation.final_status = reason_of(call, private)
    conversation.slots = _slots(call, private, is_scrubbed)
    conversation.filled, conversation.unique = filled, True
    conversation.defects = found.defects
    measured = _measured(call)
    if not latencies(found.states):
        conversation.measured = {**conversation.measured, **measured}
    successful = object_of(call.get("call_analysis")).get("call_successful")
    conversation.stored = measured | ({"call_successful": successful} if isinstance(successful, bool) else {})
    notes = [*([TEXT_SCRUBBED] if is_scrubbed else []), *([problem] if problem else [])]
    setting = text_of(call.get("data_storage_setting"))
    if not items and setting not in (None, "everything"):
        notes.append(NO_TEXT.format(setting=setting))
    elif not (items or notes or conversation.errored):
        notes.append(NOTHING_SAID)
    verdicts = list(analysis_verdicts(call, private, is_scrubbed=is_scrubbed))
    judged = judged_at(record.get("event_timestamp"), call.get("end_timestamp"), call.get("start_timestamp"))
    return ReadCall(conversation, verdicts, judged, notes)


def _test(job: Mapping[str, Any], context: ReadContext, flows: FlowNodes) -> ReadCall:
    name, status = text_of(job.get("test_case_job_id")), text_of(job.get("status"))
    if name is None:
        raise BrokenInput("test_case_job_id is missing")
    if status in _WAITING:
        raise BrokenInput("the test had not ended when this was written", conversation=name)
    case = object_of(job.get("test_case_definition_snapshot"))
    engine = object_of(case.get("response_engine"))
    items = _snapshot(job.get("transcript_snapshot"))
    own = text_of(engine.get("conversation_flow_id")) or text_of(engine.get("llm_id"))
    flow = flows.flow_of(places_of(items), own)
    private = PrivateValues()
    found = read_transcript(items, private, segments=context.tool_segments, names=flows.names(flow))
    ending = CallEnding(ERROR, "Retell could not run the test") if status == "error" else CallEnding(None)
    conversation = ended_call(name, flow, found.states, ending, flows.contracts.get(flow))
    version = text_of(engine.get("version"))
    conversation.started_at = moment(epoch_ms(job.get("creation_timestamp")))
    conversation.run_id = run_of_day(conversation.started_at, version and private.text(version))
    conversation.agent_model = private.text(f"{own}@v{version}" if own and version else own or UNKNOWN)
    scenario = text_of(case.get("name")) or text_of(job.get("test_case_definition_id"))
    conversation.scenario = scenario and private.text(scenario)
    conversation.final_status = status
    judged = judged_at(job.get("user_modified_timestamp"), job.get("creation_timestamp"))
    return ReadCall(conversation, [job_verdict(job, private)], judged)


def _snapshot(given: Any) -> list[dict[str, Any]]:
    """Return the messages that a test keeps, with what was heard in place of a record of speech."""
    if isinstance(given, dict):
        given = next((given[key] for key in ("messages", "transcript") if isinstance(given.get(key), list)), None)
    return objects_of(given)


def _private(call: Mapping[str, Any]) -> PrivateValues:
    numbers = [call.get(key) for key in ("from_number", "to_number", "transfer_destination")]
    return PrivateValues(numbers, [call.get("access_token")], addresses_in(call))


def _slots(call: Mapping[str, Any], private: PrivateValues, is_scrubbed: bool) -> dict[str, Any]:
    """Return what was collected; what was taken out of the text is not kept as a slot."""
    given, is_clean = preferred(call, "collected_dynamic_variables")
    is_hidden = is_scrubbed and not is_clean
    return {
        private.text(slot): SCRUBBED if is_hidden and value is not None else private.value(value)
        for slot, value in object_of(given).items()
        if slot not in _PLACES
    }


def _duration(call: Mapping[str, Any]) -> float | None:
    milliseconds = number_of(call.get("duration_ms"))
    if milliseconds is None:
        start, end = (epoch_ms(call.get(f"{each}_timestamp")) for each in ("start", "end"))
        milliseconds = None if start is None or end is None else number_of(end - start)
    return None if milliseconds is None else milliseconds / 1000


def _measured(call: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the latencies of a call as Retell summed them up, in seconds, where those of turns are not known."""
    latency = object_of(object_of(call.get("latency")).get("e2e"))
    given = latency.get("values")
    values = sorted(v for each in (given if isinstance(given, list) else ()) if (v := number_of(each)) is not None)
    p95 = number_of(latency.get("p95"))
    found: dict[str, float | None] = {}
    if p95 is not None or values:
        found["latency_p95"] = (percentile(values, 0.95) if p95 is None else p95) / 1000
    if values:
        found["latency_mean"] = sum(values) / len(values) / 1000
    return found


# Tell how a call of Retell ended, by its reason of disconnection (docs/formats/retell.md).
_STOPS = {
    "user_hangup": HANGUP,
    "user_declined": HANGUP,
    "user_requested_dnc": HANGUP,
    "user_requested_callback": HANGUP,
    "agent_hangup": AGENT_HANGUP,
    "manual_stopped": AGENT_HANGUP,
    "call_transfer": TRANSFER,
    "transfer_bridged": TRANSFER,
    "transfer_cancelled": TRANSFER,
    "call_take_over": TRANSFER,
    "voicemail_reached": VOICEMAIL,
    "ivr_reached": VOICEMAIL,
    "inactivity": TIMEOUT,
    "max_duration_reached": TIMEOUT,
}
_NO_CALL = frozenset(
    {
        "dial_busy",
        "dial_failed",
        "dial_no_answer",
        "error_user_not_joined",
        "invalid_destination",
        "marked_as_spam",
        "network_blocked",
        "registered_call_timeout",
    }
)
_BROKEN = frozenset(
    {
        "budget_reached",
        "concurrency_limit_reached",
        "credit_exhausted",
        "no_concurrency_fallback",
        "no_valid_payment",
        "scam_detected",
        "sip_routing_error",
    }
)
_BROKEN_BEGINNINGS = ("error_", "telephony_provider_")
_NOT_ENDED = frozenset({"registered", "ongoing"})
_ONGOING_EVENTS = frozenset({"call_started", "transcript_updated"})


def ending_of(call: Mapping[str, Any], private: PrivateValues) -> CallEnding:
    """Return how a call ended; what is not known of reasons stays as it is."""
    reason = reason_of(call, private)
    if reason in _BROKEN or (reason is not None and reason.startswith(_BROKEN_BEGINNINGS)):
        return CallEnding(ERROR, f"it ended with {reason}")
    if call.get("call_status") == "error":
        return CallEnding(ERROR, f"it ended with {reason}" if reason else "its status is error")
    if reason is None and object_of(call.get("call_analysis")).get("in_voicemail") is True:
        return CallEnding(VOICEMAIL)
    stop = _STOPS.get(reason or "", reason)
    return CallEnding(stop, is_handed_over=stop == TRANSFER, is_unknown=reason is not None and reason not in _STOPS)


def refusal(call: Mapping[str, Any], event: Any = None) -> str | None:
    """Return why a record is of no call that was kept, or of one that goes on; `None` if it is of one."""
    reason, status = text_of(call.get("disconnection_reason")), text_of(call.get("call_status"))
    if reason in _NO_CALL:
        return f"the call never connected: {reason}"
    if status == "not_connected":
        return f"the call never connected{f': {reason}' if reason else ''}"
    if status in _NOT_ENDED or (status is None and text_of(event) in _ONGOING_EVENTS):
        return NOT_ENDED
    return None


def reason_of(call: Mapping[str, Any], private: PrivateValues) -> str | None:
    """Return the reason of disconnection as Retell calls it."""
    reason = text_of(call.get("disconnection_reason"))
    return None if reason is None else private.text(reason)


# Take what Retell's own model said about a call as verdicts of a judge (docs/formats/retell.md).
JUDGE = "retell"

_SENTIMENTS = {"positive": 10.0, "neutral": 5.0, "negative": 0.0}
_TEST_RESULTS = {"pass": 10.0, "fail": 0.0}
_JUDGED = ("call_successful", "user_sentiment")


def analysis_verdicts(
    call: Mapping[str, Any], private: PrivateValues, *, is_scrubbed: bool
) -> Iterator[PlatformVerdict]:
    """Yield the verdicts in a call's analysis: its success, the caller's sentiment, and own data that is yes or no.

    The summary shows what the call was about, so of a call whose text `is_scrubbed` it goes along only where it was
    scrubbed as well.
    """
    given, is_clean = preferred(call, "call_analysis")
    # Neither of these can name anybody, so they are taken from wherever they are.
    open_words = {name: value for name, value in object_of(call.get("call_analysis")).items() if name in _JUDGED}
    analysis = open_words | object_of(given)
    summary, is_summary_clean = preferred(analysis, "call_summary")
    summary = None if is_scrubbed and not (is_clean or is_summary_clean) else text_of(summary)
    if "call_successful" in analysis:
        yield PlatformVerdict("call_successful", yes_or_no(analysis["call_successful"]), short(summary, private))
    sentiment = text_of(analysis.get("user_sentiment"))
    if sentiment is not None:
        yield PlatformVerdict("user_sentiment", _SENTIMENTS.get(sentiment.lower()), short(sentiment, private))
    for name, value in object_of(analysis.get("custom_analysis_data")).items():
        if isinstance(value, bool) and name not in _JUDGED:
            yield PlatformVerdict(private.text(name), yes_or_no(value))


def job_verdict(job: Mapping[str, Any], private: PrivateValues) -> PlatformVerdict:
    """Return the verdict on a simulated call."""
    score = _TEST_RESULTS.get(text_of(job.get("status")) or "")
    return PlatformVerdict("test_case", score, short(text_of(job.get("result_explanation")), private))
