from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import (
    ASCII,
    UNICODE,
    Column,
    ColumnKind,
    Row,
    answered_text,
    cell_text,
    fixed,
    in_ascii,
    interval_text,
    is_right,
    percent,
    points_text,
    utc,
    value_text,
)


def shown(column: Column, value: Any, *, thin: bool = False, ascii_only: bool = False) -> str:
    return cell_text(column, Row("id", {column.key: value}, thin=thin), ASCII if ascii_only else UNICODE)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.25, 1, "0.3"),
        (0.35, 1, "0.4"),
        (0.45, 1, "0.5"),
        (2.675, 2, "2.68"),
        (1.005, 2, "1.01"),
        (0.3499999999999, 1, "0.4"),
        (0.3499999, 1, "0.3"),
        (0.1 + 0.2, 1, "0.3"),
        (-0.05, 1, "-0.1"),
        (-0.04, 1, "0.0"),
        (-0.0, 1, "0.0"),
        (12, 1, "12.0"),
        (5e-324, 1, "0.0"),
        (1e22, 1, "1e+22"),
        (123456789.05, 1, "123456789.1"),
        (2.5, 0, "3"),
    ],
)
def test_numbers_are_rounded_half_up_as_they_are_written(value: float, decimals: int, text: str) -> None:
    assert fixed(value, decimals) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1.0"), (0.0, "0.0"), (0.22, "0.22"), (0.3, "0.3"), (0.333, "0.33"), (0.999, "1.0"), (10, "10.0")],
)
def test_a_trimmed_number_has_two_decimals_at_most_and_one_at_least(value: float, text: str) -> None:
    assert fixed(value, 2, trim=True) == text


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_what_was_not_measured_is_a_dot_and_never_zero(value: float | None) -> None:
    assert fixed(value) == "·"
    assert shown(Column("a", "A"), value) == "·"
    assert shown(Column("a", "A"), value, ascii_only=True) == "-"


@given(st.decimals(-10_000, 10_000, places=4), st.integers(0, 3))
def test_a_sum_in_another_order_reads_the_same(value: Decimal, decimals: int) -> None:
    number = float(value)
    for noisy in (math.nextafter(number, math.inf), math.nextafter(number, -math.inf)):
        assert fixed(noisy, decimals) == fixed(number, decimals)
    assert abs(Decimal(fixed(number, decimals)) - value) * 2 <= Decimal(1).scaleb(-decimals)


@given(st.floats(-1e6, 1e6))
def test_a_number_and_its_negative_mirror_each_other(value: float) -> None:
    assert fixed(-value).lstrip("-") == fixed(value).lstrip("-")


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (0.004, "<1%"), (0.005, "1%"), (0.495, "50%"), (0.999, ">99%"), (1, "100%"), (None, "·")],
)
def test_shares_never_say_none_or_all_by_rounding(share: float | None, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_735_689_600_000_000, "2025-01-01T00:00:00Z"),
        (1_735_689_600_500_000, "2025-01-01T00:00:00.500000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (10**30, "1" + "0" * 30),
    ],
)
def test_times_are_utc(microseconds: int, text: str) -> None:
    assert utc(microseconds) == text


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("name", "triage", "triage"),
        ("name", None, "·"),
        ("name", "", ""),
        ("name", 3, "3"),
        ("text", "two\nlines", "two⏎lines"),
        ("number", 7.94, "7.9"),
        ("number", "n/a", "n/a"),
        ("count", 11, "11"),
        ("count", 11.0, "11"),
        ("flag", True, "yes"),
        ("flag", False, "no"),
        ("flag", 0, "no"),
        ("flag", None, "·"),
        ("time", 0, "1970-01-01T00:00:00Z"),
        ("time", "2025-01-01", "2025-01-01"),
        ("object", {"b": 1, "a": 3, "c": 1}, "a 3, b 1, c 1"),
        ("object", {"10": 0.5, "2": 0.75, "1": 0.1}, "1 0.1, 2 0.8, 10 0.5"),
        ("object", {"codex": 1.05, "gemini": None}, "codex 1.1, gemini ·"),
        ("object", {}, ""),
        ("object", ["stall 0.3", "escal 0.4"], "stall 0.3, escal 0.4"),
        ("object", [{"a": 1}], '{"a": 1}'),
        ("object", {"evil\x1b[2J": 1}, "evil␛[2J 1"),
    ],
)
def test_each_kind_of_column_reads_in_its_own_way(kind: ColumnKind, value: Any, text: str) -> None:
    assert shown(Column("a", "A", kind=kind), value) == text


