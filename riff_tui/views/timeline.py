"""Show quality from run to run, a column for each judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riff_store.answers.quality import COMPUTED
from riff_tui.charts.sparklines import LEAST, Sparklines
from riff_tui.table import Column, Row, Table
from riff_tui.views.parts import cells, columns, edit_cells
from riff_tui.views.spec import ViewSpec

if TYPE_CHECKING:
    from riff_store.answers.quality import RunQuality

DOWN_ONLY = "Quality is comparable only down a column: each judge has a scale of its own, and (computed) uses none."
UNITS = "Units: quality 0-10, higher is better: mean operability of the run's (flow, agent) rows that the judge scored."
LINES = "Each line above goes from run to run, between the lowest and the highest value that it names."
LISTED = 5
TREND = 10
_COLUMNS = (
    columns.RUN,
    Column("started_at", "Started (UTC)", kind="time", help="When the first call of the run started."),
    Column("commit", "Commit", kind="text", help="The commit that was evaluated."),
    Column("flows", "flows", kind="count", help="Flows that the run called."),
    columns.N,
    columns.EXCLUDED,
)
EDIT = Column("edit", "Last edit", kind="object", help="The latest edit of any of its flows that the run contains.")


def timeline(answers: Sequence[RunQuality]) -> Table:
    """Return one row per run, in the order of the answers."""
    edited = [EDIT] if any(run.edit for run in answers) else []
    judges = list(dict.fromkeys((COMPUTED, *(judge for run in answers for judge in run.quality))))
    return Table(
        view="timeline",
        title="Timeline: quality by judge (earliest run first)",
        columns=[*_COLUMNS, *(_column(judge) for judge in judges), *edited],
        rows=[_row(run, judges, answers[max(0, place - TREND) : place]) for place, run in enumerate(answers, 1)],
        notes=[UNITS, DOWN_ONLY, *_partly_judged(answers), *edit_cells.notes(run.edit for run in answers)],
    )


def with_lines(table: Table) -> Table:
    """Add a line for each judge above the rows, which goes through these in time."""
    runs = sorted((row.record for row in table.rows), key=_in_time)
    judges = dict.fromkeys(judge for run in runs for judge in run["quality"])
    series = {judge: [run["quality"][judge] for run in runs] for judge in judges}
    if all(sum(value is not None for value in values) < LEAST for values in series.values()):
        return table
    return replace(table, figure=Sparklines(series), notes=[*table.notes, LINES])


def _in_time(run: Mapping[str, Any]) -> tuple[bool, str, str]:
    return run["started_at"] is None, run["started_at"] or "", run["run"]


def _column(judge: str) -> Column:
    seen = "without any judge's humanness" if judge == COMPUTED else f"with {judge}'s humanness alone"
    return Column(
        f"quality.{judge}", judge, unit="0-10", better="higher", path=("quality", judge),
        help=f"Mean operability of the run's flows and agents, {seen}.",
    )  # fmt: skip


def _row(run: RunQuality, judges: Sequence[str], lately: Sequence[RunQuality]) -> Row:
    record: dict[str, Any] = {
        "run": run.run,
        "started_at": cells.moment(run.started_at),
        "commit": run.commit,
        "flows": run.flows,
        "n": run.n,
        "excluded": run.excluded,
        "quality": {judge: run.quality.get(judge) for judge in judges},
        "quality_rows": {judge: run.rows.get(judge, 0) for judge in judges},
        "edit": edit_cells.record_of(run.edit),
        "trend": [each.quality.get(COMPUTED) for each in lately],
    }
    marks = {f"quality.{judge}": mark for judge, mark in cells.score_marks(record["quality"], judges).items()}
    where = cells.where({"run": run.run})
    display = {"edit": edit_cells.in_short(run.edit, with_flow=run.flows > 1)} if run.edit else {}
    return Row(where, record, display, severity=marks, thin=cells.is_thin(run.n), where=where)


def _partly_judged(answers: Sequence[RunQuality]) -> list[str]:
    """Return a sentence on the means that stand on fewer rows than there are."""
    partly = [
        f"{judge} {run.rows.get(judge, 0)} of {run.rows[COMPUTED]} in {run.run}"
        for run in answers
        for judge in run.quality
        if 0 < run.rows.get(judge, 0) < run.rows[COMPUTED]
    ]
    more = len(partly) - LISTED
    listed = ", ".join([*partly[:LISTED], *([f"{more} more"] if more > 0 else [])])
    return [f"Judged in part, so the mean is over these rows only: {listed}."] if partly else []


SPEC = ViewSpec(
    name="timeline",
    title="Timeline",
    help=(
        "Quality from run to run: mean operability of the run's flows and agents, in the eyes of each judge alone.",
        "Quality is comparable only down a column; (computed) uses no judge.",
        "Drill into a run with flows --where 'run=R'.",
    ),
    order=60,
    key="5",
    key_help="Quality run by run, a column for each judge; press again to widen.",
    query="riff_store.queries.quality:timeline",
    build=timeline,
    finish=with_lines,
    judges="columns",
    columns=(*_COLUMNS, EDIT),
    fields=("quality",),
    nouns=("run", "runs"),
    below="flows",
    row_kind="run",
    comparable=True,
    # What is measured stands where it is seen.
    last=("edit", "commit", "flows"),
    order_by="started_at",
)
