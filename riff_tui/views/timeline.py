"""Show success and quality from run to run, a column for each judge, and what was evaluated when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_store.vocabulary import COMPUTED
from riff_tui.charts.sparklines import LEAST, Sparklines
from riff_tui.shapes import COUNT, COUNTS, INTERVALS, NUMBER, by_name, list_of, or_null
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.view_query import EVERYTHING, FilterParts, MadeRows, outlines
from riff_tui.views.parts import cells, changes, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.contents import RunSummary
    from riff_store.queries.quality import RunQuality, Timeline
    from riff_tui.view_query import ViewQuery

DOWN_ONLY = "Judges are comparable only down a column: each has a scale of its own, and (computed) uses none."
UNITS = (
    "Units: success share of calls · others 0-10, higher is better: (computed) is the mean quality of calls without any"
    " judge, a judge's column the mean of its own scores, of so many where not all calls have one."
)
CHANGE = (
    "change: success rate less that of the run before, within the same flows and agents; moved: the flows behind it."
    " Only what is more than chance has a verdict and a mark (p corrected across all runs, of flows across all flows)."
)
LINES = "Each line above goes from run to run; full height is 10, or every call."
TREND = 10
_SUCCESS = columns.SUCCESS.title
_COLUMNS = (
    columns.RUN,
    columns.STARTED,
    columns.BUILT_FROM,
    columns.FLOWS,
    columns.N,
    columns.EXCLUDED,
    columns.SUCCESS,
)
MOVED = Column("moved", "moved", kind="text", help="Flows whose change is more than chance.")
_CHANGES = (
    columns.share(
        "change", "change", better="higher", trim=False,
        help="Success rate less that of the run before, within the same flows and agents.",
    ),
    MOVED,
    Column("verdict", "verdict", kind="text", shown=False, help="Better or worse than the run before; or noise."),
    Column("p_adjusted", "p adj.", decimals=3, shown=False, help="p of the change, corrected across all runs."),
    Column("p", "p", decimals=3, shown=False, help="The two-sided p of the run's change alone."),
    Column("n_before", "n before", kind="count", shown=False, help="Calls of the run before that are compared."),
    Column("n_after", "n after", kind="count", shown=False, help="Calls of this run that are compared."),
)  # fmt: skip
_QUALITY = cells.with_interval(cells.quality_columns(COMPUTED, ("quality", COMPUTED)))
EDIT = Column(
    "edit", "Last edit", kind="object", said=True, help="The latest edit of any of its flows that the run contains."
)


def show(query: ViewQuery) -> Table:
    """Return the runs of such calls, with lines above them."""
    from riff_store.queries.quality import timeline as asked

    def build(parts: FilterParts) -> Table:
        # Of everything, beside what is asked for, rows are only counted.
        first = 0 if parts is EVERYTHING else query.first(parts)
        return timeline(asked(query.store, parts.calls, parts.judges, first))

    return with_lines(query.result(query.parts(), build))


def timeline(answer: Timeline) -> Table:
    """Return one row per run, in the order of the answer."""
    runs, judges = answer.runs, answer.judges
    moved = any(change.moved for change in answer.changes)
    shown = [
        *_COLUMNS,
        *_QUALITY,
        *(column for column in _CHANGES if column is not MOVED or moved),
        *(column for judge in judges for column in cells.quality_columns(judge, ("quality", judge))),
        *([EDIT] if any(answer.edits) else []),
    ]
    return Table(
        view="timeline",
        title="Timeline: success and quality run by run (earliest first)",
        columns=shown,
        rows=MadeRows(
            len(runs),
            lambda at: _outline(runs[at], (COMPUTED, *judges), runs[max(0, at + 1 - TREND) : at + 1]),
            lambda at, outline: _row(runs[at], outline),
        ),
        matched=len(answer.changes),
        notes=[
            UNITS,
            *cells.measured_note([answer]),
            *([CHANGE] if any(change.whole for change in answer.changes) else []),
            *([DOWN_ONLY] if judges else []),
            *changes.edit_notes(answer.edits),
        ],
    )


def with_lines(table: Table) -> Table:
    """Add lines above the rows, which go through these in time: of success, and of each column of quality."""
    records = [row.record for row in outlines(table.rows)]
    runs = sorted(records, key=lambda run: (run["started_at"] is None, run["started_at"] or "", run["run"]))
    judges = dict.fromkeys(judge for run in runs for judge in run["quality"])
    series = {_SUCCESS: [run["success_rate"] for run in runs]}
    # A judge may be called as the success rate is.
    series |= {judge: [run["quality"][judge] for run in runs] for judge in judges if judge != _SUCCESS}
    if all(sum(value is not None for value in values) < LEAST for values in series.values()):
        return table
    return table._replace(figure=Sparklines(series, rates=(_SUCCESS,)), notes=[*table.notes, LINES])


def _outline(run: RunQuality, judges: Sequence[str], lately: Sequence[RunQuality]) -> Row:
    record: dict[str, Any] = {
        "run": run.run,
        "started_at": cells.moment(run.started_at),
        **cells.values_of(run, "commit flows n excluded"),
        "success_rate": run.success.mean,
        "quality": {judge: run.quality[judge].mean if judge in run.quality else None for judge in judges},
        "quality_n": {judge: run.quality[judge].n if judge in run.quality else 0 for judge in judges},
        **changes.change_record(run.change),
        "moved": ", ".join(flow.flow for flow in run.moved) or None,
        "changes": [changes.flow_record(flow) for flow in run.moved],
        "intervals": {},
        "edit": changes.edit_record(run.edit),
        "trend": [each.success.mean for each in lately],
    }
    where = cells.where({"run": run.run})
    return Row(where, record, thin=cells.is_thin(run.n), where=where)


def _row(run: RunQuality, outline: Row) -> Row:
    measures = {f"quality.{judge}": run.quality[judge] for judge in outline.record["quality"] if judge in run.quality}
    record = {**outline.record, "intervals": cells.intervals({"success_rate": run.success, **measures})}
    counts = cells.counts_of(run.n, {"success_rate": run.success, **measures})
    display = cells.interval_texts(_QUALITY, record)
    if run.change:
        display["change"] = changes.change_in_short(run.change.effect, run.change)
    if run.moved:
        display["moved"] = changes.flows_in_short(run.moved)
    if run.edit:
        display["edit"] = changes.edit_in_short(run.edit, with_flow=run.flows > 1)
    return outline._replace(record=record, display=display, severity=_marks(run), counts=counts)


def _marks(run: RunQuality) -> dict[str, Severity]:
    """Mark what changed by more than chance, and nothing else; the key `""` is the row's own."""
    whole = changes.change_mark(run.change)
    flows = [found for flow in run.moved if (found := changes.change_mark(flow.change))]
    moved = cells.worst_of(flows) or (flows[0] if flows else None)
    marks = {"change": whole, "moved": moved, "": cells.worst_of(filter(None, (whole, moved))) or whole or moved}
    return {key: found for key, found in marks.items() if found is not None}


