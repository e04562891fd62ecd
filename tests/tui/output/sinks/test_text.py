from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import sample_tables
from tests.support.golden import printed
from tests.surface.tui import Column, Row, Table, cell_width, text

SGR = re.compile(r"\x1b\[\d+m")


def one_column(*rows: Row, thin: bool = False) -> Table:
    return Table("v", "", [Column("n", "n", kind="count", thin=thin)], rows)


@given(st.sampled_from(sorted(sample_tables.ALL)), st.integers(12, 200), st.booleans())
def test_no_line_is_wider_than_the_terminal(shape: str, width: int, ascii_only: bool) -> None:
    table = sample_tables.ALL[shape]()
    text = printed(table, "text", width=width, ascii_only=ascii_only, color=True)
    assert max(cell_width(SGR.sub("", line)) for line in text.splitlines()) <= width


def test_what_was_cut_is_said_at_the_end() -> None:
    text = " ".join(printed(sample_tables.flows(), "text", width=60).split())
    assert "Cut to 60 cells: 7 columns left out (correctness, completion, lat_p95, turn_count, hum:codex," in text
    assert "2 texts shortened. Into a file or a pipe nothing is cut." in text


def test_nothing_is_cut_without_a_width_and_nothing_is_said_then() -> None:
    text = printed(sample_tables.flows(), "text")
    assert "property_trouble_ticket" in text
    assert "hum:gemini" in text
    assert "Cut to" not in text
    assert "Cut to" not in printed(sample_tables.flows(), "text", width=200)


def test_a_wide_name_gives_way_before_a_number_goes() -> None:
    columns = [Column("name", "Name", kind="name"), Column("n", "n", kind="count")]
    table = Table("v", "", columns, [Row("1", {"name": "x" * 60, "n": 12345})])
    lines = printed(table, "text", width=30).splitlines()
    assert lines[1] == "x" * 11 + "…" + "x" * 11 + "  12345"


def test_rows_are_marked_only_where_a_row_has_a_mark() -> None:
    assert printed(one_column(Row("1", {"n": 1})), "text").splitlines() == ["n", "1"]
    marked = one_column(
        Row("1", {"n": 1}, severity={"": "bad"}),
        Row("2", {"n": 2}, severity={"n": "warn"}),
        Row("3", {"n": 3}, thin=True),
        Row("4", {"n": 4}),
    )
    assert printed(marked, "text").splitlines() == ["  n", "! 1", "△ 2", "~ 3", "  4"]


def test_the_digits_of_counts_stand_below_each_other() -> None:
    table = one_column(Row("1", {"n": 2}, thin=True), Row("2", {"n": 19}), thin=True)
    assert printed(table, "text").splitlines() == ["    n", "~  2~", "  19"]


def test_wide_letters_keep_the_columns_straight() -> None:
    columns = [Column("name", "Name", kind="name"), Column("n", "n", kind="count")]
    rows = [Row("1", {"name": "日本語", "n": 1}), Row("2", {"name": "abc", "n": 2})]
    lines = printed(Table("v", "", columns, rows), "text").splitlines()
    assert [cell_width(line) for line in lines] == [9, 9, 9]


def test_colour_is_of_the_foreground_only_and_is_all_that_it_adds() -> None:
    plain = printed(sample_tables.flows(), "text")
    colored = printed(sample_tables.flows(), "text", color=True)
    codes = set(SGR.findall(colored))
    assert codes == {"\x1b[31m", "\x1b[2m", "\x1b[39m", "\x1b[22m"}
    assert SGR.sub("", colored) == plain
    assert "\x1b" not in plain


@pytest.mark.parametrize(
    ("total", "matched", "limit", "said"),
    [
        (None, None, None, "1"),
        (1, 1, 5, "1"),
        (3200, 1, None, "1 of 3,200 match; 3,199 do not."),
        (2, 1, 3, "1 of 2 match; 1 does not."),
        (32, 32, 1, "Shown: 1 of 32 (--limit 1)."),
        (3200, 128, 1, "Shown: 1 of 128 match (--limit 1); 3,072 do not."),
    ],
)
def test_what_a_filter_and_a_limit_took_away_is_counted(
    total: int | None, matched: int | None, limit: int | None, said: str
) -> None:
    table = Table(
        "v", "", [Column("n", "n", kind="count")], [Row("1", {"n": 1})], total=total, matched=matched, limit=limit
    )
    assert printed(table, "text").splitlines()[-1] == said


def test_a_limit_of_lists_is_one_for_each() -> None:
    table = sample_tables.worklist()._replace(total=9, matched=9, limit=2)
    assert printed(table, "text").endswith("Shown: 4 of 9 (--limit 2 a list).\n")


def test_a_drawing_gets_the_terminal_it_has_to_fit() -> None:
    widths: list[int] = []

    class Measured:
        def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
            widths.append(width)
            return ["x" * width]

    table = Table("v", "", [], [], figure=Measured())
    assert printed(table, "text", width=50) == "x" * 50 + "\n"
    printed(table, "text")
    printed(table, "markdown", width=50)
    assert widths == [50, 78, 78]


class Story:
    """Prose that stands for any other."""

    head = ("Who took part.",)

    def lines(self, rows: Sequence[Row], *, width: int, ascii_only: bool = False) -> list[list[tuple[str, str | None]]]:
        return [[("said: ", "faint"), ("x" * (width - 6), None)] for _ in rows]


def test_prose_stands_below_its_head_and_in_the_place_of_columns() -> None:
    table = sample_tables.neighbors()._replace(prose=Story(), notes=["Who took part.", "What else."])
    title, head, _, graph, *rest = printed(table, "text").splitlines()
    assert (title, head) == ("Neighbours of collect_details", "Who took part.")
    assert "collect_details" in graph
    assert rest[3:5] == ["said: " + "x" * 94] * 2
    assert rest[-1] == "What else."
    assert max(map(len, printed(table, "text", width=40).splitlines())) <= 60
    assert SGR.sub("", printed(table, "text", color=True)) == printed(table, "text")
    for form in ("markdown", "csv", "json"):
        assert "said:" not in printed(table, form)


@pytest.mark.parametrize("notes", [(), ("All of it.",)])
def test_very_many_rows_are_printed_block_by_block(notes: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [Column("name", "Name", kind="name"), Column("n", "n", kind="count")]
    rows = [Row(str(n), {"name": f"call-{n:02}", "n": n}) for n in range(10, 35)]
    table = Table("t", "Calls", columns, rows, notes=notes)
    at_once = printed(table, "text")
    monkeypatch.setattr(text, "AT_ONCE", 10)
    monkeypatch.setattr(text, "MANY", 10)
    assert printed(table, "text") == at_once


def test_a_block_with_wider_cells_has_a_header_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "AT_ONCE", 2)
    monkeypatch.setattr(text, "MANY", 2)
    names = ["a", "b", "longer", "d", "e"]
    table = Table("t", "", [Column("name", "Name", kind="name")], [Row(name, {"name": name}) for name in names])
    assert printed(table, "text") == "Name\na\nb\nName\nlonger\nd\ne\n"
