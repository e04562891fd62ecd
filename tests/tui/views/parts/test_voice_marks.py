"""What was heard beside the words of a call stands with the words it belongs to, or in a row of its own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.golden import assert_golden, printed
from tests.support.hostile import HOSTILE
from tests.support.view_answers import detail
from tests.support.voice_answers import MARKED, document
from tests.surface.store import NOISES, SOUNDS, Mark, Span, TraceEntry, Voice
from tests.surface.tui import Redactor, Row, Table, conversation


def table_of(voice: Voice = MARKED, **options: Any) -> Table:
    return conversation(detail(document(voice)), **options)


def row_of(table: Table, kind: str, detail: str) -> Row:
    return next(row for row in table.rows if row.record["kind"] == kind and detail in (row.record["detail"] or ""))


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("text", [False, True])
def test_a_call_with_marks_is_printed_like_this(format: str, text: bool) -> None:
    name = "marked-with-text" if text else "marked"
    assert_golden(printed(table_of(text=text), format), f"voice/{name}.{'txt' if format == 'text' else format}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I want to return a kettle.", "vocal tic, agent answers"),
        ("mm-hmm", "backchannel, agent goes on"),
        ("From W five,", "caller interrupts, agent yields after 0.6 s"),
        ("I think", "caller yields"),
        ("I have that one here. It was delivered on Mon", "agent interrupts, 1.0 s both · agent is cut off"),
        ("Anything else?", "caller interrupts, agent talks on · no answer"),
    ],
)
def test_a_mark_stands_with_the_words_that_it_began_in(text: str, said: str) -> None:
    (row,) = (row for row in table_of().rows if row.record["text"] == text)
    assert row.record["detail"] == said


def test_what_the_agent_did_wrong_is_marked_and_what_it_did_right_is_not() -> None:
    table = table_of()
    assert row_of(table, "turn", "vocal tic").severity[""] == "bad"
    assert row_of(table, "sound", "words to others, agent stops: Not now.").severity["detail"] == "bad"
    assert row_of(table, "turn", "backchannel").severity == {}
    assert row_of(table, "sound", "vocal tic: [cough]").severity == {}


def test_sounds_the_line_and_silences_have_rows_of_their_own_in_the_order_of_time() -> None:
    rows = [row.record for row in table_of().rows]
    assert [(row["t"], row["detail"]) for row in rows if row["kind"] in ("sound", "line", "silence")] == [
        (14.0, "noise: car_horn.wav"),
        (21.0, "words to others, agent stops: Not now."),
        (29.0, "vocal tic: [cough]"),
        (33.4, "for 6.6 s"),
    ]
    times = [row["t"] for row in rows if row["kind"] != "tool" and row["t"] is not None]
    assert times.index(14.0) < times.index(16.0)


def test_a_sound_that_is_written_three_times_is_named_once() -> None:
    sneeze = Mark("vocal_tic", 1.0, 1.6, "caller", 1, lone=True, text=".[sneeze][sneeze] [sneeze]")
    table = table_of(Voice(caller=[Span(1, 0.0, 4.0)], marks=[sneeze]))
    assert row_of(table, "sound", "vocal tic: [sneeze]").record["t"] == 1.0


def test_damages_of_the_audio_are_counted_and_have_no_rows() -> None:
    drops = [Mark("frame_drop", at, at + 0.5, "caller", 1) for at in (1.0, 2.0, 3.0)]
    table = table_of(Voice(caller=[Span(1, 0.0, 4.0)], marks=[*drops, Mark("muffling", 1.0, 3.0, "caller", 1)]))
    assert not [row for row in table.rows if row.record["kind"] == "line"]
    assert "Line: audio dropped 3×, 1.5 s · caller muffled 1×, 2.0 s" in table.notes


def test_columns_that_no_such_call_has_are_left_out() -> None:
    shown = {column.key for column in table_of().columns if column.shown}
    assert not shown & {"changed", "turn_taking", "reason"}


def test_without_text_no_words_of_anybody_are_told() -> None:
    out = printed(table_of(text=False), "json") + printed(table_of(text=False), "text")
    assert all(word not in out for word in ("Not now", "cough", "car_horn", "kettle"))


def test_the_line_and_a_dead_agent_are_told_at_large() -> None:
    notes = [note for note in table_of().notes if note.startswith(("Voice", "Line"))]
    assert notes == [
        "Voice: s2s · en · ended user_stop · agent interrupted 1× · caller interrupted 2× · "
        "3 turns in a row without an answer",
        "Line: telephony · indoor · background people_talking.wav",
    ]


@given(
    st.lists(
        st.builds(
            Mark,
            st.sampled_from([*SOUNDS, *NOISES, "interruption", "response", "silence", "gave_way", "?"]),
            st.floats(),
            st.floats(),
            st.sampled_from([None, "caller", "agent"]),
            lone=st.booleans(),
            correct=st.none() | st.booleans(),
            seconds=st.none() | st.floats(),
            text=st.none() | st.sampled_from(list(HOSTILE.values())),
        ),
        max_size=6,
    )
)
def test_any_marks_can_be_shown_safely(marks: list[Mark]) -> None:
    voice = Voice(caller=[Span(1, 0.0, 2.0)], trace=[TraceEntry("transcribed", 1, 0.0, "user", "Hi")], marks=marks)
    shown = printed(table_of(voice, redact=Redactor()), "text")
    assert "\x1b" not in shown
