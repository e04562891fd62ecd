"""Read when the messages and calls of a sample came, which agent was at work, and what was scored of it.

Its messages have no times, but its events have. Scores become verdicts of judges, from 0 to 10, their edits notes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from riff_ingest.conversation import ROLES, Conversation
from riff_ingest.events import LONGEST
from riff_ingest.lenient_json import object_of, objects_of, parse_time, text_of
from riff_ingest.lines import limits
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.inspect_log.archive import Header
from riff_ingest.sources.inspect_log.samples import Sample, SampleEvent
from riff_ingest.tool_states import answers_in_order
from riff_store.facts import Annotation, JudgedScore

ATTACHMENT = "attachment://"
PRIVATE = PrivateValues()
"""Takes tokens and signatures of links out of texts and values: those of a log name none beside them."""


def spoken(content: Any, attachments: Mapping[str, Any]) -> str:
    """Return the text of a message: its parts in lines, others left out, long ones looked up, without blanks around."""
    if isinstance(content, str):
        return _attached(content, attachments).strip()
    parts = [part.get("text") for part in objects_of(content) if part.get("type") == "text"]
    return "\n".join(_attached(part, attachments) for part in parts if isinstance(part, str) and part).strip()


def attached(value: Any, attachments: Mapping[str, Any], room: int | None = None) -> Any:
    """Return a plain JSON value with the long texts in it that a sample keeps apart."""
    if isinstance(value, str):
        return _attached(value, attachments)
    room = limits().depth if room is None else room
    if not attachments or room == 0:
        return value
    if isinstance(value, list):
        return [attached(each, attachments, room - 1) for each in value]
    if isinstance(value, dict):
        return {key: attached(each, attachments, room - 1) for key, each in value.items()}
    return value


def _attached(said: str, attachments: Mapping[str, Any]) -> str:
    kept = attachments.get(said.removeprefix(ATTACHMENT)) if said.startswith(ATTACHMENT) else None
    return kept if isinstance(kept, str) else said


HANDOFF = "transfer_to_"
"""What the names of tools begin with that hand a call to another agent."""

_AGENT, _HANDOFF, _SCORER = "agent", "handoff", "scorer"
_SCORING = frozenset({_SCORER, "scorers"})
_CALLER = ROLES["user"]


class Happening(NamedTuple):
    """Describe an event that reports a message or a call of a tool, at its `place` among all events.

    Times are microseconds since the epoch, the latency milliseconds.
    """

    place: int
    event: SampleEvent
    by: str
    began: int | None
    ended: int | None
    latency_ms: float | None = None


class AgentAtWork(NamedTuple):
    """Describe which agent was at work from an event on."""

    place: int
    name: str
    began: int | None


@dataclass
class Happenings:
    """Describe what the events of a sample show.

    `answers` are those of models by the id of their message, `nameless` those that no id distinguishes, `tools` the
    calls of tools, `scored` when each scorer gave its score, `first` and `last` when the first and the last event came.
    """

    answers: dict[str, list[Happening]] = field(default_factory=dict)
    nameless: list[Happening] = field(default_factory=list)
    tools: list[Happening] = field(default_factory=list)
    agents: list[AgentAtWork] = field(default_factory=list)
    scored: dict[str, int] = field(default_factory=dict)
    hands_over: bool = False
    first: int | None = None
    last: int | None = None

    @property
    def has_agents(self) -> bool:
        """Return whether the agents say more than the tools do: there was more than one, or could have been."""
        return bool(self.agents) and (self.hands_over or len({agent.name for agent in self.agents}) > 1)

    def answer(
        self, message: Mapping[str, Any], said: str, by: str, attachments: Mapping[str, Any]
    ) -> Happening | None:
        """Return the answer that became a message: that of its id, else the next of this side that says the same."""
        found = self.answers.get(text_of(message.get("id")) or "")
        if found:
            return found.pop(0) if len(found) > 1 else found[0]
        for index, each in enumerate(self.nameless):
            if each.by == by and spoken(answered(each.event).get("content"), attachments) == said:
                return self.nameless.pop(index)
        return None


def happenings_of(sample: Sample) -> Happenings:
    """Return what the events of a sample show; events of scorers are none of the call."""
    found, spans, sides = Happenings(), _Spans(), dict[str, str]()
    for place, event in enumerate(sample.events):
        began = time_of(event.timestamp)
        if began is not None:
            found.first = began if found.first is None else min(found.first, began)
            found.last = max(found.last or began, time_of(event.completed) or began)
        if event.event == "span_begin":
            spans.add(event)
            found.hands_over |= event.type == _HANDOFF
        elif event.event == "score" and began is not None and not event.intermediate:
            found.scored[spans.scorer(event.span_id) or ""] = began
        elif event.event in ("model", "tool") and not spans.is_scoring(event.span_id):
            _take(found, spans, sides, place, event)
    return found


def answered(event: SampleEvent) -> dict[str, Any]:
    """Return the message that a model answered with, an empty one if there is none."""
    choices = objects_of(object_of(event.output).get("choices"))
    return object_of(choices[0].get("message")) if choices else {}


def time_of(value: Any) -> int | None:
    """Return a time in microseconds since the epoch, `None` for what is none."""
    return parse_time(value) if isinstance(value, str) else None


class _Spans:
    """Keep the spans that were begun, each with the one that it is in."""

    def __init__(self) -> None:
        self._spans: dict[str, SampleEvent] = {}

    def add(self, event: SampleEvent) -> None:
        if isinstance(event.id, str):
            self._spans[event.id] = event

    def agent(self, span: Any) -> str | None:
        """Return the agent in whose span an event is, the innermost."""
        for each in self._around(span):
            if each.type in (_AGENT, _HANDOFF) and (name := text_of(each.name)):
                return name.removeprefix(HANDOFF) or name
        return None

    def scorer(self, span: Any) -> str | None:
        return next((text_of(each.name) for each in self._around(span) if each.type == _SCORER), None)

    def is_scoring(self, span: Any) -> bool:
        return any(isinstance(each.type, str) and each.type in _SCORING for each in self._around(span))

    def _around(self, span: Any) -> Iterable[SampleEvent]:
        seen = set()
        while isinstance(span, str) and span in self._spans and span not in seen:
            seen.add(span)
            yield self._spans[span]
            span = self._spans[span].parent_id


def _take(found: Happenings, spans: _Spans, sides: dict[str, str], place: int, event: SampleEvent) -> None:
    """Add an answer of a model or a call of a tool, whose side is that of the last answer with its id."""
    began, ended = time_of(event.timestamp), time_of(event.completed)
    if event.event == "model":
        latency = _latency(event, began, ended)
        if ended is None and began is not None and latency is not None:
            ended = began + round(1000 * latency)
        by = _CALLER if event.role == "user" else "agent"
        message = answered(event)
        happening = Happening(place, event, by, began, ended, latency)
        key = text_of(message.get("id"))
        if key is None or by == _CALLER:  # what a caller's model answered is in the call under another id
            found.nameless.append(happening)
        else:
            found.answers.setdefault(key, []).append(happening)
        for call in objects_of(message.get("tool_calls")):
            if (asked := text_of(call.get("id"))) is not None:
                sides[asked] = by
        found.hands_over |= any(str(tool.name).startswith(HANDOFF) for tool in event.tools or ())
    else:
        by = sides.get(text_of(event.id) or "", "agent")
        found.tools.append(Happening(place, event, by, began, ended))
    agent = spans.agent(event.span_id)
    if by == "agent" and agent is not None and (not found.agents or found.agents[-1].name != agent):
        found.agents.append(AgentAtWork(place, agent, began))


def _latency(event: SampleEvent, began: int | None, ended: int | None) -> float | None:
    """Return how long a model took in milliseconds: without waiting for rate limits if that is known."""
    for seconds in (event.working_time, _between(began, ended), object_of(event.output).get("time")):
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= LONGEST / 1000:
            return seconds * 1000.0
    return None


def _between(began: int | None, ended: int | None) -> float | None:
    return None if began is None or ended is None else (ended - began) / 1e6


class ToolResults(NamedTuple):
    """Describe the messages that answer calls of tools by the identity of the calls, and the calls by that of these."""

    answers: dict[int, dict[str, Any]]
    calls: dict[int, dict[str, Any]]


def results_of(messages: list[dict[str, Any]]) -> ToolResults:
    """Return which message answers which call."""
    steps: list[tuple[str | None, bool, dict[str, Any]]] = []
    for message in messages:
        steps += [(text_of(call.get("id")), False, call) for call in objects_of(message.get("tool_calls"))]
        steps.append((text_of(message.get("tool_call_id")), True, message))
    pairs = answers_in_order((key, is_answer) for key, is_answer, _ in steps).items()
    return ToolResults(
        {id(steps[call][2]): steps[answer][2] for call, answer in pairs},
        {id(steps[answer][2]): steps[call][2] for call, answer in pairs},
    )


def events_of_calls(messages: list[dict[str, Any]], tools: list[Happening]) -> dict[int, Happening]:
    """Return the events that report calls in messages by the identity of the calls.

    Of several events of one id each belongs to the first call with its arguments, those that are left to the calls that
    are, as they come.
    """
    waiting: dict[str, list[Happening]] = {}
    for happening in tools:
        if key := text_of(happening.event.id):
            waiting.setdefault(key, []).append(happening)
    found: dict[int, Happening] = {}
    calls = [
        (call, key)
        for each in messages
        for call in objects_of(each.get("tool_calls"))
        if (key := text_of(call.get("id")))
    ]
    for has_arguments in (True, False):
        for call, key in calls:
            left = waiting.get(key, [])
            fitting = (each for each in left if not has_arguments or each.event.arguments == call.get("arguments"))
            if id(call) not in found and (made := next(fitting, None)):
                found[id(call)] = made
                left.remove(made)
    return found


# Take the scores of a sample as verdicts of judges, from 0 to 10, and their edits as notes of who made them.
LONGEST_RATIONALE = 1000

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_CORRECT = "C"
UNKNOWN_LETTERS = "its letters are on a scale nobody knows"
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_UNCHANGED = "UNCHANGED"


class Part(NamedTuple):
    """Name a value of a score: `aspect` is the scorer, or the key or place where the score has several values."""

    scorer: str
    aspect: str


class Scales:
    """Find on which scale the values of each part of the scores are, by all samples of the log.

    Numbers are from 0 to 1: a part with one that does not has another scale. The letters are those of Inspect AI: a
    part with another text has letters of its own, such as grades from A to E. If a `C` is the only text, a scorer of
    which `header` shows that its letters never become numbers gives grades as well.
    """

    def __init__(self) -> None:
        self.header: Header | None = None
        self._others: set[Part] = set()
        self._letters: dict[Part, set[str]] = {}
        self._graded: set[Part] = set()

    def learn(self, scores: Any) -> None:
        """Look at the scores of one more sample of the log."""
        for name, score in object_of(scores).items():
            for part, value in parts_of(name, object_of(score).get("value")):
                number = _number(value)
                if number is not None and not 0 <= number <= 1:
                    self._others.add(part)
                elif number is None and isinstance(value, str) and value.strip():
                    if value in _LETTERS:
                        self._letters.setdefault(part, set()).add(value)
                    elif value.strip().lower() not in _WORDS:
                        self._graded.add(part)

    def graded(self, part: Part) -> bool:
        """Return whether the letters of a part are none of Inspect AI's."""
        if part in self._graded:
            return True
        is_lone = self._letters.get(part) == {_CORRECT}
        return is_lone and self.header is not None and not self.header.averages(part.scorer)

    def unknown_letters(self) -> list[Part]:
        """Return the parts with letters that could have been taken for those of Inspect AI."""
        return [part for part in self._letters if self.graded(part)]

    def share(self, part: Part, value: Any) -> float | None:
        """Return a value from 0 to 1, `None` if it is none or if nobody knows what its scale is."""
        number = _number(value)
        if number is not None:
            return None if part in self._others or not 0 <= number <= 1 else number
        if isinstance(value, bool):
            return float(value)
        if not isinstance(value, str):
            return None
        known = _WORDS if self.graded(part) else _LETTERS | _WORDS
        return known.get(value, _WORDS.get(value.strip().lower()))

    def unscored(self, part: Part, value: Any) -> str:
        """Return why a value is not a score."""
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            return "It has no value"
        if _number(value) is not None:
            return f"Its value {_shown(value)} is not on a scale from 0 to 1"
        if isinstance(value, str) and len(value.strip()) == 1 and self.graded(part):
            return f"Its value {_shown(value)}: {UNKNOWN_LETTERS}"
        return f"Its value {_shown(value)} is not a number" if isinstance(value, str) else "Its value is not a number"


