"""The states of a call over time, in as many lines as a screen has."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import EventMark, VisitSpan, VisitTimeline, cell_width

STATES = ("opening", "lookup", "offer", "book", "farewell")
TIMELINE = VisitTimeline(
    tuple(VisitSpan(state, float(at), float(at + 1), open=False) for at, state in enumerate(STATES)),
    (EventMark("lookup", 1.5, False, "name"),),
)


@pytest.mark.parametrize("height", [None, 8])
def test_a_timeline_that_fits_has_every_state_and_the_legend(height: int | None) -> None:
    lines = TIMELINE.draw(width=60, height=height)
    assert len(lines) == 8
    assert [line.split()[0] for line in lines[1:7] if line[0] != " "] == list(STATES)
    assert lines[-1].endswith("slot filled")


@pytest.mark.parametrize(("height", "shown", "said"), [(7, 4, "1 more state"), (4, 1, "4 more states"), (2, 0, "5 m")])
def test_a_timeline_without_room_says_how_many_states_it_leaves_out(height: int, shown: int, said: str) -> None:
    lines = TIMELINE.draw(width=60, height=height)
    assert len(lines) == height
    assert [line.split()[0] for line in lines[1:-1] if line[:1].strip()] == list(STATES[:shown])
    assert lines[-1].startswith(f"… {said}")


@pytest.mark.parametrize(("height", "shown"), [(6, STATES[2:]), (4, STATES[3:]), (3, STATES[4:])])
def test_the_state_one_looks_at_has_its_bar(height: int, shown: tuple[str, ...]) -> None:
    lines = TIMELINE.draw(width=60, height=height, at="farewell")
    assert len(lines) == height
    assert [line.split()[0] for line in lines[1:-1] if line[:1].strip()] == list(shown)
    assert TIMELINE.draw(width=60, height=height, at="opening") == TIMELINE.draw(width=60, height=height)


def test_a_strip_fills_the_visit_of_a_moment_and_times_it() -> None:
    text = "".join(piece for piece, _ in TIMELINE.strip(width=78, at=1.5))
    assert "█ lookup █" in text
    assert text.endswith("1–2 s of 5 s")
    assert "".join(piece for piece, _ in TIMELINE.strip(width=78, at=1.5, ascii_only=True)).isascii()


def test_the_state_that_is_blamed_is_red_in_the_bars_and_in_the_strip() -> None:
    failed = VisitTimeline(TIMELINE.visits, TIMELINE.marks, blamed="offer")
    assert [text.strip("█ │") for text, tone in failed.strip(width=78) if tone == "bad"] == ["offer"]
    assert [text.split()[0] for ((text, tone),) in failed.lines(width=60) if tone == "bad"] == ["offer"]


@given(
    st.lists(st.floats(0, 300), min_size=2, max_size=60).map(sorted),
    st.lists(st.sampled_from([*STATES, "ein_sehr_langer_name_eines_zustands", "状態"]), min_size=60, max_size=60),
    st.integers(40, 200),
    st.floats(0, 300),
)
def test_a_strip_is_one_line_of_the_width_whatever_visits_there_were(
    times: list[float], states: list[str], width: int, at: float
) -> None:
    spans = (VisitSpan(state, *ends, open=False) for state, ends in zip(states, pairwise(times), strict=False))
    timeline = VisitTimeline((*spans, VisitSpan("last", times[-1], times[-1] + 1, open=True)), ())
    assert cell_width("".join(piece for piece, _ in timeline.strip(width=width, at=at))) == width


def test_the_first_letters_of_two_states_are_not_drawn_as_one() -> None:
    names = ("opening", "modify_order_items", "modify_order_address", "closing")
    visits = tuple(VisitSpan(state, at * 10.0, at * 10.0 + 10, open=False) for at, state in enumerate(names))
    text = "".join(piece for piece, _ in VisitTimeline(visits, ()).strip(width=66, at=35.0))
    assert "opening" in text
    assert "modify" not in text
    bars = VisitTimeline(visits, ()).draw(width=34)
    assert len({line.split()[0] for line in bars[1:]}) == len(names)
