"""Make records and rows of answers by the columns of a view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from riff_tui.table import Column, Row, Table
from riff_tui.views.parts import cells
from riff_tui.views.spec import ViewSpec


def record_of(columns: Iterable[Column], answer: Any) -> dict[str, Any]:
    """Return the record of an answer: the value of each column by its key."""
    return {column.key: column.get(answer) if column.get else getattr(answer, column.key) for column in columns}


def plain_row(columns: Sequence[Column], answer: Any, keys: Iterable[str]) -> Row:
    """Return the row of an answer, which `keys` name and lead below; thin where too few stand behind it."""
    record = record_of(columns, answer)
    where = cells.where({key: record[key] for key in keys})
    counts = [record[column.key] for column in columns if column.thin]
    return Row(where, record, thin=any(cells.is_thin(count) for count in counts), where=where)


def plain_table(spec: ViewSpec, answers: Iterable[Any], notes: Sequence[str] = ()) -> Table:
    """Return the table of a view that has columns and nothing else, in the order of the answers."""
    rows = [plain_row(spec.columns, answer, spec.keys) for answer in answers]
    return Table(view=spec.name, title=spec.title, columns=spec.columns, rows=rows, notes=notes)