def parts_of(name: str, value: Any) -> list[tuple[Part, Any]]:
    """Return the values of a score: one, or those of its keys or places."""
    if isinstance(value, dict):
        return [(Part(name, str(key)), each) for key, each in value.items()]
    if isinstance(value, list):
        return [(Part(name, f"{name} {place}"), each) for place, each in enumerate(value, start=1)]
    return [(Part(name, name), value)]


def verdicts(
    scores: Any, call: Conversation, header: Header, scales: Scales, scored: Mapping[str, int], lines: Iterator[int]
) -> Iterator[JudgedScore]:
    """Yield the verdicts on a call, each under the next of `lines`; `scored` shows when a scorer gave its score.

    What is not a value from 0 to 1 is unscored, with the reason.
    """
    for name, given in object_of(scores).items():
        score = object_of(given)
        edited = [time for edit in objects_of(score.get("history")) if (time := _edited(edit)[1]) is not None]
        for part, value in parts_of(name, score.get("value") if isinstance(given, dict) else given):
            share = scales.share(part, value)
            yield JudgedScore(
                run=call.run_id or "",
                conversation=call.conversation_id,
                judge=name,
                aspect=part.aspect,
                score=None if share is None else round(10 * share, 6),
                judged_at=max(edited) if edited else scored.get(name),
                rationale=_rationale(score, None if share is not None else scales.unscored(part, value)),
                model=header.grader(name),
                line=next(lines),
                flow=call.flow,
                agent=call.agent_model,
                trial=call.trial,
            )


