"""Put the stretches of a voice call into turns: the caller's, and what the agent answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from riff_ingest.tau.ticks import SpokenTicks, Stretch


class SpokenTurn(msgspec.Struct, gc=False):
    """Hold the stretches of a turn; turn 0 is what comes before the caller's first (T5.1).

    `heard` are the caller's stretches that ask for an answer, `backchannels` those that do not.
    """

    number: int
    heard: list[Stretch] = []
    backchannels: list[Stretch] = []
    agent: list[Stretch] = []

    @property
    def start(self) -> int:
        """Return the position at which the turn begins."""
        return min(stretch.start for stretch in (*self.heard, *self.backchannels, *self.agent))

    @property
    def agent_interrupted(self) -> bool:
        """Tell whether the agent began to speak while the caller did (T5.3)."""
        return any(stretch.over for stretch in self.agent)

    @property
    def caller_interrupted(self) -> bool:
        """Tell whether the caller began to speak while the agent did, with more than a backchannel (T5.3)."""
        return any(stretch.over for stretch in self.heard)

    def latency(self, ticks: SpokenTicks) -> float | None:
        """Return the seconds from the caller's last sound to the agent's first, below zero where it broke in (T5.2)."""
        if not self.heard or not self.agent:
            return None
        answer = self.agent[0]
        before = [stretch for stretch in self.heard if stretch.start <= answer.start]
        return ticks.starts(answer) - ticks.ends(before[-1]) if before else None


def turns_of(ticks: SpokenTicks) -> list[SpokenTurn]:
    """Return the turns in order, turn 0 first, without such as nobody spoke in (T5.1)."""
    turn = SpokenTurn(0)
    turns = [turn]
    for is_agent, stretch in _in_order(ticks):
        if is_agent:
            turn.agent.append(stretch)
        elif stretch.backchannel:
            turn.backchannels.append(stretch)
        else:
            if turn.agent or turn.number == 0:
                turn = SpokenTurn(turn.number + 1)
                turns.append(turn)
            turn.heard.append(stretch)
    return [each for each in turns if each.heard or each.backchannels or each.agent]


def utterances(stretches: Sequence[Stretch]) -> list[list[Stretch]]:
    """Return the stretches of a side, those together that are of one utterance: its short gaps part no words."""
    found: list[list[Stretch]] = []
    for stretch in stretches:
        if found and stretch.utterances & found[-1][-1].utterances:
            found[-1].append(stretch)
        else:
            found.append([stretch])
    return found


def _in_order(ticks: SpokenTicks) -> Iterator[tuple[bool, Stretch]]:
    sides = [(stretch.start, is_agent, stretch) for is_agent in (False, True) for stretch in _side(ticks, is_agent)]
    for _, is_agent, stretch in sorted(sides, key=lambda side: side[:2]):
        yield is_agent, stretch


def _side(ticks: SpokenTicks, is_agent: bool) -> tuple[Stretch, ...]:
    return ticks.agent if is_agent else ticks.caller
