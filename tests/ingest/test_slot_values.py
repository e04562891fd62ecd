"""What was noted of a caller against what the caller had to say: the same in other words is no contradiction."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import contradicts

UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3)
)
words = st.from_regex(r"[a-z]{3,8}", fullmatch=True).filter(lambda word: word not in {"the", "dot", "dash"})


def in_words(number: int) -> str:
    if number < 20:
        return [*UNITS, *TEENS][number]
    if number < 100:
        return TENS[number // 10 - 2] + (f"-{UNITS[number % 10]}" if number % 10 else "")
    scale, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    rest = f" {in_words(number % scale)}" if number % scale else ""
    return f"{in_words(number // scale)} {name}{rest}"


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("two thirty", "2:30"),
        ("half past two", "14:30"),
        ("10 AM", "ten in the morning"),
        ("10:00", "ten o'clock"),
        ("twenty-one", "21"),
        ("five five five", "555"),
        ("five double five oh one two", "555-012"),
        ("+1 (555) 010-2030", "15550102030"),
        ("555 010 2030", "+1 (555) 010-2030"),
        ("twenty twenty-five", "2025"),
        ("eighteen forty", 1840),
        ("$12,500.00", 12500),
        ("0802", 802),
        ("the third of March", "3 March"),
        ("March 3rd", "3 March"),
        ("2026-03-05", "the fifth of March"),
        ("2026-03-05", "March 5, 2026"),
        ("2026-03-05T00:00:00Z", "5 March"),
        ("2026-03-05", "03/05/2026"),
        ("2026-03-05", "next Thursday"),
        ("maya dot ortiz at mail dot example", "Maya.Ortiz@mail.example"),
        ("M-A-Y-A", "maya"),
        ("Zoe Park", "Zoë Park"),
        ("Maya", "Maya Ortiz"),
        ("yes", True),
        ("No.", False),
        (1, True),
        ("a studio", 0),
        ("no gate", ""),
        (["rye", "Oats"], ["oats", "rye"]),
        ("Tom and Maya", ["Maya", "Tom"]),
        ("the dog will be in her crate", {"value": "dog in crate", "say": "the dog will be in her crate"}),
        ({"day": "Tuesday", "seats": 2}, {"day": "tuesday"}),
        (None, "anything"),
    ],
)
def test_the_same_in_other_words_contradicts_nothing(said: Any, fact: Any) -> None:
    assert not contradicts(said, fact)
    assert not contradicts(fact, said)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("2:30", "2:40"),
        ("10 am", "10 pm"),
        ("twenty-one", "12"),
        ("5550102", "5550103"),
        ("555010", "5550102"),
        ("five one", "one five"),
        ("555 010 2031", "+1 555 010 2030"),
        ("three", 2),
        (3, 2),
        ("0802", "802"),
        ("12 Main Street", "112 Main Street"),
        ("Maya Ortiz", "Maya Reyes"),
        ("Thursday", "Friday"),
        ("4 March", "3 March"),
        ("2026-03-05", "the sixth of March"),
        ("2026-03-05", "5 April"),
        ("2026-03-05", "2026-03-06"),
        ("2026-03-05", "March 5, 2025"),
        ("yes", False),
        (["rye"], ["rye", "oats"]),
        ("Tom", ["Maya", "Tom"]),
        ("cat", {"value": "dog in crate", "say": "the dog will be in her crate"}),
        ({"day": "Friday", "seats": 2}, {"day": "tuesday"}),
    ],
)
def test_another_value_is_a_contradiction(said: Any, fact: Any) -> None:
    assert contradicts(said, fact)


@given(values, values)
def test_nothing_contradicts_itself_and_sides_do_not_matter(one: Any, other: Any) -> None:
    assert not contradicts(one, one)
    assert contradicts(one, other) == contradicts(other, one)


@given(st.integers(0, 999_999))
def test_a_number_may_be_spelled_out(number: int) -> None:
    spelled = in_words(number)
    for fact in (number, str(number), f"{number:,}", spelled.upper()):
        assert not contradicts(spelled, fact)
        assert contradicts(spelled, number + 1)
    assert contradicts(spelled, str(number + 1))


@given(st.from_regex(r"[1-9][0-9]{3,11}", fullmatch=True), st.data())
def test_a_number_of_digits_is_the_same_however_it_is_parted_and_another_with_one_digit_changed(
    digits: str, data: st.DataObject
) -> None:
    signs = data.draw(st.lists(st.sampled_from(["", " ", "-", ") "]), min_size=len(digits), max_size=len(digits)))
    assert not contradicts("".join(map("".join, zip(digits, signs, strict=True))), digits)
    assert not contradicts(" ".join(UNITS[int(digit)] for digit in digits), digits)
    place = data.draw(st.integers(0, len(digits) - 1))
    other = str((int(digits[place]) + data.draw(st.integers(1, 9))) % 10)
    assert contradicts(digits[:place] + other + digits[place + 1 :], digits)


@given(st.lists(words, min_size=1, max_size=4), st.sampled_from([" ", ", ", "  ", "-", " / "]))
def test_case_blanks_and_punctuation_do_not_count(said: list[str], sign: str) -> None:
    assert not contradicts(sign.join(said).upper() + ".", " ".join(said))


@given(st.lists(st.integers(0, 9), max_size=5))
def test_lists_have_no_order_and_every_element_counts(given: list[int]) -> None:
    assert not contradicts(given[::-1], given)
    assert contradicts([*given, 10], given)