def test_the_count_of_a_thin_row_carries_its_mark() -> None:
    column = Column("n", "n", kind="count", thin=True)
    assert shown(column, 2, thin=True) == "2~"
    assert shown(column, 9) == "9"
    assert shown(Column("other", "o", kind="count"), 2, thin=True) == "2"
    assert shown(column, None, thin=True) == "·"


def test_a_row_may_say_how_a_cell_reads_and_is_not_trusted_either() -> None:
    row = Row("id", {"worst": "status"}, display={"worst": "status\x1b (stall 1.0)"})
    assert cell_text(Column("worst", "W", kind="text"), row) == "status␛ (stall 1.0)"


def test_an_interval_below_zero_has_no_dash_beside_a_minus() -> None:
    assert interval_text([0.12, 0.45], 2) == "0.12–0.45"
    assert interval_text([-2.13, -2.09], 2) == "-2.13 to -2.09"
    assert interval_text([-0.5, 0.1]) == "-0.5 to 0.1"


def test_a_judge_is_found_inside_the_object_of_judges() -> None:
    column = Column("hum:codex", "hum:codex", path=("humanness", "codex"))
    assert cell_text(column, Row("id", {"humanness": {"codex": 1.05}})) == "1.1"
    assert cell_text(column, Row("id", {"humanness": {}})) == "·"
    assert cell_text(column, Row("id", {})) == "·"


def test_ascii_spells_out_what_it_cannot_show() -> None:
    assert in_ascii("flow → state × agent · café") == "flow -> state x agent - caf\\xe9"
    assert shown(Column("a", "A", kind="name"), "日", ascii_only=True) == "\\u65e5"


def test_numbers_stand_right_and_words_left() -> None:
    right: tuple[ColumnKind, ...] = ("number", "count")
    left: tuple[ColumnKind, ...] = ("name", "text", "flag", "time", "object")
    assert all(is_right(Column("a", "A", kind=kind)) for kind in right)
    assert not any(is_right(Column("a", "A", kind=kind)) for kind in left)


def test_bars_show_the_smallest_share_and_never_overflow() -> None:
    assert UNICODE.bar(0.0, 4) == "    "
    assert UNICODE.bar(0.001, 4) == "▏   "
    assert UNICODE.bar(0.5, 4) == "██  "
    assert UNICODE.bar(7.0, 4) == "████"
    assert ASCII.bar(0.5, 4) == "##.."


def test_a_sparkline_has_a_gap_where_nothing_was_measured() -> None:
    assert UNICODE.sparkline([0.0, None, 5.0, 10.0]) == "▁·▅█"
    # A line is a level there.
    assert ASCII.sparkline([0.0, None, 5.0, 10.0]) == "_ -^"


def test_shares_are_percent_on_a_screen_and_stay_as_they_are_where_they_are_posted() -> None:
    share = Column("stall", "stall", unit="share", decimals=2, trim=True)
    rows = [Row("a", {"stall": value}) for value in (0.0, 0.004, 0.5, 1 / 3, 1.0)]
    assert [cell_text(share, row) for row in rows] == ["0%", "<1%", "50%", "33%", "100%"]
    assert [cell_text(share, row, posted=True) for row in rows] == ["0.0", "0.0", "0.5", "0.33", "1.0"]


def test_points_stand_below_each_other_on_a_screen() -> None:
    revisit = Column("revisit", "revisit", unit="entries", decimals=2, trim=True)
    rows = [Row("a", {"revisit": value}) for value in (0.0, 0.05, 1.5)]
    assert [cell_text(revisit, row) for row in rows] == ["0.00", "0.05", "1.50"]
    assert [cell_text(revisit, row, posted=True) for row in rows] == ["0.0", "0.05", "1.5"]


def test_an_answer_that_came_before_the_other_had_ended_is_early() -> None:
    assert [answered_text(seconds) for seconds in (1.26, 0.0, -0.04, -21.3)] == [
        "1.3 s",
        "0.0 s",
        "0.0 s",
        "21.3 s early",
    ]


def test_differences_of_shares_are_points_and_a_p_value_is_never_nothing() -> None:
    assert [points_text(share) for share in (0.203, -0.004, 0.0)] == ["+20.3 pp", "-0.4 pp", "0.0 pp"]
    assert value_text(Column("p", "p", decimals=1), 0.0) == "<0.001"
    assert value_text(Column("p_adjusted", "p adj."), 0.0456) == "0.046"
