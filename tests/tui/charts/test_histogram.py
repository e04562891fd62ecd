"""A histogram in text: every count seen, nothing wider than asked for, the same in ASCII."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import Bucket, buckets
from tests.surface.tui import ASCII, LEAST_HEIGHT, UNICODE, bars, edge, sparkline
from tests.surface.tui import histogram_draw as draw

WAITS = [Bucket(0.5, 0.7, 4), Bucket(0.7, 1.0, 31), Bucket(1.0, 1.5, 0), Bucket(1.5, 2.0, 1), Bucket(2.0, None, 16)]


def test_counts_stand_above_the_columns_and_edges_below() -> None:
    assert draw(WAITS) == [
        "   4      31            1      16",
        "        ██████",
        "        ██████               ▄▄▄▄▄▄",
        " ▃▃▃▃▃▃ ██████        ▁▁▁▁▁▁ ██████",
        " 0.5    0.7    1      1.5    2+ s",
    ]


def test_ascii_draws_the_same_columns() -> None:
    assert draw(WAITS, ascii_only=True, height=4) == [
        "   4      31            1      16",
        "        ######",
        " ______ ######        ______ ######",
        " 0.5    0.7    1      1.5    2+ s",
    ]


def test_where_columns_have_no_room_one_line_stands_for_them() -> None:
    assert bars(WAITS, 12) == []
    assert draw(WAITS, width=15) == ["0.5 ▁█ ▁▄ 2+ s"]
    assert sparkline(WAITS, ASCII) == "0.5 _^ _- 2+ s"
    assert sparkline([], UNICODE) == ""
    assert draw([]) == []


def test_edges_read_as_people_write_them() -> None:
    assert [edge(each) for each in (0.0, 0.001, 0.25, 1.0, 1.5, 20.0, 1000.0)] == [
        "0", "0.001", "0.25", "1", "1.5", "20", "1000",
    ]  # fmt: skip


@given(
    st.lists(st.floats(0, 1e4), min_size=1, max_size=200).map(sorted),
    st.integers(1, 130),
    st.integers(1, 9),
    st.booleans(),
)
def test_nothing_is_wider_or_taller_than_asked_for_and_every_count_can_be_seen(
    waits: list[float], width: int, height: int, ascii_only: bool
) -> None:
    found = buckets(waits)
    lines = draw(found, ascii_only=ascii_only, width=width, height=height)
    assert all(len(line) <= min(width, 78) for line in lines)
    placed = bars(found, width)
    if not placed:
        assert len(lines) <= 1
        return
    assert len(lines) == max(LEAST_HEIGHT, height)
    foot = lines[-2].ljust(width)
    for bar in placed:
        assert (foot[bar.start : bar.end].strip() != "") == (bar.bucket.count > 0)
