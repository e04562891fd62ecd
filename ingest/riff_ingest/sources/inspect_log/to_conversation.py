"""Turn one conversation of a log into the form that every source delivers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from riff_ingest.conversation import DERIVED, RETRIED, ROLES, Contract, Conversation
from riff_ingest.events import LONGEST
from riff_ingest.lenient_json import NOT_FINITE, object_of, objects_of, text_of
from riff_ingest.lines import BrokenInput, read_start
from riff_ingest.segments import NO_SEGMENTS, ToolSegments
from riff_ingest.source import ReadContext
from riff_ingest.source import text_of as name_of
from riff_ingest.sources.inspect_log.archive import (
    MISSING,
    START,
    Archive,
    ArchiveLog,
    DocumentLog,
    Header,
    Key,
    Log,
    Survey,
    header_of,
    key_of,
)
from riff_ingest.sources.inspect_log.happenings import (
    PRIVATE,
    UNKNOWN_LETTERS,
    Happening,
    Happenings,
    Part,
    Scales,
    attached,
    edits,
    events_of_calls,
    happenings_of,
    results_of,
    spoken,
    time_of,
    verdicts,
)
from riff_ingest.sources.inspect_log.samples import Sample, SampleHead, decode_head, decode_sample, decode_scores
from riff_ingest.tool_states import ToolStates
from riff_store.facts import Annotation, JudgedScore, Skipped

_TO_A_HUMAN = re.compile(r"transfer.*(human|person|operator|representative|agent)|escalat", re.IGNORECASE)
LONGEST_ERROR = 1000

_TERMINAL, _ERROR = "terminal", "error"
_LIMITS = frozenset({"context", "cost", "custom", "limit", "message", "operator", "time", "token", "turn", "working"})


def conversation_of(
    sample: Sample, happenings: Happenings, header: Header, scales: Scales, segments: ToolSegments
) -> Conversation:
    """Return the call that a sample is; raise `BrokenInput` if it has no id."""
    key = key_of(sample.id, sample.epoch)
    if key is None:
        raise BrokenInput("sample has no id")
    name, epoch = key
    began = time_of(sample.started_at)
    began = happenings.first if began is None else began
    told = transcript_of(sample, happenings, began, segments)
    metadata = object_of(sample.metadata)
    error, limit, passed = _error(sample), _limit(sample.limit), _passed(sample, header, scales)
    is_unknown = error is None and limit is not None and limit not in _LIMITS
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
        # A log that goes on where another one ended has samples of that one, with their times.
        started_at=header.created if time_of(header.created) is not None else _first_time(sample, happenings),
        duration_s=_duration(sample, began, happenings.last),
        completed=None if is_unknown else error is None and limit is None,
        unknown_end=is_unknown,
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
        passed=passed,
        stored=_headline(sample, header, scales),
        filled=len(object_of(sample.scores)),
    )


def _first_time(sample: Sample, happenings: Happenings) -> str | None:
    if time_of(sample.started_at) is not None:
        return text_of(sample.started_at)
    return next(
        (each for each in (text_of(event.timestamp) for event in sample.events) if time_of(each) is not None), None
    )


def _duration(sample: Sample, began: int | None, last: int | None) -> float | None:
    """Return how long a call took in seconds: as the log reports, else from its first to its last time."""
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
    """Return whether the task was done by the score that represents the whole, unless that is a model's opinion."""
    share = _share(sample, header, scales)
    return None if share is None else share >= 1


def _share(sample: Sample, header: Header, scales: Scales) -> float | None:
    headline = header.headline
    score = object_of(sample.scores).get(headline.scorer) if headline else None
    if headline is None or score is None or header.grader(headline.scorer) is not None:
        return None
    value, part = object_of(score).get("value"), Part(headline.scorer, headline.scorer)
    if isinstance(value, dict):
        value, part = value.get(headline.score), Part(headline.scorer, headline.score)
    return scales.share(part, value)


def _headline(sample: Sample, header: Header, scales: Scales) -> dict[str, float]:
    """Return the score that represents the whole where it is in part met, which a yes or no does not show."""
    share = _share(sample, header, scales)
    return {header.headline.score: share} if header.headline and share is not None and 0 < share < 1 else {}


# Put the messages, tool calls and agents of a sample into one order, with the times that its events show.
_HAND_OVER, _SPEAK = 0, 1
_WITHOUT_A_REASON = "failed"


def transcript_of(sample: Sample, happenings: Happenings, began: int | None, segments: ToolSegments) -> ToolStates:
    """Return what was said and called in a sample, in order; its states are its agents, else its tools.

    `began` is when the call started, in microseconds since the epoch.
    """
    if happenings.has_agents:
        agents = AgentStates(happenings.agents[0].name)
        order = _Order(sample, happenings, began, agents)
        for agent in happenings.agents:
            order.add(agent.place, _HAND_OVER, partial(agents.move, agent.name, order.seconds(agent.began)))
        states: ToolStates = agents
    else:
        states = ToolStates(segments)
        order = _Order(sample, happenings, began, states)
    order.take_messages()
    order.take_other_calls()
    order.carry_out()
    return states


