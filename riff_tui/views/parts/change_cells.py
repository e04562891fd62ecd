"""Show how a success rate changed, with a verdict and a colour only where a test stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.table import Severity
from riff_tui.text.numbers import fixed

if TYPE_CHECKING:
    from riff_store.answers.changes import FlowChange, SuccessChange

_MARKS: dict[str, Severity] = {"worse": "bad", "better": "good"}


def tested(change: SuccessChange | None) -> dict[str, Any]:
    """Return what the test of a change says, as the data formats print it within the record of a row."""
    keys = ("verdict", "p", "p_adjusted")
    return {key: None if change is None else getattr(change, key) for key in keys}


def change_record(change: SuccessChange | None) -> dict[str, Any]:
    """Return a change and what its test says, as the data formats print it within the record of a row."""
    return {
        "change": None if change is None else change.effect,
        "n_before": None if change is None else change.n_before,
        "n_after": None if change is None else change.n_after,
        **tested(change),
    }


def flow_record(moved: FlowChange) -> dict[str, Any]:
    """Return the change of a flow as the data formats print it within another row."""
    return {
        "flow": moved.flow,
        "success_before": moved.before.mean,
        "success_after": moved.after.mean,
        **change_record(moved.change),
    }


def in_short(effect: float, change: SuccessChange) -> str:
    """Return a change as a cell: how large it is, and the verdict where it is more than chance."""
    said = "" if change.verdict == "noise" else f" {change.verdict}"
    return f"{signed(effect)}{said}"


def flows_in_short(moved: Sequence[FlowChange]) -> str:
    """Return the flows that changed as a cell."""
    return ", ".join(f"{flow.flow} {in_short(flow.change.effect, flow.change)}" for flow in moved)


def signed(value: float) -> str:
    """Return a difference of shares in percentage points, with its sign unless it reads as 0."""
    text = fixed(value * 100, 0)
    return f"{'+' if float(text) > 0 else ''}{text} pp"


def mark(change: SuccessChange | None) -> Severity | None:
    """Return the mark of a change, none for one that may be chance."""
    return None if change is None else _MARKS.get(change.verdict)
