"""Names that have no room are cut where they are alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import NameCut, cell_width, name_cut, one_line, shared_prefix

NAMES = st.lists(st.text(st.sampled_from("ab-_ 日e\u0301"), min_size=1, max_size=14).map(one_line), max_size=6)


def shown(names: list[str], width: int) -> list[str]:
    cut = name_cut(names, width)
    return [cut.text(name) for name in names]


def test_names_that_fit_stay_whole() -> None:
    assert name_cut(["sim-swift", "sim-steady"], 10) == NameCut(10)
    assert shown(["sim-swift", "sim-steady"], 10) == ["sim-swift", "sim-steady"]


def test_what_all_begin_with_is_dropped() -> None:
    names = ["sim-agent-swift", "sim-agent-steady", "sim-agent-thrifty"]
    assert name_cut(names, 8).prefix == "sim-agent-"
    assert shown(names, 8) == ["swift", "steady", "thrifty"]


def test_no_more_is_dropped_than_it_takes() -> None:
    names = ["nightly-2026-06-18", "nightly-2026-06-22"]
    assert shown(names, 10) == ["2026-06-18", "2026-06-22"]
    assert shown(names, 9) == ["06-18", "06-22"]
    assert shown(names, 2) == ["18", "22"]


def test_ids_that_differ_at_the_end_show_their_end() -> None:
    assert shown(["conversation0000017", "conversation0000018"], 9) == ["conv…0017", "conv…0018"]


def test_names_that_differ_in_the_middle_show_it() -> None:
    names = ["book_early_viewing_at_home", "book_later_viewing_at_home"]
    assert shown(names, 10) == ["early…home", "later…home"]
    assert shown(["abcdefXghijklmnop", "abcdefYghijklmnop"], 9) == ["abcdefX…p", "abcdefY…p"]


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["a-b-one", "a-b-two"], "a-b-"),
        (["run/1", "run/12"], "run/"),
        (["dog_grooming", "dog_grooming_late"], "dog_"),
        (["apple", "application"], ""),
        (["a-1", "a-2"], ""),
        (["only-one"], ""),
        (["same-name", "same-name"], ""),
        ([], ""),
    ],
)
def test_a_shared_beginning_is_made_of_whole_words(names: list[str], prefix: str) -> None:
    assert shared_prefix(names) == prefix


@given(NAMES, st.integers(0, 16), st.sampled_from(["…", "~", "..."]))
def test_no_name_is_wider_than_its_column(names: list[str], width: int, ellipsis: str) -> None:
    cut = name_cut(names, width, ellipsis)
    for name in names:
        text = cut.text(name)
        assert cell_width(text) <= width
        assert name.startswith(cut.prefix)
        if cell_width(name) <= width and not cut.prefix:
            assert text == name


LIKE = st.lists(
    st.text(st.sampled_from("abX-_/ 日"), min_size=1, max_size=24).map(one_line), min_size=1, max_size=40, unique=True
)


@given(LIKE, st.integers(6, 24), st.sampled_from(["…", "~"]), st.one_of(st.none(), st.integers(0, 10)))
def test_no_two_names_are_drawn_alike(names: list[str], width: int, ellipsis: str, most: int | None) -> None:
    cut = name_cut(names[: len(names) // 2], width, ellipsis, most)
    prefix = cut.prefix
    texts = {cut.text(name): name for name in names if name.startswith(prefix)}
    assert len(texts) == sum(name.startswith(prefix) for name in names)
    assert all(cell_width(text) <= width for text in texts)
    assert most is None or cell_width(prefix) <= most


def test_names_that_are_alike_wherever_they_are_cut_are_numbered() -> None:
    names = [f"same-beginning-{letters}-same-end" for letters in ("aa", "bb", "cc")]
    assert len(set(shown(["x", *names], 7))) == 4
