"""Who spoke when in a voice call of tau3-bench, tick by tick."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import tau_ticks
from tests.surface.ingest import (
    BrokenInput,
    SpokenTicks,
    Tick,
    read_ticks,
    script_of,
    spoken_ticks,
    text_of,
    tick_seconds,
    without_stop_signal,
)

LINES = st.tuples(st.text("cbtwTW.", max_size=40), st.text("a.", max_size=40))


def read(value: Any) -> list[Tick]:
    return read_ticks(json.dumps(value).encode(), Counter())


def spoken(caller: str, agent: str) -> SpokenTicks:
    return spoken_ticks(read(tau_ticks.ticks(caller, agent)), 0.2)


def hung_up(caller: str, *, stop: bool = True) -> list[tuple[int, int]]:
    ticks = without_stop_signal(read(tau_ticks.ticks(caller, "", stop=stop)))
    return [(each.start, each.end) for each in spoken_ticks(ticks).caller]


def said(*chunks: dict[str, Any]) -> list[Tick]:
    return read([{"user_chunk": chunk} for chunk in chunks])


def test_a_stretch_is_an_unbroken_run_of_speech() -> None:
    ticks = spoken("..ccc.c", "aaa..a.")
    assert [(each.start, each.end, each.over, each.followed) for each in ticks.caller] == [
        (2, 5, True, True),
        (6, 7, False, False),
    ]
    assert [(each.start, each.end, each.over, each.followed) for each in ticks.agent] == [
        (0, 3, False, True),
        (5, 6, False, True),
    ]
    assert (ticks.starts(ticks.caller[0]), ticks.ends(ticks.caller[0])) == (0.4, 1.0)


def test_the_signal_to_hang_up_is_no_speech() -> None:
    assert hung_up("cc.") == [(0, 2)]
    assert hung_up(".cc") == [(1, 4)]  # one tick at most is taken off, and only after silence
    assert hung_up("cc.c", stop=False) == [(0, 2)]  # a last word of one tick looks the same
    assert hung_up("") == [(0, 1)]


def test_a_chunk_that_does_not_say_whether_it_is_speech_is_speech_and_one_that_is_not_there_is_silence() -> None:
    ticks = read([{"user_chunk": {"content": "yes"}, "agent_chunk": None}, {"user_chunk": {"contains_speech": None}}])
    assert [(tick.caller_speaks, tick.agent_speaks) for tick in ticks] == [(True, False), (False, False)]


def test_what_the_caller_did_is_told_by_the_first_tick_and_what_was_laid_in_by_any() -> None:
    ticks = spoken("b.ccc.cct.cwt", "")
    assert [(each.backchannel, each.tic, each.non_directed) for each in ticks.caller] == [
        (True, False, False),
        (False, False, False),
        (False, True, False),
        (False, True, True),
    ]


def test_slices_are_joined_as_they_are_but_not_those_of_two_utterances() -> None:
    ticks = said(
        {"content": "Hel", "utterance_ids": ["u1"]},
        {"content": "lo.", "utterance_ids": ["u1"]},
        {"content": None, "utterance_ids": ["u1", "u2"]},
        {"content": "Yes", "utterance_ids": ["u2"]},
        {"content": ".", "utterance_ids": None},
        {"content": "No", "utterance_ids": ["u3"]},
        {"content": ".", "utterance_ids": ["u4"]},
    )
    assert text_of(tick.user_chunk for tick in ticks) == "Hello.Yes.No ."


def test_the_script_tells_what_a_caller_who_gave_way_was_about_to_say() -> None:
    script = "<message uuid='m'><chunk id=0>I moved</chunk><chunk id=1> to <Elm> Street.</chunk></message>"
    ticks = said(
        {"content": "I m", "utterance_ids": ["u1"], "audio_script_gold": script},
        {"content": "ove", "utterance_ids": ["u1"], "audio_script_gold": script},
        {"content": "Thanks", "utterance_ids": ["u2"]},
        {"content": ".", "utterance_ids": ["u2"], "audio_script_gold": ""},
    )
    assert script_of(tick.user_chunk for tick in ticks) == "I moved to <Elm> Street. Thanks."


def test_sounds_while_the_caller_is_silent_last_as_long_as_they_are_the_same() -> None:
    ticks = spoken("TTTWW.WcWT", "")
    assert [(each.start, each.end, each.type) for each in ticks.inserts] == [
        (0, 3, "vocal_tic"),
        (3, 5, "non_directed_phrase"),
        (6, 7, "non_directed_phrase"),
        (8, 9, "non_directed_phrase"),
        (9, 10, "vocal_tic"),
    ]


@pytest.mark.parametrize(
    ("given", "taken"), [(0.2, 0.2), (0.05, 0.05), (None, None), (0, None), (-1.0, None), (float("nan"), None)]
)
def test_a_length_of_a_tick_that_can_be_none_is_not_taken(given: float | None, taken: float | None) -> None:
    assert tick_seconds(given) == taken


@given(LINES)
def test_the_stretches_of_a_side_are_exactly_the_ticks_in_which_it_speaks(lines: tuple[str, str]) -> None:
    ticks = spoken(*lines)
    for stretches, line, signs in ((ticks.caller, lines[0], "cbtw"), (ticks.agent, lines[1], "a")):
        inside = {at for each in stretches for at in range(each.start, each.end)}
        assert inside == {at for at, sign in enumerate(line) if sign in signs}
        assert all(left.end < right.start for left, right in pairwise(stretches))
    lone = {at for each in ticks.inserts for at in range(each.start, each.end)}
    assert lone == {at for at, sign in enumerate(lines[0]) if sign in "TW"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab#", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*Tick.__struct_fields__, "contains_speech", "content", "utterance_ids", "source_effects", "raw_data"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_ticks_with_wrong_parts_keep_their_places(value: Any) -> None:
    defects: Counter[str] = Counter()
    found = read_ticks(json.dumps(value).encode(), defects)
    assert len(found) == (len(value) if isinstance(value, list) else 0)
    assert len(spoken_ticks(found)) == len(found)
    if not isinstance(value, list):
        assert defects


def test_a_wrong_part_of_a_chunk_costs_no_other() -> None:
    defects: Counter[str] = Counter()
    chunk = {"content": "Hi", "utterance_ids": "u1", "raw_data": [1], "contains_speech": True}
    ticks = read_ticks(json.dumps([{"agent_chunk": chunk, "user_chunk": 7}, "x"]).encode(), defects)
    assert spoken_ticks(ticks).agent[0].text == "Hi"
    assert defects == {
        "agent_chunk.utterance_ids of a tick misfits": 1,
        "agent_chunk.raw_data of a tick misfits": 1,
        "user_chunk of a tick misfits": 1,
        "tick is not an object": 1,
    }


@given(LINES, st.integers(0))
def test_a_list_of_ticks_that_is_cut_off_says_so(lines: tuple[str, str], place: int) -> None:
    whole = json.dumps(tau_ticks.ticks(*lines)).encode()
    with pytest.raises(BrokenInput):
        read_ticks(whole[: place % len(whole)], Counter())
