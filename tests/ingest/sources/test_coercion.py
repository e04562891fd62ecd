from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import parse_time

TWO_O_CLOCK = 1_782_093_607_000_000


@pytest.mark.parametrize(
    "text",
    [
        "2026-06-22T02:00:07Z",
        "2026-06-22t02:00:07z",
        "2026-06-22T02:00:07",
        "2026-06-22 02:00:07",
        "2026-06-22T04:00:07+02:00",
        "2026-06-21T22:30:07.000-03:30",
        "2026-06-22T02:00:07.0000009Z",
    ],
)
def test_one_moment_has_many_spellings(text: str) -> None:
    assert parse_time(text) == TWO_O_CLOCK


def test_a_date_is_its_midnight_and_a_fraction_counts_to_the_microsecond() -> None:
    assert parse_time("1970-01-01") == 0
    assert parse_time("1969-12-31T23:59:59.999999Z") == -1
    assert parse_time("0001-01-01T00:00:00+23:59") is not None
    assert parse_time("9999-12-31T23:59:59-23:59") is not None


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026", "1" * 5000, "20260622T020007", "2026-13-01", "2026-06-22T25:00:00Z", "2026-W26-1",
     "10000-01-01", "2026-06-22T02:00:07+99:00", "2026-06-22T02:00:07\ud800", "२०२६-०६-२२", "2026-06-22\0"],
)  # fmt: skip
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_time(text) is None


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=-30))])))
def test_a_written_time_reads_back_to_the_microsecond(moment: datetime) -> None:
    assert parse_time(moment.isoformat()) == (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@given(st.text() | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9T:+Z. -]{2,20}"))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(parse_time(text), int | None)