SPEC = ViewSpec(
    name="timeline",
    title="Timeline",
    help=(
        "Success and quality from run to run, and each judge's own mean beside them.",
        "A run is marked if it is better or worse than the one before by more than chance.",
        "Drill into a run with flows --where 'run=R'.",
    ),
    order=60,
    show=show,
    judges="columns",
    rows={
        "quality": by_name(or_null(NUMBER)),
        "quality_n": COUNTS,
        "changes": list_of(changes.CHANGE_OF_FLOW),
        "intervals": INTERVALS,
        "edit": or_null(changes.EDIT),
        "trend": list_of(or_null(NUMBER)),
        "n_before": or_null(COUNT),
        "n_after": or_null(COUNT),
    },
    sometimes=("trend",),
    columns=(*_COLUMNS, *_CHANGES, EDIT),
    filters=Filters(fields=("quality",)),
    order_by="started_at",
    # What is measured is where it is seen.
    last=("edit", "commit", "flows", "started_at"),
    row_kind="run",
    comparable=True,
    words=Words(nouns=("run", "runs")),
    screen=Screen(
        key="5",
        help="Success and quality run by run, a column for each judge; press again for more.",
        below="flows",
    ),
)

# Show what was evaluated when, from which commit, and how it went.
_RUN_SUCCESS = columns.SUCCESS._replace(get=lambda run: run.success.mean)
_RUN_QUALITY = columns.QUALITY._replace(get=lambda run: run.quality.mean)
_RUN_COLUMNS = (
    columns.RUN,
    columns.STARTED._replace(get=lambda run: cells.moment(run.started_at)),
    columns.FLOWS,
    columns.N,
    columns.FAILED,
    Column("excluded", "excluded", kind="count", help="Errored calls, not counted in averages."),
    _RUN_SUCCESS,
    columns.interval(_RUN_SUCCESS),
    columns.OVERALL._replace(get=lambda run: cells.caller_values(run)["success_overall"]),
    _RUN_QUALITY,
    columns.interval(_RUN_QUALITY),
    columns.CALLER_FAILED,
    Column("label", "Label", kind="text", help="What the run was called."),
    columns.BUILT_FROM,
    Column("branch", "Branch", kind="text", help="The branch that was evaluated."),
    Column("written_by", "Written by", kind="text", said=True, help="Who stored its calls.", shown=False),
)
RUN_UNITS = "Units: success share of calls · quality 0-10, higher is better."


