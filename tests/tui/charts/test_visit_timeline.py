"""The states of a call over time, in as many lines as a screen has."""

from __future__ import annotations

import pytest

from tests.surface.tui import EventMark, VisitSpan, VisitTimeline

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
