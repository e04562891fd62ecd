"""Describe how the two sides of a voice call shared the line, event by event (tau3-bench's panel, version 1.0).

What looks accidental in some rules is the benchmark's own, and kept: figures have to be its figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from riff_ingest.sources.tau.ticks import LoneInsert, SpokenTicks, Stretch, Tick, runs
from riff_store.interaction import Interaction
from riff_store.voice import BACKCHANNEL, NON_DIRECTED, VOCAL_TIC

RESPONSE, NO_RESPONSE = "response", "no_response"
YIELD, NO_YIELD = "yield", "no_yield"

YIELD_WINDOWS = {YIELD: 2.0, BACKCHANNEL: 1.0, VOCAL_TIC: 1.0, NON_DIRECTED: 1.0}
"""Seconds in which an agent that falls silent gave way."""
RESPONSE_WINDOW = 2.0
"""Seconds in which an agent that begins to speak answered a tic or a word to others."""


class InteractionEvent(msgspec.Struct, frozen=True, gc=False):
    """Describe one event: `t` and `latency` in seconds, `tick` its position, `sound` that of the caller's first sound.

    `kind` is `response`, `yield`, `backchannel`, `vocal_tic` or `non_directed`; `error` shows that the agent did wrong.
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
    """Return what a caller's stretch over the agent is: the first of the kinds that applies (T8.4)."""
    if stretch.backchannel:
        return BACKCHANNEL
    if stretch.tic:
        return VOCAL_TIC
    return NON_DIRECTED if stretch.non_directed else YIELD


def longest_unanswered(ticks: Sequence[Tick]) -> int:
    """Return how many runs of the caller in a row had no answer, at most; all ticks count, the last too (T8.9)."""
    caller = list(runs([tick.caller_speaks for tick in ticks]))
    agent = list(runs([tick.agent_speaks for tick in ticks]))
    answered = []
    for place, run in enumerate(caller):
        follows = caller[place + 1].start if place + 1 < len(caller) else len(ticks)
        answered.append(any(each.start < follows and each.stop > run.start for each in agent))
    rows = (sum(1 for _ in row) for is_answered, row in groupby(answered) if not is_answered)
    return max(rows, default=0)


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