class _Order:
    """Collect the steps of a call, each at its place among the events; of one place they stay as they came."""

    def __init__(self, sample: Sample, happenings: Happenings, began: int | None, states: ToolStates) -> None:
        self._sample = sample
        self._attachments = object_of(sample.attachments)
        self._happenings = happenings
        self._began = began
        self._states = states
        self._steps: list[tuple[int, int, Callable[[], None]]] = []
        self._messages = objects_of(sample.messages)
        self._results = results_of(self._messages)
        self._made = events_of_calls(self._messages, happenings.tools)

    def add(self, place: int, rank: int, step: Callable[[], None]) -> None:
        self._steps.append((place, rank, step))

    def seconds(self, time: int | None) -> float | None:
        """Return a time in seconds since the call started; what came before it comes with its start."""
        if time is None or self._began is None:
            return None
        seconds = (time - self._began) / 1e6
        return max(seconds, 0.0) if seconds <= LONGEST else None

    def take_messages(self) -> None:
        """Add what was said and called, as the messages have it."""
        place = -1
        made: Happening | None
        for message in self._messages:
            by = ROLES.get(str(message.get("role")))
            if by is None:
                call = self._results.calls.get(id(message))
                made = self._made.get(id(call)) if call else None
                place = place if made is None else max(place, made.place)
                continue
            said = spoken(message.get("content"), self._attachments)
            made = self._happenings.answer(message, said, by, self._attachments)
            place = place if made is None else max(place, made.place)
            if said:
                t = self.seconds(made.ended or made.began) if made else self._given_at_first(message, place)
                latency = made.latency_ms if made and by == "agent" else None
                self.add(place, _SPEAK, partial(self._states.say, by, PRIVATE.text(said), t, latency))
            for call in objects_of(message.get("tool_calls")):
                happening, answer = self._made.get(id(call)), self._results.answers.get(id(call))
                place = place if happening is None else max(place, happening.place)
                self._call(call.get("function"), call.get("arguments"), by, place, answer, happening)

    def take_other_calls(self) -> None:
        """Add the calls that no message has: those of the caller, and of agents that work for another."""
        told = {happening.place for happening in self._made.values()}
        for happening in self._happenings.tools:
            if happening.place not in told:
                event = happening.event
                self._call(event.function, event.arguments, happening.by, happening.place, None, happening)

    def carry_out(self) -> None:
        for _, _, step in sorted(self._steps, key=lambda step: step[:2]):
            step()

    def _given_at_first(self, message: Mapping[str, Any], place: int) -> float | None:
        """Return when a message came that no model made: with the start of the call, if it is of its input."""
        return self.seconds(self._began) if place < 0 and message.get("source") == "input" else None

    def _call(
        self,
        function: Any,
        arguments: Any,
        by: str,
        place: int,
        answer: Mapping[str, Any] | None,
        happening: Happening | None,
    ) -> None:
        name = text_of(function)
        if name is None:
            return
        event = happening.event if happening else None
        result = answer.get("content") if answer else event.result if event else None
        if isinstance(result, str | list):
            result = spoken(result, self._attachments) or None
        failed = _error_of_answer(answer.get("error")) if answer else None
        step = partial(
            self._states.call,
            name,
            by=by,
            t=self.seconds(happening.began) if happening else None,
            arguments=PRIVATE.value(attached(arguments, self._attachments)),
            result=PRIVATE.value(result),
            error=failed or (_error_of_answer(event.error, bool(event.failed)) if event else None),
            fits=False
            if _MISFIT in (_kind_of(answer and answer.get("error")), _kind_of(event and event.error))
            else None,
        )
        self.add(place, _SPEAK, step)


_MISFIT = "parsing"
"""The kind of error of a tool whose arguments could not be read, or did not fit its schema."""


def _kind_of(error: Any) -> str | None:
    return text_of(object_of(error).get("type"))


def _error_of_answer(given: Any, failed: bool = False) -> str | None:
    """Return what went wrong with a call of a tool: the kind of the error and its message."""
    error = object_of(given)
    said = [part for part in (text_of(error.get("type")), text_of(error.get("message"))) if part]
    return PRIVATE.text(": ".join(said)) or (_WITHOUT_A_REASON if failed or error else None)


class AgentStates(ToolStates):
    """Collect a call in its order, as `ToolStates` does; it moves to the agents, and its tools change no state."""

    def __init__(self, first: str) -> None:
        super().__init__(NO_SEGMENTS, first)

    def _visit(self, tool: str, by: str, segment: str | None, t: float | None) -> None:
        """Stay with the agent: tools are no states."""


# Read a log from its first sample to its last.
EMPTY = "file is empty"
NO_SAMPLES = "the log has no samples"
NEITHER = "it is not a log of Inspect AI: neither a zip file nor a JSON object"

Found = tuple[int, Conversation] | JudgedScore | Annotation | Skipped


