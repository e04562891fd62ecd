"""Tell how the two sides of a voice call shared the line, event by event (tau3-bench's panel, version 1.0).

What looks accidental in some rules is the benchmark's own, and kept: figures have to be its figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from riff_ingest.facts import LONGEST_RESULT
from riff_ingest.sources.tau.judges import Spoken, spoken
from riff_ingest.sources.tau.marks import SpokenTurn, conditions_of, marks_of, turns_of, utterances
from riff_ingest.sources.tau.records import Run, Simulation
from riff_ingest.sources.tau.ticks import (
    TICK_SECONDS,
    LoneInsert,
    SpokenTicks,
    Stretch,
    Tick,
    read_ticks,
    runs,
    script_of,
    spoken_ticks,
    tick_seconds,
    without_stop_signal,
)
from riff_ingest.sources.tau.walk import Walked, answers_to
from riff_store.interaction import Interaction
from riff_store.voice import BACKCHANNEL, NON_DIRECTED, VOCAL_TIC, Span, TraceEntry, Voice, VoiceTurn

RESPONSE, NO_RESPONSE = "response", "no_response"
YIELD, NO_YIELD = "yield", "no_yield"

YIELD_WINDOWS = {YIELD: 2.0, BACKCHANNEL: 1.0, VOCAL_TIC: 1.0, NON_DIRECTED: 1.0}
"""Seconds in which an agent that falls silent gave way."""
RESPONSE_WINDOW = 2.0
"""Seconds in which an agent that begins to speak answered a tic or a word to others."""
UNRESPONSIVE = 3
"""So many unanswered turns in a row are a period without response."""


class InteractionEvent(msgspec.Struct, frozen=True, gc=False):
    """Describe one event: `t` and `latency` in seconds, `tick` its position, `sound` that of the caller's first sound.

    `kind` is `response`, `yield`, `backchannel`, `vocal_tic` or `non_directed`; `error` tells that the agent did wrong.
    """

    kind: str
    error: bool
    sound: int
    tick: int
    t: float
    latency: float | None = None

    @property
    def name(self) -> str:
        """Return the event's name in the benchmark."""
        if self.kind in (RESPONSE, YIELD):
            return f"no_{self.kind}" if self.error else self.kind
        return f"{self.kind}_{'error' if self.error else 'correct'}"


class Responsiveness(msgspec.Struct, frozen=True, gc=False):
    """Count the runs of ticks in which each side spoke, and the longest row of the caller's without an answer."""

    caller_runs: int
    agent_runs: int
    longest_unanswered: int

    @property
    def unresponsive(self) -> bool:
        """Tell whether the agent did not answer for a while."""
        return self.longest_unanswered >= UNRESPONSIVE


def events_of(ticks: SpokenTicks) -> list[InteractionEvent]:
    """Return the events of a call in the order of time (T8.1 to T8.5, T8.7, T8.8)."""
    found = [*_responses(ticks), *_over_the_agent(ticks), *_in_silence(ticks), *_lone_inserts(ticks)]
    return sorted(found, key=lambda event: event.t)


def agent_interruptions(ticks: SpokenTicks) -> list[Stretch]:
    """Return the agent's stretches that begin while the caller speaks, were it only a backchannel (T8.6)."""
    return [stretch for stretch in ticks.agent if stretch.over]


def interaction_of(events: Iterable[InteractionEvent], interruptions: int) -> Interaction:
    """Return the sums over the events of one call, and how often the agent broke in."""
    counts: Counter[str] = Counter()
    latencies = {RESPONSE: 0.0, YIELD: 0.0}
    for event in events:
        counts[event.name] += 1
        if event.latency is not None:
            latencies[event.kind] += event.latency
    return Interaction(
        calls=1,
        response=counts[RESPONSE],
        no_response=counts[NO_RESPONSE],
        response_latency=latencies[RESPONSE],
        yielded=counts[YIELD],
        no_yield=counts[NO_YIELD],
        yield_latency=latencies[YIELD],
        agent_interruptions=interruptions,
        **{
            name: counts[name]
            for kind in (BACKCHANNEL, VOCAL_TIC, NON_DIRECTED)
            for name in (f"{kind}_correct", f"{kind}_error")
        },
    )


