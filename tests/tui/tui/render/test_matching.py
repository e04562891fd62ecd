"""Names found by a few of their letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.hostile import HOSTILE
from tests.surface.explorer import ChoiceList, Fuzzy, FuzzyMatch, MenuItem
from tests.surface.tui import one_line

NAMES = ("apartment_viewing", "dental_clinic", "property_trouble_ticket", "Clinic of Dr. Ämilia", "taxi2airport")


def shown(query: str, names: tuple[str, ...] = NAMES) -> list[str]:
    """What is found, the letters that fit in capitals between brackets."""
    return [
        "".join(f"[{letter}]" if place in found.letters else letter for place, letter in enumerate(names[found.index]))
        for found in Fuzzy(names).find(query)
    ]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("dent", "[d][e][n][t]al_clinic"),
        ("CLIN", "[C][l][i][n]ic of Dr. Ämilia"),
        ("äm", "Clinic of Dr. [Ä][m]ilia"),
        ("ptt", "[p]roperty_[t]rouble_[t]icket"),
        ("av", "[a]partment_[v]iewing"),
        ("cli den", "[d][e][n]tal_[c][l][i]nic"),
        ("air", "taxi2[a][i][r]port"),
        ("ble", "property_trou[b][l][e]_ticket"),
    ],
)
def test_the_best_fit_comes_first_and_its_letters_are_known(query: str, best: str) -> None:
    assert shown(query)[0] == best


def test_a_whole_name_goes_before_a_longer_one_and_a_beginning_before_the_middle() -> None:
    assert Fuzzy(("not_a", "ab", "xa", "a")).find("a")[0].index == 3
    assert [found.index for found in Fuzzy(("my_flow", "myflow_b", "flow_a", "flow", "f_l_o_w")).find("flow")] == [
        3, 2, 0, 1, 4,
    ]  # fmt: skip


def test_what_does_not_fit_is_not_there_and_nothing_typed_keeps_everything_in_order() -> None:
    assert shown("dentist") == []
    assert [found.index for found in Fuzzy(NAMES).find("  ")] == [0, 1, 2, 3, 4]


def test_what_stands_beside_a_name_is_found_as_it_is_written() -> None:
    fuzzy = Fuzzy(("run-1", "run-2"), ("12 calls nightly", "7 calls"))
    assert [found.index for found in fuzzy.find("nightly")] == [0]
    assert fuzzy.find("ngtly") == []
    assert [found.index for found in fuzzy.find("calls run-2")] == [1]


def test_taking_letters_back_finds_again_what_they_had_put_aside() -> None:
    fuzzy = Fuzzy(NAMES)
    assert len(fuzzy.find("dental x")) == 0
    assert len(fuzzy.find("dental")) == 1
    assert len(fuzzy.find("")) == len(NAMES)
    assert len(fuzzy.find("t")) == len(fuzzy.find("T"))


words = st.text("abcAB_- ä9", max_size=12)


@given(st.lists(words, max_size=6), words)
def test_letters_are_those_of_the_words_in_their_order(names: list[str], query: str) -> None:
    fuzzy = Fuzzy(names)
    for found in fuzzy.find(query):
        letters = "".join(names[found.index][place].lower() for place in sorted(found.letters))
        assert all(set(word) <= set(letters) for word in query.lower().split())
    alone = [index for index, name in enumerate(names) if Fuzzy([name]).find(query)]
    assert sorted(found.index for found in fuzzy.find(query)) == alone


@given(words, st.sampled_from(NAMES))
def test_every_letter_in_its_order_is_enough(noise: str, name: str) -> None:
    some = "".join(letter for letter in name if letter in noise and not letter.isspace())
    assert Fuzzy([name]).find(some)


def test_hostile_names_are_looked_through_as_they_are_shown() -> None:
    names = [one_line(text) for text in HOSTILE.values()]
    for query in ("evil", "[/", "img"):
        assert Fuzzy(names).find(query)


def test_one_name_is_found_among_five_thousand() -> None:
    parts = ("apartment", "scheduler", "property", "trouble", "ticket", "dental", "clinic", "plumbing")
    names = [f"{parts[i % 8]}_{parts[i // 8 % 8]}_{parts[i // 64 % 8]}_{i}" for i in range(5_000)]
    found = Fuzzy(names).find("dental plumbing 4989")
    assert [names[each.index] for each in found[:1]] == ["dental_plumbing_dental_4989"]


def test_names_of_a_list_that_have_no_room_are_still_told_apart_and_what_matched_stays_lit() -> None:
    choices = ChoiceList()
    names = ["agent-of-the-whole-family-one", "agent-of-the-whole-family-two"]
    choices.offer([MenuItem(name, "100 calls   77% success") for name in names])
    typed = Fuzzy(names).find("one")[0]
    first, second = (choices._line(FuzzyMatch(at, typed.letters), 40, False) for at in range(2))
    text = "".join(part for part, _ in first)
    assert text != "".join(part for part, _ in second)
    assert "…" in text
    assert "one" in [part for part, style in first if style is not None]