_PLAIN_COLUMNS = tuple(column for column in _RUN_COLUMNS if not column.path)


def show_runs(query: ViewQuery) -> Table:
    """Return the runs that have such calls."""
    from riff_store.queries.contents import runs as asked

    return query.result(query.parts(), lambda parts: runs(asked(query.store, parts.calls)))


def runs(answers: Sequence[RunSummary]) -> Table:
    """Return all runs in time order, the latest first; runs without a time come last."""
    ordered = sorted(answers, key=lambda run: (cells.falling(run.started_at), run.run))
    return Table(
        view="runs",
        title="Runs (latest first)",
        columns=cells.shown_where_failed(_RUN_COLUMNS, answers),
        rows=MadeRows(
            len(ordered),
            lambda at: cells.plain_row(_PLAIN_COLUMNS, ordered[at], ("run",)),
            lambda at, outline: _run_row(ordered[at], outline),
        ),
        notes=[RUN_UNITS, *cells.measured_note(answers), *cells.caller_note(answers)],
    )


def _run_row(run: RunSummary, outline: Row) -> Row:
    measures = {"success_rate": run.success, "quality": run.quality}
    record = {**outline.record, "intervals": cells.intervals(measures | cells.caller_intervals(run))}
    display, counts = cells.interval_texts(_RUN_COLUMNS, record), cells.counts_of(run.n, measures)
    [marks] = cells.errored_marks([run])
    return outline._replace(record=record, display=display, counts=counts, severity=marks)


RUNS = ViewSpec(
    name="runs",
    title="Runs",
    help=(
        "What was evaluated when, from which commit, and how many calls were correct and complete.",
        "The latest run comes first; a run starts with its first call.",
        "Drill into a run with flows --where 'run=R'.",
    ),
    order=90,
    show=show_runs,
    rows={"intervals": INTERVALS, "failed": or_null(COUNT)},
    columns=_RUN_COLUMNS,
    order_by="-started_at",
    last=("excluded", "label", "commit", "branch", "written_by"),
    row_kind="run",
    comparable=True,
    words=Words(nouns=("run", "runs"), also="history builds nights"),
    screen=Screen(
        key="7",
        help="What was evaluated when: every run of these calls; press again for more.",
        below="flows",
    ),
)
SPECS = (SPEC, RUNS)