def over_kind(stretch: Stretch) -> str:
    """Return what a caller's stretch over the agent is: the first of the kinds that holds (T8.4)."""
    if stretch.backchannel:
        return BACKCHANNEL
    if stretch.tic:
        return VOCAL_TIC
    return NON_DIRECTED if stretch.non_directed else YIELD


def responsiveness(ticks: Sequence[Tick]) -> Responsiveness:
    """Return how the agent answered run by run, over all ticks, the signal to hang up too (T8.9)."""
    caller, agent = (
        list(runs([tick.caller_speaks for tick in ticks])),
        list(runs([tick.agent_speaks for tick in ticks])),
    )
    answered = []
    for place, run in enumerate(caller):
        follows = caller[place + 1].start if place + 1 < len(caller) else len(ticks)
        answered.append(any(each.start < follows and each.stop > run.start for each in agent))
    rows = (sum(1 for _ in row) for is_answered, row in groupby(answered) if not is_answered)
    return Responsiveness(len(caller), len(agent), max(rows, default=0))


def _responses(ticks: SpokenTicks) -> Iterator[InteractionEvent]:
    """Return whether the agent was the next to speak after a turn of the caller (T8.1, T8.2)."""
    turns = [stretch for stretch in ticks.caller if not stretch.backchannel and not stretch.followed]
    for place, turn in enumerate(turns):
        answer = next((each.start for each in ticks.agent if each.start >= turn.end), None)
        again = turns[place + 1].start if place + 1 < len(turns) else None
        ended = ticks.ends(turn)
        if answer is not None and (again is None or answer <= again):
            yield InteractionEvent(RESPONSE, False, turn.start, turn.end, ended, answer * ticks.seconds - ended)
        elif again is not None:
            yield InteractionEvent(RESPONSE, True, turn.start, turn.end, ended)


def _over_the_agent(ticks: SpokenTicks) -> Iterator[InteractionEvent]:
    """Return whether the agent fell silent when the caller made a sound while it spoke (T8.4)."""
    for stretch in ticks.caller:
        if not stretch.over:
            continue
        kind = over_kind(stretch)
        window = _whole(YIELD_WINDOWS[kind], ticks)
        silent = ticks.agent_speaks.find(0, stretch.start, stretch.start + window)
        stopped = silent >= 0
        latency = (silent - stretch.start) * ticks.seconds if stopped and kind == YIELD else None
        wrong = stopped is (kind != YIELD)
        yield InteractionEvent(kind, wrong, stretch.start, stretch.start, ticks.starts(stretch), latency)


def _in_silence(ticks: SpokenTicks) -> Iterator[InteractionEvent]:
    """Return whether the agent answered a turn with a tic or a word to others in it (T8.5)."""
    for stretch in ticks.caller:
        if not stretch.over and (stretch.tic or stretch.non_directed):
            yield _answered(VOCAL_TIC if stretch.tic else NON_DIRECTED, stretch, ticks)


def _lone_inserts(ticks: SpokenTicks) -> Iterator[InteractionEvent]:
    """Return whether the agent stopped for, or answered, a sound while the caller did not speak (T8.7)."""
    for insert in ticks.inserts:
        kind = VOCAL_TIC if insert.tic else NON_DIRECTED
        speaking = next((each for each in ticks.agent if each.start <= insert.start < each.end), None)
        if speaking is None:
            yield _answered(kind, insert, ticks)
        elif (speaking.end - insert.start) * ticks.seconds <= YIELD_WINDOWS[kind]:
            yield InteractionEvent(kind, True, insert.start, insert.start, insert.start * ticks.seconds)


def _answered(kind: str, sound: Stretch | LoneInsert, ticks: SpokenTicks) -> InteractionEvent:
    until = sound.end + _whole(RESPONSE_WINDOW, ticks)
    answer = next((each.start for each in ticks.agent if sound.start <= each.start <= until), None)
    at = sound.start if answer is None else answer
    return InteractionEvent(kind, answer is not None, sound.start, at, at * ticks.seconds)


def _whole(window: float, ticks: SpokenTicks) -> int:
    return int(window / ticks.seconds)


# Walk through the ticks of a voice call: turns, lanes, and how its sides shared the line.
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
