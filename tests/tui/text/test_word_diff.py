"""Meant beside heard: words that differ are marked, capitals and commas are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import MOST_WORDS, differing, hunks, length, parts, without_labels


@pytest.mark.parametrize(
    ("meant", "heard", "shown"),
    [
        ("Hello, how can I help?", "hello how can I help", ""),
        ("It is Tuesday", "It is Thursday", "It is [-Tuesday-]{+Thursday+}"),
        ("the fare", "the the fare", "the {+the+} fare"),
        ("Got it. I looked", "I looked", "[-Got it.-] I looked"),
        ("", "anything", "{+anything+}"),
        ("anything", "", "[-anything-]"),
        ("a b c d e f g h", "a b c d e f g i", "… f g [-h-]{+i+}"),
        ("a b c x", "a b c y", "a b c [-x-]{+y+}"),
        ("x a b c d e f y", "z a b c d e f w", "[-x-]{+z+} a b … e f [-y-]{+w+}"),
        ("[assistant interrupts] Got it", "Got it", ""),
        ("one [pause] two", "one too", "one [-two-]{+too+}"),
        ("wait - what", "wait what", ""),
        ("caf\u00e9 STRASSE", "CAF\u00c9 stra\u00dfe", ""),
    ],
)
def test_only_where_words_differ_is_shown(meant: str, heard: str, shown: str) -> None:
    assert hunks(meant, heard) == shown


def test_words_that_differ_are_counted_on_the_longer_side() -> None:
    assert differing("on March twenty fifth please", "on March 25th please") == 2
    assert length("[user interrupts] on March twenty fifth - please") == 5


TEXTS = st.lists(st.sampled_from(["a", "B", "c,", "D.", "-", "[pause]", "e"]), max_size=12).map(" ".join)


@given(meant=TEXTS, heard=TEXTS)
def test_the_parts_hold_both_texts_and_nothing_else(meant: str, heard: str) -> None:
    found = parts(meant, heard)

    def words(*changes: str) -> str:
        said = " ".join(text for change, text in found if change in changes)
        return "".join(letter for letter in said.casefold() if letter.isalnum())

    def letters(text: str) -> str:
        return "".join(letter for letter in without_labels(text).casefold() if letter.isalnum())

    assert words("same", "heard") == letters(heard)
    assert words("same", "meant") == letters(meant)
    assert hunks(meant, meant) == ""


def test_texts_in_which_nearly_nothing_is_the_same_take_no_time() -> None:
    meant = " ".join(str(number) for number in range(MOST_WORDS * 40))
    heard = " ".join(str(number) for number in reversed(range(MOST_WORDS * 40)))
    assert [change for change, _ in parts(meant, heard)] == ["meant", "heard"]
