"""How rows are sorted, and what is said of the calls that were left out of a table."""

from __future__ import annotations

import pytest

from tests.surface.store import OF_CALLS
from tests.surface.tui import EXCLUDED, FLOW, PERSONA, Row, Table, column_of, judge, left_out, sort_column

CALLS = Row("1", {"persona": "angry", "excluded": 2})
CALLS_OF_A_FLOW = Row("1", {"flow": "dental", "persona": "angry", "excluded": 2})


def said(row: Row, *keys: str) -> str:
    (note,) = left_out(Table("personas", "", (FLOW, PERSONA, EXCLUDED), [row]), keys)
    return note.removeprefix("Excluded: 2 errored calls are not counted in averages ")


def test_rows_with_errored_calls_are_named_by_the_keys_of_the_view() -> None:
    assert said(CALLS, "persona") == "(angry 2)."
    assert said(CALLS_OF_A_FLOW, "flow", "persona") == "(dental angry 2)."


def test_rows_of_a_view_without_keys_are_named_by_its_name_columns_where_no_known_name_does() -> None:
    assert said(CALLS) == "(angry 2)."
    assert said(CALLS_OF_A_FLOW) == "(dental 2)."


@pytest.mark.parametrize("name", ["success_rate", "success", "succ", "Success", "SUCC"])
def test_rows_are_sorted_by_any_name_that_a_column_is_shown_under(name: str) -> None:
    columns = (column_of(OF_CALLS["success_rate"]), judge("success"), FLOW)
    assert sort_column(columns, f"-{name}") is columns[0]
