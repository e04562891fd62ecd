"""What a filter says beside the one state that it names."""

from __future__ import annotations

import pytest

from tests.surface.store import Term
from tests.surface.tui import UsageError, named_state, parse


def test_the_way_through_a_segment_chooses_no_calls() -> None:
    flow, state, rest = named_state(parse("flow=viewing agent=gemini segment=collect state=ask_name"))
    assert (flow, state) == ("viewing", "ask_name")
    assert rest == [Term("agent", "=", "gemini")]


def test_what_else_is_said_of_states_still_chooses_calls() -> None:
    assert named_state(parse("flow=viewing state=ask_name stall=1 !segment=verify"))[2]


@pytest.mark.parametrize("words", ["flow=viewing", "state=ask_name", "flow=viewing state=a state=b", ""])
def test_a_filter_that_names_no_one_state_is_refused_with_an_example(words: str) -> None:
    with pytest.raises(UsageError, match="neighbors needs"):
        named_state(parse(words) if words else None)
