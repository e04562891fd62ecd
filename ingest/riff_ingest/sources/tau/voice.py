"""Walk through the ticks of a voice call: turns, lanes, and how its sides shared the line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from riff_ingest.facts import LONGEST_RESULT
from riff_ingest.sources.tau.interaction import agent_interruptions, events_of, interaction_of, responsiveness
from riff_ingest.sources.tau.judges import Spoken, spoken
from riff_ingest.sources.tau.marks import SpokenTurn, conditions_of, marks_of, turns_of, utterances
from riff_ingest.sources.tau.records import Run, Simulation
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
from riff_ingest.sources.tau.walk import Walked, answers_to
from riff_store.voice import Span, TraceEntry, Voice, VoiceTurn

ASSUMED = "tick duration assumed"
_ASSUMED = f"{ASSUMED}: {TICK_SECONDS} s, the run does not say it"
_CASCADES = frozenset({"livekit"})
"""Providers that chain speech to text, a model and text to speech."""


class _Said(NamedTuple):
    """Hold what was said without a pause of its own, in positions of ticks; `opens` the agent's part of its turn."""

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
        unanswered=responsiveness(given).longest_unanswered,
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
