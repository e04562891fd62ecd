"""Share what the readers of platforms' calls need: records, the call as a whole, verdicts."""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from riff_ingest.conversation import DERIVED, Contract, Conversation
from riff_ingest.lenient_json import (
    as_text,
    clean,
    epoch_ms,
    is_closed,
    loads,
    no_payload,
    object_of,
    opened,
    parse_time,
)
from riff_ingest.lines import BrokenInput, read_lines, read_whole
from riff_ingest.private_values import PrivateValues
from riff_ingest.source import FileHead, run_of
from riff_ingest.state_aspects import read_stream
from riff_ingest.tool_states import ObservedStates, ToolStates
from riff_store.facts import JudgedScore, Skipped


def run_of_day(started_at: str | None, version: str | None) -> str | None:
    """Return the day of a call, in UTC, with the version of its agent, `None` if its time is not known."""
    if started_at is None:
        return None
    return f"{started_at[:10]}@v{version}" if version else started_at[:10]


# Give what happened in a call a time where only some of it has one; the order is that of the source.
_T = TypeVar("_T")


def with_times(items: Sequence[tuple[float | None, _T]], end: float | None = None) -> list[tuple[float | None, _T]]:
    """Return items in their order with their times, in seconds.

    One without a time has that of the next that has one, the last ones that of the call's `end`.
    """
    placed: list[tuple[float | None, _T]] = []
    following = end
    for t, item in reversed(items):
        following = following if t is None else t
        placed.append((following, item))
    placed.reverse()
    return placed


def joined(*lists: Sequence[tuple[float | None, _T]]) -> list[tuple[float | None, _T]]:
    """Return several lists of one call as one by their times, each in its own order also where its times run back."""
    return [each for _, each in heapq.merge(*map(_with_keys, lists), key=itemgetter(0))]


def _with_keys(items: Sequence[tuple[float | None, _T]]) -> Iterator[tuple[float, tuple[float | None, _T]]]:
    latest = float("-inf")
    for t, item in items:
        latest = latest if t is None else max(latest, t)
        yield latest, (t, item)


# Part a transcript that is kept as one text.
NOTHING_SAID = "nothing that was said is in this report"
_LABEL = re.compile(r"(?m)^[ \t]*([^\s:][^:\n]{0,29}):(?!//)")
_SHOWN_LABELS = 5


class Parted(NamedTuple):
    """Describe what was said, with the side that said it, and why some of it was not taken."""

    said: list[tuple[str, str]]
    problem: str | None = None


def parted(transcript: str, sides: Mapping[str, str], private: PrivateValues) -> Parted:
    """Return a transcript as turns: `sides` are those that labels represent, in lower case.

    A line that begins with a label and a colon begins a turn, and others go on with it. A text of one line is parted at
    the labels in it.
    """
    names = "|".join(re.escape(name) for name in sorted(sides, key=len, reverse=True))
    begins = r"(?:^|(?<=\s))" if "\n" not in transcript.strip() else r"(?m)^[ \t]*"
    marks = list(re.finditer(rf"(?i){begins}({names})[ \t]*:", transcript))
    if not marks:
        labels = dict.fromkeys(private.text(label.strip()) for label in _LABEL.findall(transcript))
        told = ", ".join(list(labels)[:_SHOWN_LABELS])
        unknown = f"the transcript names speakers that are not known: {told}"
        return Parted([], unknown if labels else "the transcript does not show who speaks")
    ends = [*(mark.start() for mark in marks[1:]), len(transcript)]
    said = [
        (sides[mark[1].lower()], text)
        for mark, end in zip(marks, ends, strict=True)
        if (text := transcript[mark.end() : end].strip())
    ]
    before = transcript[: marks[0].start()].strip()
    return Parted(said, "what comes before the first speaker of the transcript is left out" if before else None)


# Make a conversation of a call of a platform: with its end, and with what a flow file reports of that.
UNKNOWN = "(unknown)"
ESCALATED = "escalated"
HANGUP, AGENT_HANGUP, TERMINAL, TRANSFER, VOICEMAIL, TIMEOUT, ERROR = (
    "hangup",
    "agent_hangup",
    "terminal",
    "transfer",
    "voicemail",
    "timeout",
    "error",
)


class CallEnding(NamedTuple):
    """Describe why a call ended, whether somebody else was to take it, and whether that word is unknown.

    `error` shows why it does not count, `None` if it counts; `lost_transfer` is the word for a hand-over that failed.
    """

    stop_reason: str | None
    error: str | None = None
    is_handed_over: bool = False
    is_unknown: bool = False
    lost_transfer: str | None = None


