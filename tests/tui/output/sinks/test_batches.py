"""Batches: the lines of rows that stand by column are those that their records would be written as."""

from __future__ import annotations

import io
from collections.abc import Mapping
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import Batch, Column, Options, csv, json, utc

COLUMNS = (
    Column("flow", "Flow", kind="name"),
    Column("trial", "Trial", kind="count"),
    Column("value", "Value"),
    Column("at", "At", kind="time"),
    Column("good", "Good", kind="flag"),
)
TEXTS = st.none() | st.text(max_size=4) | st.sampled_from(['a,"b"', "=1+1", "\x1b[2J\n", "-"])
# A store never has -0.0: SQLite keeps it as 0.
NUMBERS = st.none() | st.floats().map(lambda number: number + 0.0) | st.sampled_from([0.0, 1.0, 7.5])
TIMES = st.none() | st.integers(-(2**40), 2**62)
SINGLE = st.tuples(NUMBERS, TIMES)
GROUPS = st.lists(st.tuples(TEXTS, st.integers(0, 2), st.booleans(), st.lists(SINGLE, max_size=3)), max_size=4)


def batch_of(groups: list[Any]) -> Batch:
    singles = list(chain.from_iterable(rows for *_, rows in groups))
    return Batch(
        [len(rows) for *_, rows in groups],
        {key: [group[place] for group in groups] for place, key in enumerate(("flow", "trial", "good"))},
        {key: [single[place] for single in singles] for place, key in enumerate(("value", "at"))},
    )


def records_of(groups: list[Any]) -> list[Mapping[str, Any]]:
    return [
        {"flow": flow, "trial": trial, "value": value, "at": None if at is None else utc(at), "good": good}
        for flow, trial, good, rows in groups
        for value, at in rows
    ]


@pytest.mark.parametrize("options", [Options(), Options(csv_raw=True), Options(ascii_only=True)])
@given(first=GROUPS, second=GROUPS)
def test_csv_and_json_lines_are_those_of_the_records(options: Options, first: list[Any], second: list[Any]) -> None:
    batches, records = [batch_of(first), batch_of(second)], [*records_of(first), *records_of(second)]
    ours, theirs = io.StringIO(), io.StringIO()
    csv.write_batches(COLUMNS, batches, ours, options)
    csv.write_records(COLUMNS, records, theirs, options)
    assert ours.getvalue() == theirs.getvalue()
    ours, theirs = io.StringIO(), io.StringIO()
    json.write_batches(COLUMNS, batches, ours, options)
    json.write_records(records, theirs, options)
    assert ours.getvalue() == theirs.getvalue()


def test_zero_has_no_sign_whatever_stands_beside_it() -> None:
    for values in ([0.0, -0.0], [-0.0, 0.0]):
        out = io.StringIO()
        csv.write_batches(COLUMNS[2:3], [Batch([2], {}, {"value": values})], out, Options())
        assert out.getvalue() == "value\n0.0\n0.0\n"
