"""Show what was evaluated when, and from which commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from riff_tui.table import Column, Table
from riff_tui.views.parts import cells, columns, rows
from riff_tui.views.spec import ViewSpec

if TYPE_CHECKING:
    from riff_store.answers.lists import RunSummary

_COLUMNS = (
    columns.RUN,
    Column("label", "Label", kind="text", help="What the run was called."),
    Column("commit", "Commit", kind="text", help="The commit that was evaluated."),
    Column("branch", "Branch", kind="text", help="The branch that was evaluated."),
    Column(
        "started_at",
        "Started (UTC)",
        kind="time",
        help="When the first call of the run started.",
        get=lambda run: cells.moment(run.started_at),
    ),
    Column("flows", "flows", kind="count", help="Flows that the run called."),
    columns.N,
    Column("excluded", "excluded", kind="count", help="Errored calls, not counted in averages."),
)


def runs(answers: Sequence[RunSummary]) -> Table:
    """Return all runs in time order, the latest first; runs without a time come last."""
    ordered = sorted(answers, key=lambda run: (cells.falling(run.started_at), run.run))
    found = [rows.plain_row(_COLUMNS, run, ("run",)) for run in ordered]
    return Table(view="runs", title="Runs (latest first)", columns=_COLUMNS, rows=found)


SPEC = ViewSpec(
    name="runs",
    title="Runs",
    help=(
        "What was evaluated when, and from which commit.",
        "The latest run comes first; a run starts with its first call.",
        "Drill into a run with flows --where 'run=R'.",
    ),
    order=90,
    key="7",
    key_help="What was evaluated when: every run of these calls; press again to widen.",
    query="riff_store.queries.contents:runs",
    build=runs,
    columns=_COLUMNS,
    nouns=("run", "runs"),
    below="flows",
    row_kind="run",
    comparable=True,
    order_by="-started_at",
)
