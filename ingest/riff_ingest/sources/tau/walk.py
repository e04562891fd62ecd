"""Walk through a call in its order, whatever it was made of, and collect what happened in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from riff_ingest.conversation import ROLES
from riff_ingest.facts import LONGEST_RESULT
from riff_ingest.lenient_json import is_deep, too_deep
from riff_ingest.segments import ACTION, AUTH, EXIT, LOOKUP, OTHER, VERIFY
from riff_ingest.sources.tau.interaction import agent_interruptions, events_of, interaction_of, longest_unanswered
from riff_ingest.sources.tau.judges import Spoken, spoken
from riff_ingest.sources.tau.marks import SpokenTurn, conditions_of, marks_of, turns_of, utterances
from riff_ingest.sources.tau.records import Call, Message, Run, Simulation
from riff_ingest.sources.tau.ticks import (
    TICK_SECONDS,
    SpokenTicks,
    Stretch,
    Tick,
    read_ticks,
    script_of,
    spoken_ticks,
    tick_seconds,
    without_stop_signal,
)
from riff_ingest.tool_states import ToolStates, answers_in_order
from riff_store.interaction import Interaction
from riff_store.voice import Span, TraceEntry, Voice, VoiceTurn

LONGEST_ERROR = 1000
"""Characters that are kept of what a tool said went wrong."""


@dataclass(slots=True)
class Walked:
    """Describe what happened in a call: what was said and called as `states`, and what only voice has.

    `kinds` are those of the tools in checks, by name; `spoken` shows where each turn is, `last_words` are the caller's
    last, with what steers the simulation. `duration_s` is the length of the call in seconds where its record has a
    clock of its own.
    """

    states: ToolStates
    kinds: Mapping[str, str] = field(default_factory=dict)
    spoken: list[Spoken] = field(default_factory=list)
    last_words: str | None = None
    has_caller: bool = False
    duration_s: float | None = None
    voice: Voice | None = None
    interaction: Interaction | None = None
    defects: Counter[str] = field(default_factory=Counter)

    def call(self, call: Call, answer: Message | None, role: str, t: float | None) -> None:
        """Take a call of a tool by a side, `t` seconds after the call started, with what the tool answered."""
        if not call.name:
            self.defects["call of a tool without a name"] += 1
            return
        arguments = call.arguments
        if is_deep(arguments):
            self.defects[f"arguments {too_deep()}"] += 1
            arguments = None
        tool = tool_of(call.name, arguments)
        said = answer.content if answer else None
        failed = answer is not None and answer.error is True
        self.states.call(
            call.name,
            by=ROLES.get(call.requestor or role, "agent"),
            t=t,
            arguments=arguments,
            result=None if failed else said,
            error=(said or "error")[:LONGEST_ERROR] if failed else None,
            state=tool,
            segment=phase_of(tool, self.kinds.get(tool)),
            changes=told_changes(tool, self.kinds.get(tool)),
            fits=False if failed and _MISFIT.search(said or "") else None,
        )


def answers_to(calls: Sequence[Call], answers: Sequence[Message]) -> Sequence[Message | None]:
    """Return the answer to each call: the one with its id, if none has it the next that is nobody else's."""
    if len(calls) == len(answers) == 1:
        return answers
    steps = [*((call.id, False) for call in calls), *((answer.id, True) for answer in answers)]
    found = {call: answers[answer - len(calls)] for call, answer in answers_in_order(steps).items()}
    known = {call.id for call in calls}
    spare = iter([answer for answer in answers if answer.id is None or answer.id not in known])
    return [found[place] if place in found else next(spare, None) for place in range(len(calls))]


# Know the tools of the benchmark: which of them write, and which phase of a call each belongs to.
TRANSFER = "transfer_to_human_agents"
DISCOVERED = "call_discoverable_agent_tool"
"""A tool that hands on to another, which its arguments name."""
WRITE = "write"