def ended_call(
    name: str,
    flow: str,
    states: ToolStates,
    ending: CallEnding,
    contract: Contract | None,
    handing_over: str | None = None,
) -> Conversation:
    """Return a call as it went and ended.

    Only the terminals of its flow's contract show whether it was completed: without one it is not known, nor if none
    was reached and it ended with a word that is not known; states that were derived are none of the flow's.
    `handing_over` is the state that does nothing but hand a call over, if no contract shows it.
    """
    if not isinstance(states, ObservedStates):
        contract = None
    measured: dict[str, float | None] = {}
    completed, named = None, contract is not None and bool(contract.success_terminals or contract.escalation_terminals)
    if contract is None and ending.is_handed_over and handing_over in states.states:
        contract = Contract(escalation_terminals=[handing_over])
        measured["correctness"] = None
    stream = read_stream(states.events, contract)
    final, stop = states.state, ending.stop_reason
    if ending.is_handed_over and not stream.escalated and states.states:
        final, contract = ESCALATED, with_escalation(contract)
    if named and (stream.succeeded or stream.escalated or not ending.is_unknown):
        completed = stream.succeeded
    else:
        measured["completion"] = None
    if stream.succeeded:
        stop = TERMINAL
    elif stream.escalated:
        stop = TRANSFER
    failed = [call for call in states.tool_calls if call.error is not None]
    errors: list[Any] = [{"kind": "tool error", "message": str(call.error), "t": call.t} for call in failed]
    if ending.lost_transfer:
        errors.append({"kind": "transfer", "message": ending.lost_transfer})
    return Conversation(
        conversation_id=name,
        flow=flow,
        completed=completed,
        stop_reason=ERROR if ending.error else stop,
        final_state=final,
        errored=ending.error is not None,
        error=ending.error,
        errors=errors,
        contract=contract,
        turns=states.turns,
        events=states.events,
        tool_calls=states.tool_calls,
        origin="observed" if isinstance(states, ObservedStates) else DERIVED,
        measured=measured,
        unknown_end=ending.is_unknown and stop == ending.stop_reason,
    )


def with_escalation(contract: Contract | None) -> Contract | None:
    """Return a contract to which a call that was handed over outside of the flow's own states has escalated."""
    if contract is None or contract.escalation_terminals is None:
        return contract
    return msgspec.structs.replace(contract, escalation_terminals=[*contract.escalation_terminals, ESCALATED])


# Describe what a platform's own judge said about a call.
LONGEST_RATIONALE = 1000


class PlatformVerdict(NamedTuple):
    """Describe one verdict: a score from 0 to 10, `None` if there is none, and why."""

    aspect: str
    score: float | None
    rationale: str | None = None

    def of(self, judge: str, call: Conversation, judged_at: int | None) -> JudgedScore:
        """Return the verdict as a judge's on a call; `judged_at` in microseconds since the epoch.

        A unique call is named by its id alone, since another record of it may call its flow and its agent otherwise.
        """
        is_named = not call.unique
        return JudgedScore(
            run=call.run_id or "",
            conversation=call.conversation_id,
            judge=judge,
            score=self.score,
            judged_at=judged_at,
            aspect=self.aspect,
            rationale=self.rationale,
            flow=call.flow if is_named else None,
            agent=call.agent_model if is_named else None,
            trial=call.trial if is_named else None,
        )


class ReadCall(NamedTuple):
    """Describe a conversation, the verdicts on it with their time, and notes on how it was read."""

    conversation: Conversation
    verdicts: list[PlatformVerdict]
    judged_at: int | None
    notes: Sequence[str] = ()


def judged_at(*times: Any) -> int | None:
    """Return the first of some times that is one, in milliseconds or seconds since the epoch, as microseconds."""
    known = map(epoch_ms, times)
    milliseconds = next((each for each in known if each is not None), None)
    return None if milliseconds is None else int(milliseconds * 1000)


def yes_or_no(value: Any) -> float | None:
    """Return the score of what is true or false, `None` for anything else."""
    return (10.0 if value else 0.0) if isinstance(value, bool) else None


def short(said: str | None, private: PrivateValues) -> str | None:
    """Return a reason as it may be stored, cut if it is long."""
    if said is None:
        return None
    said = private.text(said.strip())
    return said if len(said) <= LONGEST_RATIONALE else f"{said[: LONGEST_RATIONALE - 1]}…"


# Read the records of calls that a platform's API or its webhooks gave: one, a list, or one a line.
#
# Of several records of one call the one in which most is filled in counts, of equal ones the last; it is a loss where
# another of these has other words.
LISTS = ("items", "results", "calls")
"""The keys under which answers of an API that come in pages keep their list."""

