"""Show who changed each flow when, and how good it was before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.table import Column, Row, Severity, Table
from riff_tui.views.parts import cells, columns, edit_cells
from riff_tui.views.spec import ViewSpec

if TYPE_CHECKING:
    from riff_store.answers.edits import EditEffect

UNITS = (
    "Units: before, after 0-10, higher is better: mean operability without any judge, over the agents that led the flow"
    " in both runs."
)
TOGETHER = "Edits between the same two runs share their figures: which of them moved the score cannot be told (tied)."
NO_PROOF = "Two runs differ by chance as well: riff-tui compare PREVIOUS NEXT --where 'flow=F' says whether these do."
NO_RUNS = "No run of these flows is known together with the time when it started, so there is no before and no after."
NO_EDITS = "No edits of flows are known yet: riff-tui edits --repo DIR --flows 'flows/{flow}.*' reads them from git."
COLUMNS = (
    columns.FLOW,
    Column(
        "time",
        "Edited (UTC)",
        kind="time",
        help="The author's time of the commit; ? where only that tells which runs contain it.",
    ),
    Column("commit", "Commit", kind="text", help="The commit that touched the flow's file."),
    Column("change", "change", better="higher", decimals=2, trim=True, strong=True, help="Quality after less before."),
    Column("quality_before", "before", unit="0-10", better="higher", help="Quality in the last run without the edit."),
    Column("quality_after", "after", unit="0-10", better="higher", help="Quality in the first run with the edit."),
    Column("subject", "Subject", kind="text", help="The first line of its message."),
    Column("author", "Author", kind="text", help="Who made it."),
    Column("next_run", "Next run", kind="text", help="The first run of the flow that contains the edit."),
    Column("runs", "runs", kind="count", help="Runs of the flow whose last edit it is."),
    Column("together", "tied", kind="count", help="Edits between the same two runs, this one among them."),
    Column("previous_run", "Previous run", kind="text", shown=False, help="The last run before that one, without it."),
    Column("basis", "basis", kind="text", shown=False, help="What tells that runs contain it: their commit, or time."),
    Column("n_before", "n before", kind="count", shown=False, help="Calls behind the quality before."),
    Column("n_after", "n after", kind="count", shown=False, help="Calls behind the quality after."),
    Column("path", "Path", kind="text", shown=False, help="The file that was touched, within its repository."),
)


def edits(answers: Sequence[EditEffect]) -> Table:
    """Return one row per edit, in the order of the answers."""
    compared = any(_change(effect) is not None for effect in answers)
    tied = any(effect.together > 1 and effect.next_run is not None for effect in answers)
    placed = any(effect.previous_run or effect.next_run for effect in answers)
    alone = [NO_RUNS] if answers and not placed else []
    by_time = [edit_cells.BY_TIME] if any(effect.basis == "time" for effect in answers) else []
    return Table(
        view="edits",
        title="Edits by flow (latest first)",
        columns=COLUMNS,
        rows=[_row(effect) for effect in answers],
        notes=[UNITS, *alone, *by_time, *([TOGETHER] if tied else []), *([NO_PROOF] if compared else [])]
        if answers
        else [],
    )


def _row(effect: EditEffect) -> Row:
    edit, change = effect.edit, _change(effect)
    record: dict[str, Any] = {
        "flow": edit.flow,
        "commit": edit.commit,
        "time": cells.moment(edit.time),
        "author": edit.author,
        "subject": edit.subject,
        "path": edit.path,
        "previous_run": effect.previous_run,
        "next_run": effect.next_run,
        "runs": effect.runs,
        "together": effect.together,
        "basis": effect.basis,
        "quality_before": effect.before,
        "quality_after": effect.after,
        "change": change,
        "n_before": effect.n_before,
        "n_after": effect.n_after,
    }
    marks: dict[str, Severity] = {}
    if change is not None and change <= cells.FELL:
        marks["change"] = marks[""] = "bad" if change <= cells.FELL_FAR else "warn"
    keys = {"flow": edit.flow} if effect.next_run is None else {"flow": edit.flow, "run": effect.next_run}
    thin = change is not None and cells.is_thin(min(effect.n_before, effect.n_after))
    return Row(
        cells.where({"flow": edit.flow, "commit": edit.commit}),
        record,
        display={
            "commit": edit.commit[: edit_cells.SHORT_COMMIT],
            "time": edit_cells.marked(record["time"], effect.basis),
        },
        severity=marks,
        thin=thin,
        where=cells.where(keys) if effect.previous_run or effect.next_run else "",
    )


def _change(effect: EditEffect) -> float | None:
    if effect.before is None or effect.after is None:
        return None
    return effect.after - effect.before


SPEC = ViewSpec(
    name="edits",
    title="Edits of flows",
    help=(
        "Who changed which flow when, and its quality in the runs around it, to see which edit moved the score.",
        "riff-tui edits reads them from git; quality is (computed), over the agents that led the flow in both.",
        "Drill into the run after an edit with flows --where 'flow=F run=NEXT'.",
    ),
    order=140,
    key="H",
    key_help="Who changed the flow when, and its quality around it; press again to widen.",
    query="riff_store.queries.edits:edit_effects",
    build=edits,
    finish="riff_tui.view_queries.edits:explain_empty",
    recounts=False,
    columns=COLUMNS,
    nouns=("edit", "edits"),
    empty_store=NO_EDITS,
    below="flows",
    last=("commit", "author", "next_run", "runs", "together"),
)