_MISFIT = re.compile(
    r"got an unexpected keyword argument|missing \d+ required (?:positional|keyword-only) argument"
    r"|\d+ validation errors? for "
)
"""What a tool says of arguments that do not fit it: it is a function of Python, whose types pydantic checks."""
_DISCOVERED_NAME = "agent_tool_name"
_READING_WORDS = frozenset(
    {"find", "get", "search", "list", "check", "calculate", "think", "transfer", "run", "can", "grep", "shell"}
)
_NO_WRITES = ("*transfer_to_human_agent*", "give_discoverable_*", "unlock_discoverable_*", "KB_search*")
_PHASES = (
    (("find_user*", "get_customer*"), AUTH),
    (("run_speed_test", "can_send_mms"), VERIFY),
    (("transfer*", "*_transfer_to_human_agent*"), EXIT),
    (("get_*", "search_*", "list_*", "check_*", "KB_search*", "grep", "shell"), LOOKUP),
)


def tool_of(name: str, arguments: Any) -> str:
    """Return the tool that is called: the one behind the call where that only hands a name on, as in banking."""
    if name == DISCOVERED and isinstance(arguments, Mapping):
        inner = arguments.get(_DISCOVERED_NAME)
        if isinstance(inner, str) and inner:
            return inner
    return name


@lru_cache(maxsize=4096)
def writes(tool: str, kind: str | None = None) -> bool:
    """Return whether a tool changes something: by the kind that a check gives it, else by its name."""
    if kind is not None:
        return kind == WRITE
    return first_word(tool) not in _READING_WORDS and not any(fnmatchcase(tool, pattern) for pattern in _NO_WRITES)


def told_changes(tool: str, kind: str | None) -> bool | None:
    """Return whether a tool changes something, by its kind, or since the benchmark is known to have it read only."""
    return writes(tool, kind) if kind is not None or not writes(tool) else None


@lru_cache(maxsize=4096)
def phase_of(tool: str, kind: str | None = None) -> str:
    """Return the phase of a call that a tool belongs to."""
    for patterns, phase in _PHASES:
        if any(fnmatchcase(tool, pattern) for pattern in patterns):
            return phase
    return ACTION if writes(tool, kind) else OTHER


def first_word(tool: str) -> str:
    """Return the name of a tool up to its first underscore."""
    return tool.partition("_")[0]


# Walk through the ticks of a voice call: turns, lanes, and how its sides shared the line.
ASSUMED = "tick duration assumed"
_ASSUMED = f"{ASSUMED}: {TICK_SECONDS} s, the run does not contain it"
_CASCADES = frozenset({"livekit"})
"""Providers that chain speech to text, a model and text to speech."""


class _Said(NamedTuple):
    """Keep what was said without a pause of its own, in positions of ticks; `opens` the agent's part of its turn."""

    start: int
    end: int
    role: str
    turn: int
    text: str
    opens: bool = False


def walk_ticks(simulation: Simulation, run: Run, walked: Walked) -> None:
    """Collect the ticks of a call: what was said and called in order, its lanes, and the sums of its interaction."""
    given = read_ticks(simulation.ticks, walked.defects)
    if not given:
        return
    seconds = tick_seconds(run.tick)
    if seconds is None:
        walked.defects[ASSUMED] = 1
    ticks = without_stop_signal(given)
    heard = spoken_ticks(ticks, seconds or TICK_SECONDS)
    turns, events = turns_of(heard), events_of(heard)
    walk = _Walk(walked, heard, turns)
    walk.take(given)  # what was called in the tick of the signal to hang up was called
    walked.last_words = next((tick.user_chunk.content for tick in reversed(given) if tick.user_chunk), None)
    walked.has_caller = bool(heard.caller)
    walked.duration_s = len(given) * heard.seconds
    walked.interaction = interaction_of(events, len(agent_interruptions(heard)))
    walked.voice = Voice(
        pipeline="cascade" if run.provider in _CASCADES else "s2s",
        ended=simulation.termination_reason,
        caller=_spans(heard, turns, "caller"),
        agent=_spans(heard, turns, "agent"),
        turns=[_turn(turn, heard, ticks) for turn in turns],
        trace=walk.trace,
        warnings=[] if seconds else [_ASSUMED],
        marks=marks_of(ticks, heard, turns, events, simulation.effect_timeline),
        conditions=conditions_of(simulation.speech_environment),
        unanswered=longest_unanswered(given),
    )