_SENT = ("received_at", "created_at", "time", "Timestamp")
_HEAD_LINES = 8
_LIST_BEGINS = re.compile(r"\s*\[?\s*")
_NEXT_ENTRY = re.compile(r"\s*,?\s*")
_MISREAD = (msgspec.MsgspecError, ValueError, RecursionError)
_list_decoder = msgspec.json.Decoder(list[msgspec.Raw])
_page_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])

_BITS = 28
_BEFORE = datetime(2024, 1, 1, tzinfo=UTC).timestamp()


class Candidate(NamedTuple):
    """Name the call that a record is of, how much of it is filled in, and when it was sent, in ms since the epoch.

    `words` are what was said as the record has it, `None` if the call goes on: of records that have as much and were
    sent as late, one with other words is missed.
    """

    call: str
    stage: int
    sent: float | None = None
    words: Any = None

    @property
    def filled(self) -> int:
        """Return the rank of the record among those of its call: the later of two that have as much counts.

        It is a number of 32 bits: three for how much is filled in, the others for the seconds since 2024.
        """
        seconds = 0 if self.sent is None else int(self.sent / 1000 - _BEFORE)
        return (self.stage << _BITS) + min(max(seconds, 0), (1 << _BITS) - 1)


CandidateOf: TypeAlias = Callable[[Any], Candidate | None]
"""Returns the sketch of a record, `None` for no record of a call; raises `BrokenInput` to say what it is instead."""


class CallRecord(NamedTuple):
    """Describe a record with its number, that of its line or its place in the list, from 1."""

    number: int
    value: Any
    filled: int


def read_calls(
    path: Path,
    sketch: CandidateOf,
    judge: str,
    read_call: Callable[[CallRecord], ReadCall],
    is_call: Callable[[Any], bool] | None = None,
) -> Iterator[tuple[int, Conversation] | JudgedScore | Skipped]:
    """Yield the calls of a file with the verdicts on them; never raises on what they have.

    Numbers are those of lines, or places in a list.
    """
    run = run_of(path)
    for record in read_call_records(path, sketch, is_call):
        if not isinstance(record, CallRecord):
            yield record
            continue
        try:
            found = read_call(record)
        except BrokenInput as problem:
            yield Skipped("skipped", record.number, problem.reason, problem.conversation)
            continue
        call = found.conversation
        call.run_id = call.run_id or run
        yield record.number, call
        for note in found.notes:
            yield Skipped("defect", record.number, note, call.conversation_id)
        for verdict in found.verdicts:
            yield verdict.of(judge, call, found.judged_at)


def recognised(
    head: FileHead, platform: str, is_call: Callable[[Any], bool], is_start: Callable[[bytes], bool]
) -> str | None:
    """Return why a file has calls of a platform; of one too large to be looked at as a whole the beginning decides."""
    listed = [*head.records, *records_of(head.value)[:_HEAD_LINES]]
    if any(map(is_call, listed)):
        return f"it has calls of {platform}"
    if head.misread and head.start.lstrip()[:1] in (b"[", b"{") and is_start(head.start):
        return f"it begins with a call of {platform}"
    return None


def read_call_records(
    path: Path, sketch: CandidateOf, is_call: Callable[[Any], bool] | None = None
) -> Iterator[CallRecord | Skipped]:
    """Yield the records of a file that count, each as plain JSON, and what had to be left out.

    With `is_call`, which knows a record of the platform from any other, records are taken out of envelopes as well. Of
    a list that is cut or breaks off, what comes before that is taken. Raises `BrokenInput` if the file is neither JSON
    nor lines of it.
    """
    broken: list[BrokenInput] = []
    if is_lines(path):
        best: dict[str, _Rank] = {}
        for number, line in read_lines(path, lambda problem: None):
            _keep_best(best, sketch, is_call, number, line)
        yield from _counting(read_lines(path, broken.append), best, sketch, is_call, "line")
    else:
        given, problem = _listed(read_whole(path, "calls_mib"))
        broken += [problem] if problem else []
        best = {}
        for number, record in enumerate(given, start=1):
            _keep_best(best, sketch, is_call, number, record)
        yield from _counting(enumerate(given, start=1), best, sketch, is_call, "entry")
    for problem in broken:
        yield Skipped("skipped", problem.line, problem.reason)


def is_lines(path: Path) -> bool:
    """Return whether a file has a value on each line, and is not one document."""
    head = [line for _, line in islice(read_lines(path, lambda problem: None), _HEAD_LINES)]
    if len(head) < 2 or head[0].lstrip()[:1] == b"[" or head[0].strip() == b"{":
        return False
    return any(map(_is_object, head))


