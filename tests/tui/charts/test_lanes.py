"""Two lanes of sound: one sees who broke in, in any width, however odd the spans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.golden import assert_golden
from tests.support.hostile import HOSTILE
from tests.support.voice_answers import MARKED, VOICE
from tests.surface.store import NOISES, SOUNDS, Mark, Span, TraceEntry, Voice, VoiceTurn
from tests.surface.tui import HEARD_S, Lanes, Scale, cell_width, common, latency_severity, shares
from tests.surface.tui import lane_marks_merged as merged


def lanes_of(voice: Voice = VOICE) -> Lanes:
    found = Lanes.of(voice)
    assert found is not None
    return found


def lane(lanes: Lanes, name: str, width: int = 78, *, ascii_only: bool = False) -> str:
    lines = lanes.draw(ascii_only=ascii_only, width=width)
    return next(line for line in lines if line.startswith(name))[7:].ljust(width - 7)


@pytest.mark.parametrize("width", [80, 120])
def test_a_call_looks_like_this(width: int) -> None:
    whole, near = lanes_of(), replace(lanes_of(), window=(12.0, 30.0), at=2)
    drawn = [
        "\n".join(lanes.draw(ascii_only=ascii_only, width=width))
        for lanes in (whole, near)
        for ascii_only in (False, True)
    ]
    assert_golden("\n\n".join(drawn) + "\n", f"voice/lanes.{width}.txt")


@pytest.mark.parametrize("width", [80, 120])
def test_what_was_heard_beside_the_words_looks_like_this(width: int) -> None:
    whole, near = lanes_of(MARKED), replace(lanes_of(MARKED), window=(14.0, 30.0), at=3)
    drawn = [
        "\n".join(lanes.draw(ascii_only=ascii_only, width=width))
        for lanes in (whole, near)
        for ascii_only in (False, True)
    ]
    assert_golden("\n\n".join(drawn) + "\n", f"voice/marked-lanes.{width}.txt")


def test_the_page_of_the_explorer_shows_them_as_they_are() -> None:
    page = (Path(__file__).parents[3] / "docs" / "explorer.md").read_text("utf-8")
    for voice in (VOICE, MARKED):
        assert "\n".join(lanes_of(voice).draw(width=80)) in page


def test_both_at_once_is_another_sign_in_both_lanes_and_says_who_broke_in() -> None:
    for ascii_only, both, arrow in ((False, "▒", "▲"), (True, "X", "^")):
        caller, agent = (lane(lanes_of(), name, ascii_only=ascii_only) for name in ("caller", "agent"))
        assert [at for at, sign in enumerate(caller) if sign == both] == [
            at for at, sign in enumerate(agent) if sign == both
        ]
        between = lane(lanes_of(), "s ", ascii_only=ascii_only)
        assert between.index(arrow) == caller.index(both)
        assert f"{arrow}3.5" in between


def test_a_lane_is_as_high_as_its_cells_are_filled() -> None:
    lanes = lanes_of(Voice(caller=[Span(1, 0.0, 1.0), Span(1, 2.0, 2.5), Span(1, 9.0, 10.0)]))
    assert lane(lanes, "caller", 7 + 30) == "███   █▄                   ███"
    assert lane(lanes, "caller", 7 + 30, ascii_only=True) == "###   ##                   ###"
    assert shares(lanes.caller, Scale(0.0, 10.0, 10)) == [1.0, None, 0.5, *[None] * 6, 1.0]


def test_late_and_early_answers_say_by_how_much_and_how_bad_that_is() -> None:
    between = lane(lanes_of(), "s ", 120)
    assert "!6.0" in between
    assert "△3.2" in between
    early = lanes_of(Voice(caller=[Span(1, 0.0, 4.0)], agent=[Span(1, 3.8, 9.0)]))
    assert "△-0.2" in lane(early, "s ")
    assert "early" in early.draw()[-1]


@pytest.mark.parametrize(
    ("seconds", "with_tool", "severity"),
    [
        (None, False, None),
        (2.7, False, None),
        (2.75, False, "warn"),
        (3.5, False, "bad"),
        (3.9, True, None),
        (4.0, True, "warn"),
        (5.0, True, "bad"),
        (0.0, False, None),
        (-0.1, False, "warn"),
        (-0.5, True, "bad"),
    ],
)
def test_an_answer_is_late_or_early_as_turn_taking_has_it(
    seconds: float | None, with_tool: bool, severity: str | None
) -> None:
    assert latency_severity(seconds, with_tool=with_tool) == severity


def test_a_call_in_which_nobody_was_heard_has_no_lanes() -> None:
    assert Lanes.of(Voice()) is None
    assert Lanes.of(Voice(caller=[Span(1, math.nan, 2.0), Span(1, 0.0, math.inf)])) is None


def test_one_side_alone_is_drawn_beside_an_empty_lane() -> None:
    drawn = lanes_of(Voice(agent=[Span(0, 0.0, 5.0)])).draw()
    assert [line[:6].strip() for line in drawn] == ["", "turn", "caller", "agent"]
    assert drawn[2].strip() == "caller"


def test_tools_have_letters_of_their_own_that_the_last_line_explains() -> None:
    names = ["get_seat", "get_slot", "grant", "gs", "gs"]
    lanes = lanes_of(
        Voice(
            agent=[Span(1, 0.0, 60.0)],
            trace=[TraceEntry("tool_call", 1, 10.0 * place, tool=name) for place, name in enumerate(names)],
        )
    )
    letters = lane(lanes, "tools").split()
    assert letters == ["g", "s", "r", "a", "a"]
    assert all(f"{letter} {name}" in lanes.draw()[-1] for letter, name in zip(letters, names, strict=True))


def test_a_tool_without_a_time_stands_where_its_turn_begins() -> None:
    lanes = lanes_of(Voice(caller=[Span(1, 5.0, 9.0)], trace=[TraceEntry("tool_call", 1, None, tool="find")]))
    assert [tool.t for tool in lanes.tools] == [5.0]


def test_a_window_shows_its_part_as_near_as_it_says_and_where_more_is() -> None:
    near = replace(lanes_of(), window=(15.0, 30.0), at=2).draw(width=80)
    assert near[0].startswith("<x4>")
    assert "2─" in near[1]
    assert len(near) == len(lanes_of().draw(width=80))
    assert replace(lanes_of(), window=(-5.0, 15.0)).draw()[0].startswith(" x4>")


@pytest.mark.parametrize("window", [(5.0, 5.0), (9.0, 2.0), (math.nan, 3.0), (90.0, 95.0)])
def test_a_window_that_shows_nothing_shows_all(window: tuple[float, float]) -> None:
    assert replace(lanes_of(), window=window).draw() == lanes_of().draw()


TIMES = st.floats(allow_nan=True, allow_infinity=True) | st.floats(-5, 300) | st.integers(0, 60).map(float)
SPANS = st.lists(st.builds(Span, st.integers(0, 5), TIMES, TIMES), max_size=12)
NAMES = st.sampled_from([*HOSTILE.values(), "get_slot"])
VOICES = st.builds(
    Voice,
    caller=SPANS,
    agent=SPANS,
    turns=st.lists(
        st.builds(VoiceTurn, st.integers(0, 5), agent_interrupted=st.booleans(), caller_interrupted=st.booleans()),
        max_size=6,
    ),
    trace=st.lists(
        st.builds(TraceEntry, st.just("tool_call"), st.integers(0, 5), st.none() | TIMES, tool=NAMES), max_size=6
    ),
)


@given(
    voice=VOICES,
    width=st.integers(1, 130),
    ascii_only=st.booleans(),
    window=st.none() | st.tuples(TIMES, TIMES),
    at=st.none() | st.integers(0, 6),
)
def test_no_line_is_wider_than_asked_for(
    voice: Voice, width: int, ascii_only: bool, window: tuple[float, float] | None, at: int | None
) -> None:
    found = Lanes.of(voice)
    if found is None:
        return
    found = replace(found, window=window, at=at)
    drawn = found.draw(ascii_only=ascii_only, width=width)
    assert all(cell_width(line) <= width for line in drawn)
    assert len(drawn) <= 7
    assert drawn == found.draw(ascii_only=ascii_only, width=width)
    assert all(not any(ord(sign) < 32 for sign in line) for line in drawn)
    if ascii_only:
        assert all(line.isascii() for line in drawn)


@pytest.mark.parametrize("length", [0.0, 3e-311, 1e-9])
def test_a_part_too_short_to_be_heard_is_drawn_as_none(length: float) -> None:
    found = lanes_of(Voice(agent=[Span(0, 0.0, 4.0)]))
    assert replace(found, window=(1.0, 1.0 + length)).shown == (0.0, 4.0)
    brief = lanes_of(Voice(agent=[Span(0, 0.0, length)]))
    assert brief.shown == (0.0, 1.0)
    assert all(line.isascii() for line in brief.draw(ascii_only=True, width=34))


MOMENTS = st.integers(0, 240).map(lambda quarter: quarter / 4)
ONE_TURN = st.lists(st.tuples(MOMENTS, MOMENTS), min_size=1, max_size=8)


@given(caller=ONE_TURN, agent=ONE_TURN, width=st.integers(40, 130), at=st.integers(0, 7))
def test_a_span_can_be_seen_once_one_is_near_enough(
    caller: Sequence[tuple[float, float]], agent: Sequence[tuple[float, float]], width: int, at: int
) -> None:
    lanes = lanes_of(Voice(caller=[Span(1, *each) for each in caller], agent=[Span(1, *each) for each in agent]))
    for name, spans in (("caller", caller), ("agent", agent)):
        start = spans[at % len(spans)][0]
        near = replace(lanes, window=(start - 0.5, start + 0.5))
        cell = Scale(*near.shown, width - 7).cell(start)
        assert cell is not None
        # A moment at which another span ends stands where that one does, which may be the cell before.
        assert set(lane(near, name, width)[max(0, cell - 1) : cell + 1]) - set(" ·")


@given(caller=ONE_TURN, agent=ONE_TURN, cells=st.integers(1, 200))
def test_cells_of_both_are_those_in_which_spans_meet(
    caller: Sequence[tuple[float, float]], agent: Sequence[tuple[float, float]], cells: int
) -> None:
    lanes = lanes_of(Voice(caller=[Span(1, *each) for each in caller], agent=[Span(1, *each) for each in agent]))
    scale = Scale(0.0, 60.0, cells)
    found = {at for each in common(lanes.caller, lanes.agent) for at in scale.touched(each)}
    heard = [(max(a, c), min(b, d)) for a, b in caller for c, d in agent if min(b, d) - max(a, c) > HEARD_S]
    expected = {
        at
        for at in range(cells)
        for start, end in heard
        # What floats cannot tell lies in no cell.
        if min(end, (at + 1) * scale.seconds) - max(start, at * scale.seconds) > 1e-6
    }
    assert found == expected


@given(intervals=st.lists(st.tuples(MOMENTS, MOMENTS).map(lambda pair: (min(pair), max(pair))), max_size=12))
def test_shares_add_up_to_what_was_filled(intervals: list[tuple[float, float]]) -> None:
    scale = Scale(0.0, 60.0, 37)
    filled = sum(share or 0.0 for share in shares(merged(intervals), scale)) * scale.seconds
    assert filled == pytest.approx(sum(end - start for start, end in merged(intervals)))


def test_thousands_of_spans_are_drawn_at_once() -> None:
    spans = [Span(turn, turn * 0.3, turn * 0.3 + 0.2) for turn in range(5_000)]
    late = [Span(span.turn, span.start + 0.15, span.end) for span in spans]
    lanes = lanes_of(
        Voice(caller=spans, agent=late, turns=[VoiceTurn(turn, agent_interrupted=True) for turn in range(5_000)])
    )
    assert len(lanes.draw(width=120)) == 6
    assert len(lanes.breaks) == 5_000


def test_ticks_stand_at_round_seconds_and_never_touch() -> None:
    for end in (0.3, 1.0, 7.0, 60.0, 344.0, 4_000.0, 1e6, 1e11):
        ticks = Scale(0.0, end, 70).ticks()
        assert ticks[0] == (0, ticks[0][1])
        assert all(later - at > len(label) for (at, label), (later, _) in pairwise(ticks)), end


def test_a_backchannel_is_neither_an_answer_that_came_late_nor_a_way_to_break_in() -> None:
    listening = Voice(
        caller=[Span(1, 0.0, 2.0), Span(1, 9.0, 9.4)],
        agent=[Span(1, 3.0, 12.0)],
        turns=[VoiceTurn(1, latency=1.0)],
        marks=[Mark("backchannel", 9.0, 9.4, "caller", 1, over=True, correct=True)],
    )
    lanes = lanes_of(listening)
    assert (lanes.gaps, lanes.breaks) == ((), ())
    assert lane(lanes, "caller", ascii_only=True).split() == ["############", "ooo"]


def test_who_yielded_and_who_did_not_differ_without_colour() -> None:
    def told(correct: bool) -> str:
        mark = Mark("interruption", 4.0, 6.0, "caller", 2, over=True, correct=correct, seconds=0.6 if correct else None)
        voice = Voice(caller=[Span(2, 4.0, 6.0)], agent=[Span(1, 0.0, 9.0)], marks=[mark])
        return lane(lanes_of(voice), "s ", ascii_only=True).strip()

    assert (told(True), told(False)) == ("v0.6", "v!")


def test_in_a_long_call_a_short_sound_hides_no_words() -> None:
    backchannel = Mark("backchannel", 121.0, 121.5, "caller", 1)
    spans = [Span(1, 100.0, 120.0), Span(1, 121.0, 121.5), Span(1, 300.0, 301.0)]
    alone = lane(lanes_of(Voice(caller=spans[1:], marks=[backchannel])), "caller", ascii_only=True)
    beside = lane(lanes_of(Voice(caller=[Span(1, 118.0, 121.0), *spans[1:]], marks=[backchannel])), "caller")
    assert "o" in alone
    assert "\u25cb" not in beside


def test_a_legend_is_as_long_as_it_has_to_be() -> None:
    mark = Mark("truncated", 0.0, 2.0, "agent", 1)
    drawn = lanes_of(Voice(agent=[Span(1, 0.0, 2.0), Span(1, 3.0, 9.0)], marks=[mark])).draw()
    assert drawn[-1] == "┤ cut short"


def test_a_call_of_nothing_but_marks_is_long_enough_for_them() -> None:
    lanes = lanes_of(Voice(agent=[Span(1, 0.0, 1.0)], marks=[Mark("silence", 1.0, 9.0), Mark("silence", 5.0, 2.0)]))
    assert lanes.extent == (0.0, 9.0)
    assert [mark.end for mark in lanes.marks] == [9.0]


MARKS = st.builds(
    Mark,
    st.sampled_from([*SOUNDS, *NOISES, "interruption", "response", "gave_way", "truncated", "silence", "unheard of"]),
    st.floats(-5, 50) | st.just(math.nan),
    st.floats(-5, 50) | st.just(math.inf),
    st.sampled_from([None, "caller", "agent", "x"]),
    st.none() | st.integers(0, 4),
    lone=st.booleans(),
    over=st.booleans(),
    correct=st.none() | st.booleans(),
    seconds=st.none() | st.floats(),
    text=st.none() | st.sampled_from(list(HOSTILE.values())),
)


@given(st.lists(MARKS, max_size=12), st.integers(1, 130), st.booleans())
@example([Mark("interruption", 0.0, 0.0, seconds=math.inf)], 4, True)
def test_whatever_is_marked_the_lanes_keep_their_width_and_their_lines(
    marks: list[Mark], width: int, ascii_only: bool
) -> None:
    lanes = lanes_of(Voice(caller=[Span(1, 0.0, 4.0)], agent=[Span(1, 5.0, 40.0)], marks=marks))
    whole = lanes.draw(ascii_only=ascii_only, width=width)
    near = replace(lanes, window=(3.0, 9.0), at=1).draw(ascii_only=ascii_only, width=width)
    assert len(whole) == len(near)
    assert all(cell_width(line) <= width for line in (*whole, *near))
    assert not ascii_only or all(line.isascii() for line in (*whole, *near))
