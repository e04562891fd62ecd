"""A transcript comes back from its columns as it was, and damage to them is named."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import (
    Event,
    GuardEvaluated,
    SlotFilled,
    StateEntered,
    StateExited,
    Turn,
    TurnComplete,
    event_columns,
)
from tests.surface.store import EVENTS, is_spelled, read_text, spell

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
SOME = st.none() | TEXT
TIME = st.none() | st.floats(0, 1e6)
ANY = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT | st.lists(TEXT, max_size=3)
TURNS = st.lists(st.builds(Turn, role=TEXT, text=TEXT, t=TIME, state=SOME, latency_ms=TIME), max_size=6)
EVENT = st.one_of(
    st.builds(StateEntered, state=TEXT, t=TIME, segment=SOME),
    st.builds(StateExited, state=TEXT, to_state=SOME, reason=SOME, t=TIME),
    st.builds(TurnComplete, latency_ms=TIME, t=TIME),
    st.builds(GuardEvaluated, guard=TEXT, result=ANY, error=ANY, t=TIME),
    st.builds(SlotFilled, slot=TEXT, value=ANY, state=SOME, t=TIME),
)
OTHERS = st.dictionaries(st.sampled_from(["slots", "errors", "voice"]), ANY)


@given(turns=TURNS, events=st.lists(EVENT, max_size=8), others=OTHERS)
def test_a_transcript_comes_back_as_the_object_that_it_is(
    turns: list[Turn], events: list[Event], others: dict[str, Any]
) -> None:
    whole = {"turns": turns, "events": events} | others
    text = spell(turns, event_columns(events), others)
    assert is_spelled(text)
    assert json.dumps(read_text(text)) == json.dumps(json.loads(msgspec.json.encode(whole)))


def test_the_object_that_older_stores_have_is_read_as_it_is() -> None:
    text = b'{"turns": [{"role": "agent", "text": "Hello"}], "events": []}'
    assert not is_spelled(text)
    assert read_text(text) == json.loads(text)


@pytest.mark.parametrize("kind", [StateEntered, StateExited, TurnComplete, GuardEvaluated, SlotFilled])
def test_every_field_of_an_event_is_kept_in_its_order(kind: type[msgspec.Struct]) -> None:
    [fields] = [fields for name, fields in EVENTS.values() if name == kind.__struct_config__.tag]
    assert fields == kind.__struct_fields__


@pytest.mark.parametrize(
    "text",
    [
        "[]", "3", "[1, 2, 3, 4, 5]", '["n", [], [[], [], [], [], []], {}, [[], [], [], [], []]]',
        '["n", [0], [[], [], [], [], []], {}, [[], [], [], [], []]]',
        '["?", [0], [[], [], [], [], []], {}, [[], [], [], [], []]]',
        '["", [], [[], [], [], [], []], {}, [["agent"], [], [], [], []]]',
        '["", [], [[], [], [], [], []], [], [[], [], [], [], []]]',
        '["", [], {}, {}, null]',
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_are_damage(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_text(text.encode())