def records_of(value: Any) -> list[Any]:
    """Return the records in a value that is one, a list of them, or a page of an API's answer."""
    if isinstance(value, dict):
        listed = next((value[key] for key in LISTS if isinstance(value.get(key), list)), None)
        return [value] if listed is None else listed
    return value if isinstance(value, list) else [value]


def _is_object(line: bytes) -> bool:
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(loads(line), dict)
    except BrokenInput:
        return False


_Rank: TypeAlias = tuple[int, int, int]
"""How much a record tells, its number, and its place among those of one envelope."""


def _keep_best(best: dict[str, _Rank], sketch: CandidateOf, is_call: Any, number: int, record: Any) -> None:
    with suppress(BrokenInput):
        for place, (_, found) in enumerate(_sketched(record, sketch, is_call, "record")):
            if found is not None:
                best[found.call] = max(best.get(found.call, (-1, 0, 0)), (found.filled, number, place))


def _counting(
    records: Any, best: dict[str, _Rank], sketch: CandidateOf, is_call: Any, what: str
) -> Iterator[CallRecord | Skipped]:
    closed, rivals = 0, defaultdict[str, list[tuple[int, str]]](list)
    for number, record in records:
        try:
            listed = _sketched(record, sketch, is_call, what)
        except BrokenInput as problem:
            yield Skipped("skipped", number, problem.reason)
            continue
        for place, (value, found) in enumerate(listed):
            if found is None and is_call and is_closed(value, is_call):
                closed += 1
            elif found is None:
                yield Skipped("skipped", number, f"{what} is not a call")
            elif best.get(found.call) == (found.filled, number, place):
                for other, words in rivals.pop(found.call, ()):
                    is_same = words == repr(found.words)
                    reason = f"{what} {number} has {'the same' if is_same else 'other data'} of this call, and counts"
                    yield Skipped("superseded" if is_same else "replaced", other, reason, found.call)
                yield CallRecord(number, value, found.filled)
            elif found.call in best:
                if found.words is not None and found.filled == best[found.call][0]:
                    rivals[found.call].append((number, repr(found.words)))
                    continue
                yield Skipped("superseded", number, f"{what} {best[found.call][1]} has more of this call", found.call)
    if closed:
        yield Skipped("skipped", None, no_payload(closed, what))


def _sketched(record: Any, sketch: CandidateOf, is_call: Any, what: str) -> list[tuple[Any, Candidate | None]]:
    """Return the calls in a record with their sketches; of equal ones the envelope that was sent later counts."""
    value = _value(record, what)
    if is_call is None or is_call(value) or not (inner := opened(value, is_call)):
        return [(value, sketch(value))]
    times = (object_of(value).get(key) for key in _SENT)
    sent = next((t / 1000 for each in times if isinstance(each, str) and (t := parse_time(each)) is not None), None)
    found = [(each, sketch(each)) for each in inner]
    return [(each, of and (of if of.sent is not None else of._replace(sent=sent))) for each, of in found]


def _value(record: Any, what: str) -> Any:
    return loads(bytes(record), what=what) if isinstance(record, bytes | msgspec.Raw) else record


def _listed(data: bytes) -> tuple[list[Any], BrokenInput | None]:
    """Return the records of a document, as bytes where it is sound, so that one at a time is taken apart."""
    try:
        if data.lstrip()[:1] == b"[":
            return list(_list_decoder.decode(data)), None
        page = _page_decoder.decode(data)
        for key in LISTS:
            if key in page and bytes(page[key]).lstrip()[:1] == b"[":
                return list(_list_decoder.decode(page[key])), None
        return [msgspec.Raw(data)], None
    except _MISREAD:
        pass
    try:
        return records_of(loads(data, what="file")), None
    except BrokenInput as problem:
        found, is_whole = _before_the_break(data)
        if not found:
            raise
        return found, None if is_whole else BrokenInput(f"{problem.reason}; what follows was not read")


def _before_the_break(data: bytes) -> tuple[list[Any], bool]:
    """Return the values of a list, or of documents in sequence, up to a break, and whether that is all."""
    text, found = as_text(data, Counter()), list[Any]()
    match, decoder = _LIST_BEGINS.match(text), json.JSONDecoder()
    while match is not None and match.end() < len(text):
        try:
            value, end = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            return found, False
        found.append(clean(value, Counter()))
        match = _NEXT_ENTRY.match(text, end)
    return found, not text.lstrip().startswith("[")