def edits(scores: Any, call: Conversation, scales: Scales) -> Iterator[Annotation]:
    """Yield what people changed of the scores of a call: from what to what, who, when and why."""
    for name, given in object_of(scores).items():
        value: Any = None
        for place, edit in enumerate(objects_of(object_of(given).get("history"))):
            before, value = value, edit.get("value") if edit.get("value") != _UNCHANGED else value
            author, at = _edited(edit)
            if author is None:
                continue
            reason = text_of(object_of(edit.get("provenance")).get("reason"))
            share = scales.share(Part(name, name), value)
            yield Annotation(
                id=f"inspect:{call.run_id}:{call.conversation_id}:{call.trial}:{name}:{place}",
                conversation=call.conversation_id,
                author=author,
                run=call.run_id,
                flow=call.flow,
                agent=call.agent_model,
                trial=call.trial,
                verdict={1.0: "pass", 0.0: "fail"}.get(-1.0 if share is None else share),
                note=_short(f"{name}: {_shown(before)} → {_shown(value)}" + (f", {reason}" if reason else "")),
                labels=["score edit"],
                at=at,
            )


def _edited(edit: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return who edited a score and when; what a scorer gave at first nobody edited."""
    provenance = object_of(edit.get("provenance"))
    return text_of(provenance.get("author")), time_of(provenance.get("timestamp"))


def _number(value: Any) -> float | None:
    """Return a finite number, also one that is written as text, `None` for anything else."""
    if isinstance(value, str):
        try:
            value = float(value) if value.strip() and "_" not in value else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 and math.isfinite(value) else None


def _rationale(score: Mapping[str, Any], unscored: str | None) -> str | None:
    """Return why a scorer gave its score: its explanation, else the last that its grader said."""
    said = text_of(score.get("explanation"))
    if said is None:
        grading = objects_of(object_of(score.get("metadata")).get("grading"))
        answers = [each for each in grading if each.get("role") == "assistant"]
        said = text_of(spoken(answers[-1].get("content"), {})) if answers else None
    parts = [part for part in (unscored, text_of(score.get("reason")) if unscored else None, said) if part]
    return _short(": ".join(parts)) if parts else None


def _shown(value: Any) -> str:
    if value is None:
        return "·"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(said: str) -> str:
    said = PRIVATE.text(said)
    return said if len(said) <= LONGEST_RATIONALE else f"{said[: LONGEST_RATIONALE - 1]}…"
