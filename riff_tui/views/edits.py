"""Show who changed each flow when, and how good it was before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.shapes import INTERVALS
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import percent
from riff_tui.views.parts import cells, changes, columns
from riff_tui.views.spec import Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.measure import Measure
    from riff_store.queries.edits import EditEffect, FlowOutcome
    from riff_tui.view_query import ViewQuery

UNITS = (
    "Units: before, after share of calls that succeeded (of n) · quality 0-10, higher is better: over the calls of the"
    " agents that led the flow in both runs."
)
TOGETHER = "Edits between the same two runs share their figures: which of them moved the score is unknown (tied)."
NO_PROOF = (
    "change is better or worse only if the success rate changed by more than chance (exact test, corrected over"
    " all edits): riff-tui compare PREVIOUS NEXT --where 'flow=F' tests in pairs."
)
OTHER_JUDGES = "Where other judges scored the run after than the run before, quality has no change: ·."
NO_RUNS = "No run of these flows is known together with the time when it started, so there is no before and no after."
NO_EDITS = "No edits of flows are known yet: riff-tui edits --repo DIR --flows 'flows/{flow}.*' reads them from git."


def _quality(key: str, when: str, help: str, **given: Any) -> Column:
    title, short = f"quality {when}", f"qual {when}"
    return Column(key, title, unit="0-10", better="higher", short=short, help=help, **given)


COLUMNS = (
    columns.FLOW,
    Column(
        "time",
        "Edited (UTC)",
        kind="time",
        help="The author's time of the commit; ? if only that shows which runs contain it.",
    ),
    Column("commit", "Commit", kind="text", help="The commit that touched the flow's file."),
    columns.share(
        "success_change",
        "change",
        better="higher",
        strong=True,
        trim=False,
        help="Success rate after minus before; better or worse if that is more than chance.",
    ),
    columns.share("success_before", "before", better="higher", help="Success rate in the last run without the edit."),
    columns.share("success_after", "after", better="higher", help="Success rate in the first run with the edit."),
    Column("subject", "Subject", kind="text", said=True, help="The first line of its message."),
    _quality("change", "change", "Quality after less before.", decimals=2, trim=True),
    _quality("quality_before", "before", "Quality in the last run without the edit."),
    _quality("quality_after", "after", "Quality in the first run with the edit."),
    Column("author", "Author", kind="text", said=True, help="Who made it."),
    Column("next_run", "Next run", kind="text", help="The first run of the flow that contains the edit."),
    Column("runs", "runs", kind="count", help="Runs of the flow whose last edit it is."),
    Column("together", "tied", kind="count", help="Edits between the same two runs, this one among them."),
    Column("previous_run", "Previous run", kind="text", shown=False, help="The last run before that one, without it."),
    Column(
        "basis",
        "basis",
        kind="text",
        shown=False,
        help="How it is known that runs contain it: by their commit, or by time.",
    ),
    Column("n_before", "n before", kind="count", shown=False, help="Calls behind the figures before."),
    Column("n_after", "n after", kind="count", shown=False, help="Calls behind the figures after."),
    Column("verdict", "verdict", kind="text", shown=False, help="Better or worse after the edit; or noise."),
    Column("p_adjusted", "p adj.", decimals=3, shown=False, help="p of the change of success, over all edits."),
    Column("p", "p", decimals=3, shown=False, help="The two-sided p of this change of success alone."),
    Column("path", "Path", kind="text", shown=False, help="The file that was touched, within its repository."),
)


def show(query: ViewQuery) -> Table:
    """Return the edits; where a filter left none of a store without any, what fills it."""
    from riff_store.queries.edits import edit_effects

    table = query.result(query.parts(), lambda parts: edits(edit_effects(query.store, parts.calls)), recounts=False)
    if query.predicate is None or table.rows or edit_effects(query.store):
        return table
    return table._replace(notes=[NO_EDITS])


def edits(answers: Sequence[EditEffect]) -> Table:
    """Return one row per edit, in the order of the answers."""
    notes = {
        UNITS: True,
        NO_RUNS: not any(effect.previous_run or effect.next_run for effect in answers),
        changes.BY_TIME: any(effect.basis == "time" for effect in answers),
        TOGETHER: any(effect.together > 1 and effect.next_run is not None for effect in answers),
        NO_PROOF: any(effect.change for effect in answers),
        OTHER_JUDGES: any(effect.change and not effect.judged_alike for effect in answers),
    }
    return Table(
        view="edits",
        title="Edits by flow (latest first)",
        columns=COLUMNS,
        rows=[_row(effect) for effect in answers],
        notes=[note for note, applies in notes.items() if applies and answers],
    )


def _row(effect: EditEffect) -> Row:
    edit, before, after = effect.edit, effect.before, effect.after
    measures = _measures(before, "before") | _measures(after, "after")
    record: dict[str, Any] = {
        "flow": edit.flow,
        "commit": edit.commit,
        "time": cells.moment(edit.time),
        **cells.values_of(edit, "author subject path"),
        **cells.values_of(effect, "previous_run next_run runs together basis"),
        "success_before": before and before.success.mean,
        "success_after": after and after.success.mean,
        "success_change": _change(measures, "success"),
        "quality_before": before and before.quality.mean,
        "quality_after": after and after.quality.mean,
        "change": _change(measures, "quality") if effect.judged_alike else None,
        "n_before": before.n if before else 0,
        "n_after": after.n if after else 0,
        **changes.tested(effect.change),
        "intervals": cells.intervals(measures),
    }
    mark = changes.change_mark(effect.change)
    marks: dict[str, Severity] = {"success_change": mark, "": mark} if mark else {}
    display = {
        "commit": edit.commit[: changes.SHORT_COMMIT],
        "time": changes.marked_by_basis(record["time"], effect.basis),
        **{
            key: f"{percent(measure.mean)} ({measure.n}{'~' if cells.is_thin(measure.n) else ''})"
            for key, measure in measures.items()
            if key.startswith("success_") and measure.n
        },
    }
    if effect.change and record["success_change"] is not None:
        display["success_change"] = changes.change_in_short(record["success_change"], effect.change)
    keys = {"flow": edit.flow} if effect.next_run is None else {"flow": edit.flow, "run": effect.next_run}
    thin = before is not None and after is not None and cells.is_thin(min(before.n, after.n))
    return Row(
        cells.where({"flow": edit.flow, "commit": edit.commit}),
        record,
        display,
        severity=marks,
        thin=thin,
        where=cells.where(keys) if effect.previous_run or effect.next_run else "",
    )


def _change(measures: Mapping[str, Measure], figure: str) -> float | None:
    if f"{figure}_before" not in measures or f"{figure}_after" not in measures:
        return None
    before, after = measures[f"{figure}_before"].mean, measures[f"{figure}_after"].mean
    return None if before is None or after is None else after - before


def _measures(outcome: FlowOutcome | None, when: str) -> dict[str, Measure]:
    return {f"success_{when}": outcome.success, f"quality_{when}": outcome.quality} if outcome else {}


SPEC = ViewSpec(
    name="edits",
    title="Edits of flows",
    help=(
        "Who changed which flow when, and its success in the runs around it, to see which edit moved it.",
        "riff-tui edits reads them from git; figures are over the agents that led the flow in both runs.",
        "Drill into the run after an edit with flows --where 'flow=F run=NEXT'.",
    ),
    order=140,
    show=show,
    rows={"intervals": INTERVALS},
    columns=COLUMNS,
    last=("commit", "author", "next_run", "runs", "together"),
    words=Words(nouns=("edit", "edits"), empty=NO_EDITS, empty_store=NO_EDITS, also="git commits changes"),
    screen=Screen(
        key="H",
        help="Who changed the flow when, and its success around it; press again for more.",
        below="flows",
    ),
)