class _Walk:
    """Go through a call tick by tick: in each, words come before tools, the caller before the agent."""

    def __init__(self, walked: Walked, heard: SpokenTicks, turns: Sequence[SpokenTurn]) -> None:
        self.trace: list[TraceEntry] = []
        self._walked = walked
        self._heard = heard
        self._latencies = {turn.number: turn.latency(heard) for turn in turns}
        self._begins = {turn.start: turn.number for turn in turns}
        self._said: dict[int, list[_Said]] = {}
        for said in sorted(_all_said(turns), key=lambda each: each.role == "agent"):
            self._said.setdefault(said.start, []).append(said)
        self._turn = 0

    def take(self, ticks: Sequence[Tick]) -> None:
        self._walked.states.begin(0.0)
        self._greeting(ticks[0])
        for at, tick in enumerate(ticks):
            self._turn = self._begins.get(at, self._turn)
            for said in self._said.get(at, ()):
                self._say(said)
            if tick.user_tool_calls or tick.agent_tool_calls:
                self._tools(tick, at)

    def _greeting(self, tick: Tick) -> None:
        """Show what the agent greets with: a text without a sound (T4.3)."""
        if tick.agent_chunk is not None and not tick.agent_speaks and (text := spoken(tick.agent_chunk.content)):
            self._say(_Said(0, 1, "agent", 0, text))

    def _say(self, said: _Said) -> None:
        t = said.start * self._heard.seconds
        latency = self._latencies.get(said.turn) if said.opens else None
        self._walked.states.say(said.role, said.text, t, latency * 1000 if latency else latency, is_turn=said.opens)
        self._walked.spoken.append(Spoken(said.start, said.end, said.role))
        role = "assistant" if said.role == "agent" else "user"
        self.trace.append(TraceEntry("transcribed", said.turn, t, role, said.text))

    def _tools(self, tick: Tick, at: int) -> None:
        t, answered = at * self._heard.seconds, (at + 1) * self._heard.seconds
        for role, calls, results in (
            ("user", tick.user_tool_calls, tick.user_tool_results),
            ("assistant", tick.agent_tool_calls, tick.agent_tool_results),
        ):
            for call, answer in zip(calls or (), answers_to(calls or (), results or ()), strict=True):
                self._walked.call(call, answer, role, t)
                if not call.name:
                    continue
                called = self._walked.states.tool_calls[-1]
                self.trace.append(TraceEntry("tool_call", self._turn, t, tool=called.name, value=called.arguments))
                if answer is not None:
                    said = (answer.content or "")[:LONGEST_RESULT]
                    value = {"error": said or "error"} if answer.error else said
                    self.trace.append(TraceEntry("tool_response", self._turn, answered, tool=called.name, value=value))


def _all_said(turns: Sequence[SpokenTurn]) -> Iterator[_Said]:
    for turn in turns:
        for each in utterances(sorted((*turn.heard, *turn.backchannels), key=lambda stretch: stretch.start)):
            yield _said(each, "caller", turn.number)
        for place, each in enumerate(utterances(turn.agent)):
            yield _said(each, "agent", turn.number, opens=place == 0)


def _said(stretches: Sequence[Stretch], role: str, turn: int, *, opens: bool = False) -> _Said:
    text = spoken("".join(stretch.text for stretch in stretches))
    return _Said(stretches[0].start, stretches[-1].end, role, turn, text, opens)


def _spans(heard: SpokenTicks, turns: Sequence[SpokenTurn], side: str) -> list[Span]:
    found = [
        Span(turn.number, heard.starts(stretch), heard.ends(stretch))
        for turn in turns
        for stretch in (turn.agent if side == "agent" else (*turn.heard, *turn.backchannels))
    ]
    return sorted(found, key=lambda span: span.start)


def _turn(turn: SpokenTurn, heard: SpokenTicks, ticks: Sequence[Tick]) -> VoiceTurn:
    script = script_of(ticks[at].user_chunk for stretch in turn.heard for at in range(stretch.start, stretch.end))
    transcripts = dict.fromkeys(
        text
        for stretch in turn.heard
        for at in range(stretch.start, stretch.end)
        if (text := ticks[at].user_transcript)
    )
    return VoiceTurn(
        turn.number,
        caller_meant=spoken(script) or None,
        caller_heard=" ".join(transcripts) or None,
        agent_heard=_joined(turn.agent) or None,
        latency=turn.latency(heard),
        agent_interrupted=turn.agent_interrupted,
        caller_interrupted=turn.caller_interrupted,
    )


def _joined(stretches: Sequence[Stretch]) -> str:
    return " ".join(filter(None, (spoken("".join(each.text for each in said)) for said in utterances(stretches))))
