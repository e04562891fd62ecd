"""The turns of a voice call: whose they are, how long the agent took, and who broke in."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import tau_ticks
from tests.surface.ingest import SpokenTicks, SpokenTurn, read_ticks, spoken_ticks, turns_of


def spoken(caller: str, agent: str) -> SpokenTicks:
    return spoken_ticks(read_ticks(json.dumps(tau_ticks.ticks(caller, agent)).encode(), Counter()), 0.5)


def starts(turn: SpokenTurn) -> tuple[int, list[int], list[int]]:
    return turn.number, [each.start for each in turn.heard], [each.start for each in turn.agent]


@pytest.mark.parametrize(
    ("caller", "agent", "expected"),
    [
        ("...cc...cc..", "aa....a....a", [(0, [], [0]), (1, [3], [6]), (2, [8], [11])]),
        ("cc.cc..", ".....aa", [(1, [0, 3], [5])]),
        ("cc...b..c..", "...aaaa...a", [(1, [0], [3]), (2, [8], [10])]),
        ("..cc", "..aa", [(1, [2], [2])]),
        ("b..", ".a.", [(0, [], [1])]),
    ],
)
def test_a_turn_begins_with_the_caller_once_the_agent_has_spoken(
    caller: str, agent: str, expected: list[tuple[int, list[int], list[int]]]
) -> None:
    assert [starts(turn) for turn in turns_of(spoken(caller, agent))] == expected


def test_latency_is_from_the_last_sound_before_the_answer_and_below_zero_where_it_broke_in() -> None:
    ticks = spoken("cc.cc.....cccc", "......a.....a.")
    first, second = turns_of(ticks)
    assert first.latency(ticks) == pytest.approx(0.5)
    assert second.latency(ticks) == pytest.approx(-1.0)
    assert (second.agent_interrupted, second.caller_interrupted) == (True, False)
    assert turns_of(spoken("", "aa"))[0].latency(ticks) is None


def test_a_backchannel_interrupts_nobody() -> None:
    (turn,) = turns_of(spoken("c....b...", "..aaaaaa."))
    assert [each.start for each in turn.backchannels] == [5]
    assert not turn.caller_interrupted


@given(st.text("cbt.", max_size=40), st.text("a.", max_size=40))
def test_every_stretch_is_in_one_turn_and_turns_follow_each_other(caller: str, agent: str) -> None:
    ticks = spoken(caller, agent)
    turns = turns_of(ticks)
    assert sorted(each.start for turn in turns for each in turn.agent) == [each.start for each in ticks.agent]
    both = [each.start for turn in turns for each in (*turn.heard, *turn.backchannels)]
    assert sorted(both) == [each.start for each in ticks.caller]
    numbers = [turn.number for turn in turns]
    assert numbers == sorted(set(numbers))
    assert all(turn.heard for turn in turns if turn.number)