def read_log(path: Path, context: ReadContext) -> Iterator[Found]:
    """Yield the calls of a log with the places of their samples, the verdicts on them and the edits of these.

    Raises `BrokenInput` if the log as a whole cannot be read.
    """
    retries = Retries(context.retries)
    with ExitStack() as opened:
        scales = Scales()
        log = _open(path, opened, scales)
        for note in log.notes:
            yield Skipped("defect", None, note)
        header, lines = header_of(log.header), count(1)
        scales.header = header
        for letters in scales.unknown_letters():
            yield Skipped(
                "defect", None, f"{', '.join(dict.fromkeys(letters))}: {UNKNOWN_LETTERS}, so they are not scores"
            )
        seen: set[Key | None] = set()
        superseded: set[Key] = set()
        for place, part in enumerate(log.samples(), start=1):
            seen.add(part.key)
            name = part.key[0] if part.key else None
            if part.problem is not None:
                yield Skipped("skipped", None, part.problem, name)
                continue
            try:
                sample, defects = _sample(part.data)
                if (key := key_of(sample.id, sample.epoch)) and (why := retries.superseding(sample, key)):
                    seen.add(key)
                    superseded.add(key)
                    yield Skipped("superseded", place, why, key[0])
                    continue
                for found in _read_sample(sample, defects, place, header, scales, context, lines):
                    if isinstance(found, tuple):
                        seen.add((found[1].conversation_id, found[1].trial + 1))
                    yield found
            except BrokenInput as problem:
                yield Skipped("skipped", None, f"sample {place}: {problem.reason}", name)
        if superseded and len(superseded) == len(seen):
            yield Skipped("superseded", None, f"retried: none of its {len(superseded)} calls is left in this run")
        listed = log.listed()
        if not seen and not listed:
            yield Skipped("skipped", None, NO_SAMPLES)
        for key in listed:
            if key not in seen:
                yield Skipped("skipped", None, MISSING, key[0])


def _open(path: Path, opened: ExitStack, scales: Scales) -> Log:
    """Open a log, and look at all its scores before the first is taken: a 1 is the best only if none is above it."""

    def survey(sample: bytes) -> None:
        with suppress(BrokenInput):  # reading the sample reports it
            scales.learn(decode_scores(sample))

    return _opened(path, opened, survey)


def _opened(path: Path, opened: ExitStack, survey: Survey = lambda sample: None) -> Log:
    start = read_start(path).lstrip()
    if start.startswith(START):
        return ArchiveLog(opened.enter_context(Archive(path)), survey)
    if not start.startswith(b"{"):
        raise BrokenInput(NEITHER if start else EMPTY)
    return DocumentLog(path, survey)


def _sample(data: bytes) -> tuple[Sample, Counter[str]]:
    defects: Counter[str] = Counter()
    return decode_sample(data, defects), defects


class Retries:
    """Know which samples of a log are again in later attempts at its task.

    A retry copies those that ended well, whole, and plays the others again.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._copies: dict[tuple[Any, ...], str] = {}
        self._again: dict[Key, str] = {}
        for path in paths:
            with suppress(BrokenInput), ExitStack() as opened:
                for part in _opened(path, opened).samples():
                    with suppress(BrokenInput):
                        self._learn(decode_head(part.data), name_of(path.name))

    def _learn(self, sample: SampleHead, log: str) -> None:
        if (key := key_of(sample.id, sample.epoch)) is not None:
            self._copies.update((same, log) for same in _same(sample, key))
            self._again[key] = log

    def superseding(self, sample: Sample, key: Key) -> str | None:
        """Return why another attempt's sample represents this one, `None` if none does."""
        for same in _same(sample, key):
            if same in self._copies:
                return f"copied into the retry {self._copies[same]}, where it counts"
        if (sample.error is not None or sample.invalidation is not None) and key in self._again:
            return f"it did not count and was run again in the retry {self._again[key]}"
        return None


def _same(sample: Sample | SampleHead, key: Key) -> Iterator[tuple[Any, ...]]:
    """Yield what a copy of a sample has in common with it: its own id, else its times."""
    if (uuid := text_of(sample.uuid)) is not None:
        yield (uuid,)
    else:
        times = text_of(sample.started_at), text_of(sample.completed_at)
        if None not in times:
            yield *key, *times


def _read_sample(
    sample: Sample,
    defects: Counter[str],
    place: int,
    header: Header,
    scales: Scales,
    context: ReadContext,
    lines: Iterator[int],
) -> Iterator[Found]:
    happenings = happenings_of(sample)
    call = conversation_of(sample, happenings, header, scales, context.tool_segments)
    call.contract = context.contracts.get(call.flow, call.contract)
    call.needs_verdict = call.passed is None and not (call.contract and call.contract.success_terminals)
    del defects[NOT_FINITE]  # Inspect AI writes NaN for what is unscored
    call.defects = dict(defects)
    yield place, call
    yield from verdicts(sample.scores, call, header, scales, happenings.scored, lines)
    yield from edits(sample.scores, call, scales)
