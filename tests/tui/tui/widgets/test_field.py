"""A line that is being typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.hostile import HOSTILE
from tests.surface.explorer import LONGEST, EditedLine, printable
from tests.surface.tui import one_line


def at(text: str) -> EditedLine:
    """A line whose cursor stands at the |."""
    return EditedLine(text.replace("|", ""), text.index("|"))


def line(typed: EditedLine) -> str:
    return f"{typed.text[: typed.at]}|{typed.text[typed.at :]}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (at("ab|").insert("c"), "abc|"),
        (at("a|b").insert("xy"), "axy|b"),
        (at("|ab").delete(-1), "|ab"),
        (at("ab|").delete(1), "ab|"),
        (at("a|b").delete(-1), "|b"),
        (at("a|b").delete(1), "a|"),
        (at("flow:a stall>0.3|").delete_word(), "flow:a |"),
        (at("flow:a   |b").delete_word(), "|b"),
        (at("|b").delete_word(), "|b"),
        (at("one two| three").delete_to(-1), "| three"),
        (at("one two| three").delete_to(1), "one two|"),
        (at("one two|").to_word(-1), "one |two"),
        (at("one  |two").to_word(-1), "|one  two"),
        (at("|one  two").to_word(1), "one  |two"),
        (at("one two|").to_word(1), "one two|"),
        (at("a|b").move(-9), "|ab"),
        (at("a|b").move(9), "ab|"),
        (at("flow:de|x").replace(0, 7, "flow=dental"), "flow=dental|x"),
    ],
)
def test_editing_keys_do_what_they_do_in_a_shell(before: EditedLine, after: str) -> None:
    assert line(before) == after


def test_a_line_has_an_end() -> None:
    full = EditedLine.of("x" * LONGEST)
    assert full.insert("y") == full
    assert len(at("|").insert("y" * 3 * LONGEST).text) == LONGEST


@given(st.text(max_size=30), st.integers(0, 30), st.integers(-5, 5))
def test_the_cursor_stays_in_the_line(text: str, place: int, letters: int) -> None:
    typed = EditedLine(text, min(place, len(text)))
    for edited in (
        typed.move(letters), typed.delete(letters), typed.to_word(-1), typed.to_word(1), typed.delete_word(),
        typed.delete_to(-1), typed.delete_to(1),
    ):  # fmt: skip
        assert 0 <= edited.at <= len(edited.text)
        assert edited.text in text or typed.text.startswith(edited.text[: edited.at])


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_pasted_is_one_line_that_acts_on_nothing(text: str) -> None:
    pasted = printable(text)
    assert all(one_line(character) == character for character in pasted)
    assert "\n" not in pasted


def test_pasted_lines_become_one() -> None:
    assert printable("flow:a\n\tstall>0.3\n") == "flow:a stall>0.3"
