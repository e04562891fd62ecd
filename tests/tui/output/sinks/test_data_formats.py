from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import sample_tables
from tests.support.golden import printed
from tests.support.hostile import HOSTILE, unsafe
from tests.surface.tui import FORMATS, Column, Row, Table

TEXT = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def table_of(*records: Mapping[str, Any], columns: tuple[Column, ...] = ()) -> Table:
    return Table("v", "Title", columns, [Row(str(number), record) for number, record in enumerate(records)])


def csv_rows(table: Table, **options: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(printed(table, "csv", **options), newline="")))


@given(st.lists(st.dictionaries(TEXT, VALUES, max_size=4), max_size=4))
def test_json_gives_back_the_records(records: list[dict[str, Any]]) -> None:
    table = table_of(*records)
    assert json.loads(printed(table, "json"))["rows"] == records
    assert [json.loads(line) for line in printed(table, "jsonl").split("\n")[:-1]] == records


def test_json_has_the_keys_of_the_contract_in_their_order() -> None:
    found = json.loads(printed(sample_tables.flows(), "json"))
    assert list(found) == ["view", "schema_version", "filter", "columns", "rows", "notes", "total", "matched", "hidden"]
    assert (found["view"], found["schema_version"], found["filter"]) == ("flows", 1, "flow:a")
    assert (found["total"], found["matched"], found["hidden"]) == (6, 4, 2)
    assert found["columns"][2] == {"key": "operability", "title": "operability", "unit": "0-10", "better": "higher"}
    assert found["rows"][1]["humanness"] == {"codex": 1.1, "dashscope": 0.8, "gemini": 2.2}


def test_extras_stand_at_the_top_and_displace_nothing() -> None:
    found = json.loads(printed(sample_tables.neighbors(), "json"))
    assert found["reach"] == {"confirm": 0.5, "book_viewing": 1 / 3}
    assert found["view"] == "neighbors"


def test_json_knows_no_nan_and_no_infinity() -> None:
    record = {"a": math.nan, "b": [math.inf, {"c": -math.inf}], "d": 1.5}
    assert json.loads(printed(table_of(record), "jsonl")) == {"a": None, "b": [None, {"c": None}], "d": 1.5}


def test_json_takes_any_mapping_and_sequence() -> None:
    record = MappingProxyType({"a": MappingProxyType({"b": (1, 2)}), "c": {"y", "x"}, "d": Path("x"), "e": {3: 1}})
    expected = {"a": {"b": [1, 2]}, "c": ["x", "y"], "d": "x", "e": {"3": 1}}
    assert json.loads(printed(table_of(record), "jsonl")) == expected


def test_json_text_is_raw_readable_and_harmless() -> None:
    line = printed(table_of({"a": "日本 \x1b[2J \u202e \ud800 \x9b \x7f"}), "jsonl")
    assert line == '{"a": "日本 \\u001b[2J \\u202e \\ud800 \\u009b \\u007f"}\n'
    assert json.loads(line) == {"a": "日本 \x1b[2J \u202e \ud800 \x9b \x7f"}
    assert printed(table_of({"a": "日"}), "jsonl", ascii_only=True) == '{"a": "\\u65e5"}\n'


def test_csv_has_all_columns_under_their_keys_with_unrounded_numbers() -> None:
    columns = (
        Column("a", "A", shown=False),
        Column("flag", "F", kind="flag"),
        Column("at", "At", kind="time"),
        Column("to", "To", kind="object"),
        Column("hum:x", "X", path=("humanness", "x")),
        Column("gone", "Gone", kind="name"),
    )
    record = {"a": 1 / 3, "flag": True, "at": 500_000, "to": {"b": 2}, "humanness": {"x": math.nan}, "gone": None}
    assert csv_rows(table_of(record, columns=columns)) == [
        ["a", "flag", "at", "to", "hum:x", "gone"],
        ["0.3333333333333333", "true", "1970-01-01T00:00:00.500000Z", '{"b": 2}', "", ""],
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-rf", "@SUM(A1)", "\t=1", "\r=1"])
def test_csv_gives_a_spreadsheet_no_formula(text: str) -> None:
    columns = (Column(text, text, kind="text"),)
    guarded = csv_rows(table_of({text: text}, columns=columns))
    raw = csv_rows(table_of({text: text}, columns=columns), csv_raw=True)
    assert all(cell.startswith("'") for row in guarded for cell in row)
    assert not any(cell.startswith("'") for row in raw for cell in row)


def test_csv_never_touches_numbers() -> None:
    columns = (Column("a", "A"), Column("b", "B", kind="count"))
    assert csv_rows(table_of({"a": -0.5, "b": -3}, columns=columns))[1] == ["-0.5", "-3"]


def test_csv_has_one_record_a_line_and_plain_line_ends() -> None:
    text = printed(sample_tables.hostile(HOSTILE), "csv")
    assert len(text.split("\n")) == len(HOSTILE) + 2
    assert "\r" not in text


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("make", [sample_tables.hostile, sample_tables.hostile_lists])
def test_no_format_lets_hostile_strings_reach_a_terminal(make: Any, format: str) -> None:
    for options in ({}, {"width": 80}, {"ascii_only": True}, {"csv_raw": True}):
        text = printed(make(HOSTILE), format, **options)
        assert unsafe(text.replace("\n", "")) == []
        assert text.encode("utf-8")
        assert text.isascii() or "ascii_only" not in options


@pytest.mark.parametrize("format", FORMATS)
def test_no_format_lets_the_collected_strings_reach_a_terminal(shared_data: Path, format: str) -> None:
    strings: dict[str, str] = json.loads((shared_data / "hostile_strings.json").read_text("utf-8"))
    for make in (sample_tables.hostile, sample_tables.hostile_lists):
        assert unsafe(printed(make(strings), format).replace("\n", "")) == []
