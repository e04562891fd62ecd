"""Show how a success rate changed, and the edit behind it, within the row of something else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.shapes import COUNT, TEXT, TIME, numbers, or_null, record
from riff_tui.table import Severity
from riff_tui.text.numbers import signed, utc
from riff_tui.views.parts import cells

if TYPE_CHECKING:
    from riff_store.queries.last_edits import Basis, LastEdit
    from riff_store.queries.quality import FlowChange, SuccessChange


MARKS: dict[str, Severity] = {"worse": "bad", "better": "good"}


def tested(change: SuccessChange | None) -> dict[str, Any]:
    """Return the result of the test of a change, as the data formats print it within the record of a row."""
    fields = "verdict p p_adjusted"
    return dict.fromkeys(fields.split()) if change is None else cells.values_of(change, fields)


def change_record(change: SuccessChange | None) -> dict[str, Any]:
    """Return a change and the result of its test, as the data formats print it within the record of a row."""
    return {
        "change": None if change is None else change.effect,
        "n_before": None if change is None else change.n_before,
        "n_after": None if change is None else change.n_after,
        **tested(change),
    }


CHANGE_OF_FLOW = record(
    {
        "flow": TEXT,
        **numbers(("success_before", "success_after", "change", "p", "p_adjusted")),
        **dict.fromkeys(("n_before", "n_after"), or_null(COUNT)),
        "verdict": or_null(TEXT),
    }
)
"""What JSON has of the change of a flow."""


def flow_record(moved: FlowChange) -> dict[str, Any]:
    """Return the change of a flow as the data formats print it within another row."""
    return {
        "flow": moved.flow,
        "success_before": moved.before.mean,
        "success_after": moved.after.mean,
        **change_record(moved.change),
    }


def change_in_short(effect: float, change: SuccessChange) -> str:
    """Return a change as a cell: how large it is, and the verdict where it is more than chance."""
    return f"{signed(effect * 100, 0)} pp{'' if change.verdict == 'noise' else f' {change.verdict}'}"


def flows_in_short(moved: Sequence[FlowChange]) -> str:
    """Return the flows that changed as a cell."""
    return ", ".join(f"{flow.flow} {change_in_short(flow.change.effect, flow.change)}" for flow in moved)


def change_mark(change: SuccessChange | None) -> Severity | None:
    """Return the mark of a change, none for one that may be chance."""
    return None if change is None else MARKS.get(change.verdict)


SHORT_COMMIT, SHORT_SUBJECT = 7, 40
BY_TIME = (
    "Edits with ? go by time: the run's commit is in no history that riff-tui edits has read;"
    " fetch it and run that again."
)


EDIT = record({**dict.fromkeys(("flow", "commit", "author", "subject", "basis"), TEXT), "time": TIME})
"""What JSON has of an edit within another row."""


def edit_record(last: LastEdit | None) -> dict[str, Any] | None:
    """Return an edit as the data formats print it within another row."""
    if last is None:
        return None
    found = cells.values_of(last.edit, "flow commit time author subject") | {"basis": last.basis}
    return found | {"time": cells.moment(last.edit.time)}


def edit_in_short(last: LastEdit, *, with_flow: bool = False) -> str:
    """Return an edit as a cell: its day, the start of its commit and of its subject."""
    edit = last.edit
    text = f"{edit.flow}: {edit.subject}" if with_flow else edit.subject
    cut = text if len(text) <= SHORT_SUBJECT else f"{text[: SHORT_SUBJECT - 1]}…"
    return f"{utc(edit.time)[:10]} {marked_by_basis(edit.commit[:SHORT_COMMIT], last.basis)} {cut}"


def marked_by_basis(text: str, basis: Basis | None) -> str:
    """Return what represents an edit, with a sign where only its time shows which runs contain it."""
    return f"{text}?" if basis == "time" else text


def edit_notes(found: Iterable[LastEdit | None]) -> list[str]:
    """Return what there is to report about edits in cells: that some are known by time."""
    return [BY_TIME] if any(last is not None and last.basis == "time" for last in found) else []
