"""A terminal shows what decides first, and is told in a sentence what it cannot show."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from tests.support import sample_tables
from tests.support.golden import printed
from tests.surface.tui import Column, Row, Table

NAME, OTHER = Column("name", "Name", kind="name"), Column("other", "Other", kind="name")
N = Column("n", "n", kind="count", thin=True)
WIDE = [Column(f"wide{number}", f"a wide title {number}") for number in range(3)]
SCORE = Column("score", "score", unit="0-10", strong=True)


def table_of(columns: list[Column], *records: Mapping[str, object], **changes: object) -> Table:
    rows = [Row(str(place), record) for place, record in enumerate(records)]
    return Table("v", "", columns, rows)._replace(**changes)  # type: ignore[arg-type]


def lines(table: Table, width: int | None) -> list[str]:
    return printed(table, "text", width=width).splitlines()


def header(table: Table, width: int | None) -> list[str]:
    return lines(table, width)[0].split()


@given(st.integers(30, 200))
def test_no_terminal_loses_how_many_calls_stand_behind_a_row(width: int) -> None:
    for make in (sample_tables.flows, sample_tables.states, sample_tables.segments):
        assert "n" in printed(make(), "text", width=width).split()


def test_columns_keep_their_order_where_all_of_them_fit() -> None:
    table = table_of([NAME, *WIDE, N, SCORE], {"name": "a", "n": 7, "score": 1.0, "wide0": 1, "wide1": 1, "wide2": 1})
    assert lines(table, 200) == lines(table, None)


def test_what_decides_comes_first_where_something_has_no_room() -> None:
    record = {"name": "a", "n": 7, "score": 1.0, "wide0": 1, "wide1": 1, "wide2": 1}
    assert header(table_of([NAME, *WIDE, N, SCORE], record), 30)[:3] == ["Name", "n", "score"]
    marked = Table("v", "", [NAME, *WIDE, N], [Row("0", record, severity={"wide2": "bad"})])
    assert lines(marked, 30)[0].split("  ")[-1] == "a wide title 2"
    assert lines(table_of([NAME, *WIDE, N], record, sort="-wide1"), 30)[0].endswith("a wide title 1")
    assert lines(table_of([NAME, *WIDE, N], record, last=("wide0",)), 30)[0].endswith("a wide title 1")
    led = table_of([NAME, *WIDE, N, SCORE], record, first=("wide2", "n"))
    assert lines(led, 30)[0].split("  ") == ["Name", "a wide title 2", "n", "score"]


def test_columns_without_anything_measured_are_named_instead() -> None:
    table = table_of([NAME, SCORE, N], {"name": "a", "score": None, "n": 7}, {"name": "b", "n": 8})
    assert header(table, 80) == ["Name", "n"]
    assert lines(table, 80)[-1] == "Not measured: score."
    assert header(table, None) == ["Name", "score", "n"]


def test_what_is_the_same_in_every_row_is_said_once_where_there_is_no_room() -> None:
    records = [{"name": name, "other": "x" * 30, "n": 7} for name in ("a", "b")]
    table = table_of([NAME, OTHER, N], *records)
    assert header(table, 80) == ["Name", "Other", "n"]
    assert header(table, 30) == ["Name", "n"]
    assert "The same in every row: Other xxx" in " ".join(lines(table, 30))


def test_titles_become_short_before_anything_goes() -> None:
    wordy = SCORE._replace(title="a very long title", short="score")
    table = table_of([NAME, wordy, N], {"name": "aaaaaaaaaa", "score": 1.0, "n": 7})
    assert header(table, 24) == ["Name", "score", "n"]
    assert "Cut to" not in printed(table, "text", width=24)


def test_what_names_share_is_dropped_once_and_said() -> None:
    names = ["conversation-of-monday-1", "conversation-of-monday-2"]
    text = lines(table_of([NAME, N], *({"name": name, "n": 7} for name in names)), 20)
    assert [line.split()[0] for line in text[1:3]] == ["of-monday-1", "of-monday-2"]
    assert "conversation- dropped from each Name" in " ".join(text)


def test_a_table_without_rows_says_nothing_of_its_columns() -> None:
    assert printed(table_of([NAME, *WIDE, N]), "text", width=30).splitlines()[1:] == ["No rows."]


def test_lists_are_broken_into_lines_and_not_cut() -> None:
    text = printed(sample_tables.worklist(), "text", width=60)
    assert "…" not in text
    assert "  ! apartment_scheduler/action  stall 0.36  escal 0.64\n        progress 0.0" in text
