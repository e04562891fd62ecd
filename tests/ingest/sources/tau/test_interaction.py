"""How the two sides of a voice call shared the line: each rule by a call of a few ticks."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import tau_ticks
from tests.surface.ingest import (
    YIELD_WINDOWS,
    SpokenTicks,
    Tick,
    agent_interruptions,
    interaction_of,
    longest_unanswered,
    over_kind,
    read_ticks,
    spoken_ticks,
)
from tests.surface.ingest import interaction_events_of as events_of
from tests.surface.store import KINDS, panel

LINES = st.tuples(st.text("cbtwTW.", max_size=40), st.text("a.", max_size=40))


def read(caller: str, agent: str) -> list[Tick]:
    return read_ticks(json.dumps(tau_ticks.ticks(caller, agent)).encode(), Counter())


def spoken(caller: str, agent: str, seconds: float = 0.2) -> SpokenTicks:
    return spoken_ticks(read(caller, agent), seconds)


def events(caller: str, agent: str, seconds: float = 0.2) -> list[tuple[str, int]]:
    return [(event.name, event.tick) for event in events_of(spoken(caller, agent, seconds))]


@pytest.mark.parametrize(
    ("caller", "agent", "expected"),
    [
        ("ccc......", ".....aaa.", [("response", 3)]),
        ("ccc......", "...aaa...", []),  # at once is no event: the agent speaks in the first tick after the turn
        ("ccc.......", ".aaaa.....", []),  # talked through to its end
        ("cc...cc...", "..........", [("no_response", 2)]),  # the last turn has nothing behind it
        ("cc...cc...", ".....aa...", [("response", 2)]),  # both start at once: an answer to the turn before
        ("cc...cc....", "........a..", [("no_response", 2), ("response", 7)]),
        ("cc..b..cc..", "..........a", [("no_response", 2), ("response", 9)]),  # a backchannel is no turn
    ],
)
def test_a_turn_is_answered_by_the_agent_or_by_the_caller_himself(
    caller: str, agent: str, expected: list[tuple[str, int]]
) -> None:
    assert [event for event in events(caller, agent) if event[0].endswith("response")] == expected


@pytest.mark.parametrize(
    ("caller", "agent", "expected"),
    [
        ("..cccccccccccccc", "aaaaaaaaaaa.....", ("yield", 2)),  # silent in the last tick of the window
        ("..cccccccccccccc", "aaaaaaaaaaaa....", ("no_yield", 2)),
        ("..ccc", "aaaaa", ("no_yield", 2)),  # the call ends while the agent talks on
        ("..bb.....", "aaaaaa...", ("backchannel_error", 2)),
        ("..bb.....", "aaaaaaa..", ("backchannel_correct", 2)),
        ("..tt.....", "aaaaaa...", ("vocal_tic_error", 2)),
        ("..wc.....", "aaaaaaa..", ("non_directed_correct", 2)),
        ("..wt.....", "aaaaaaa..", ("vocal_tic_correct", 2)),  # a tic is told before a word to others
    ],
)
def test_over_the_agent_a_turn_wants_it_silent_and_any_other_sound_wants_it_to_go_on(
    caller: str, agent: str, expected: tuple[str, int]
) -> None:
    assert events(caller, agent)[0] == expected


def test_an_answer_to_a_turn_with_a_cough_in_it_is_an_error() -> None:
    assert ("vocal_tic_error", 4) in events("tt.....", "....aa.")
    assert ("vocal_tic_correct", 0) in events("tt..............", ".............aa.")
    assert ("non_directed_error", 12) in events("ww..............", "............aa..")


@pytest.mark.parametrize(
    ("caller", "agent", "expected"),
    [
        ("..T......", "aaaaaaa..", [("vocal_tic_error", 2)]),
        ("..T......", "aaaaaaaa.", []),  # talking through it is never credited
        ("..T..", "aaaaa", [("vocal_tic_error", 2)]),  # the end of the call counts as a stop
        ("..W......", ".....aa..", [("non_directed_error", 5)]),
        ("..W..............", "..............aa.", [("non_directed_correct", 2)]),
    ],
)
def test_a_lone_sound_asks_for_neither_an_end_nor_an_answer(
    caller: str, agent: str, expected: list[tuple[str, int]]
) -> None:
    assert events(caller, agent) == expected


def test_sides_that_begin_at_once_both_break_in() -> None:
    ticks = spoken("..ccc...", "..a.....")
    assert [each.start for each in agent_interruptions(ticks)] == [2]
    assert events("..ccc...", "..a.....") == [("yield", 2)]


@pytest.mark.parametrize(("seconds", "last"), [(0.2, 10), (0.1, 20), (0.3, 6)])
def test_windows_are_whole_ticks(seconds: float, last: int) -> None:
    caller = "." + "c" * 40
    assert events(caller, "a" * last, seconds)[0][0] == "yield"
    assert events(caller, "a" * (last + 1), seconds)[0][0] == "no_yield"


def test_a_row_of_runs_without_an_answer_is_told_by_its_longest() -> None:
    assert longest_unanswered(read("c.c.c...c.c", "......a....")) == 2
    assert longest_unanswered(read("c.c.c", "")) == 3


@given(LINES, st.sampled_from([0.1, 0.2, 0.3]))
def test_the_sums_are_those_of_the_events(lines: tuple[str, str], seconds: float) -> None:
    ticks = spoken(*lines, seconds)
    found = events_of(ticks)
    assert all(first.t <= second.t for first, second in pairwise(found))
    sums = interaction_of(found, len(agent_interruptions(ticks)))
    names = Counter(event.name for event in found)
    assert sums.response + sums.no_response == sums.response_total == names["response"] + names["no_response"]
    assert sums.yield_total == names["yield"] + names["no_yield"]
    assert sum(sums.total(kind) for kind in KINDS) + sums.response_total + sums.yield_total == len(found)
    latencies = [event.latency for event in found if event.latency is not None]
    assert len(latencies) == sums.response + sums.yielded
    assert all(latency > 0 for latency in latencies)
    assert sums.yield_latency <= sums.yielded * (YIELD_WINDOWS["yield"] - seconds + 1e-9)
    figures = panel(sums)
    assert figures is not None
    assert figures["counts"]["n_simulations"] == 1


@given(LINES)
def test_every_stretch_over_the_agent_is_one_event_of_its_kind(lines: tuple[str, str]) -> None:
    ticks = spoken(*lines)
    over = [stretch for stretch in ticks.caller if stretch.over]
    found = Counter(event.kind for event in events_of(spoken(lines[0].replace("T", ".").replace("W", "."), lines[1])))
    in_silence = [each for each in ticks.caller if not each.over and (each.tic or each.non_directed)]
    kinds = Counter(over_kind(each) for each in over)
    kinds.update("vocal_tic" if each.tic else "non_directed" for each in in_silence)
    assert {kind: count for kind, count in found.items() if kind != "response"} == kinds


@given(LINES)
def test_one_speech_of_the_agent_answers_at_most_one_turn(lines: tuple[str, str]) -> None:
    ticks = spoken(*lines)
    answered = [event for event in events_of(ticks) if event.name == "response"]
    answers = [round((event.t + (event.latency or 0)) / ticks.seconds) for event in answered]
    assert len(set(answers)) == len(answers)
    assert set(answers) <= {stretch.start for stretch in ticks.agent}


@given(LINES)
def test_what_one_side_breaks_into_the_other_was_saying(lines: tuple[str, str]) -> None:
    ticks, mirrored = (
        spoken(*lines),
        spoken(
            "".join("c" if sign == "a" else "." for sign in lines[1]),
            "".join("a" if sign in "cbtw" else "." for sign in lines[0]),
        ),
    )
    assert [each.start for each in agent_interruptions(mirrored)] == [each.start for each in ticks.caller if each.over]
