"""Show what was evaluated when, from which commit, and how it went."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from riff_tui.table import Column, Row, Table
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.contents import RunSummary
    from riff_tui.view_query import ViewQuery

_SUCCESS = dataclasses.replace(columns.SUCCESS, get=lambda run: run.success.mean)
_QUALITY = dataclasses.replace(columns.QUALITY, get=lambda run: run.quality.mean)
_COLUMNS = (
    columns.RUN,
    dataclasses.replace(columns.STARTED, get=lambda run: cells.moment(run.started_at)),
    columns.FLOWS,
    columns.N,
    Column("excluded", "excluded", kind="count", help="Errored calls, not counted in averages."),
    _SUCCESS,
    columns.interval(_SUCCESS),
    dataclasses.replace(columns.OVERALL, get=lambda run: cells.caller_values(run)["success_overall"]),
    _QUALITY,
    columns.interval(_QUALITY),
    columns.CALLER_FAILED,
    Column("label", "Label", kind="text", help="What the run was called."),
    columns.BUILT_FROM,
    Column("branch", "Branch", kind="text", help="The branch that was evaluated."),
    Column("written_by", "Written by", kind="text", help="Who stored its calls.", shown=False),
)
UNITS = "Units: success share of calls · quality 0-10, higher is better."


_PLAIN = tuple(column for column in _COLUMNS if not column.path)


def show(query: ViewQuery) -> Table:
    """Return the runs that hold such calls."""
    from riff_store.queries.contents import runs as asked

    return query.result(query.parts(), lambda parts: runs(asked(query.store, parts.calls)))


def runs(answers: Sequence[RunSummary]) -> Table:
    """Return all runs in time order, the latest first; runs without a time come last."""
    return Table(
        view="runs",
        title="Runs (latest first)",
        columns=cells.shown_where_failed(_COLUMNS, answers),
        rows=[_row(run) for run in sorted(answers, key=lambda run: (cells.falling(run.started_at), run.run))],
        notes=[UNITS, *cells.caller_note(answers)],
    )


def _row(run: RunSummary) -> Row:
    row = cells.plain_row(_PLAIN, run, ("run",))
    measures = {"success_rate": run.success, "quality": run.quality, **cells.caller_intervals(run)}
    record = {**row.record, "intervals": cells.intervals(measures)}
    [marks] = cells.errored_marks([run])
    return dataclasses.replace(row, record=record, display=cells.interval_texts(_COLUMNS, record), severity=marks)


SPEC = ViewSpec(
    name="runs",
    title="Runs",
    help=(
        "What was evaluated when, from which commit, and how many calls were correct and complete.",
        "The latest run comes first; a run starts with its first call.",
        "Drill into a run with flows --where 'run=R'.",
    ),
    order=90,
    show=show,
    columns=_COLUMNS,
    order_by="-started_at",
    last=("excluded", "label", "commit", "branch", "written_by"),
    row_kind="run",
    comparable=True,
    words=Words(nouns=("run", "runs")),
    screen=Screen(
        key="7", help="What was evaluated when: every run of these calls; press again to widen.", below="flows"
    ),
)
