"""Say how calls took a step that their tasks ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from riff_tui.text.numbers import percent
from riff_tui.views.parts import cells, columns

if TYPE_CHECKING:
    from riff_store.answers.steps import StepCounts


def record_of(counts: StepCounts | None) -> dict[str, Any]:
    """Return what a state's record says of the step that it is; all of it is `None` where no task asks for it."""
    if counts is None:
        return dict.fromkeys(column.key for column in columns.STEPS)
    return {
        "by": counts.by,
        "expected": counts.expected,
        "missed": counts.missed_share,
        "wrong_args": counts.wrong_share,
        "expected_failed": counts.failed,
        "missed_failed": counts.missed_failed_share,
        "wrong_failed": counts.wrong_failed_share,
    }


def leads(names: Mapping[str, str | None], counts: StepCounts | None) -> str:
    """Return the filter of the calls that missed a step or took it wrongly, nothing where no failed call did."""
    if counts is None or not (counts.missed_failed or counts.wrong_failed):
        return ""
    field = "missed_step" if counts.missed_failed else "wrong_step"
    return cells.where({field if key == "state" else key: name for key, name in names.items()})


def failed_text(counts: StepCounts) -> str:
    """Return how failed calls took a step: missed, or with other arguments where none of them missed it."""
    return missed_text(counts) if counts.missed_failed else wrong_text(counts)


def missed_text(counts: StepCounts) -> str:
    """Return in how many of the failed calls that should have taken a step it was missed."""
    return f"never called in {counts.missed_failed:,} of {counts.failed:,} failed calls that should have"


def wrong_text(counts: StepCounts) -> str:
    """Return in how many of the failed calls that should have taken a step it got other arguments than the task's."""
    return f"called with wrong arguments in {counts.wrong_failed:,} of {counts.failed:,} failed calls"


def short_text(counts: StepCounts) -> str:
    """Return the same as `failed_text` in a few words."""
    how, n = ("missed", counts.missed_failed) if counts.missed_failed else ("wrong arguments", counts.wrong_failed)
    return f"{how} in {n:,} of {counts.failed:,} failed calls"


def asked_text(counts: StepCounts) -> str:
    """Return in how many calls tasks ask for a step, and how these took it."""
    missed, wrong = (percent(share) for share in (counts.missed_share, counts.wrong_share))
    text = (
        f"Tasks ask the {counts.by} for it in {calls_text(counts.expected)}: missed {missed}, wrong arguments {wrong}"
    )
    return f"{text}; of {calls_text(counts.failed, 'failed ')} {counts.missed_failed:,} missed it."


def calls_text(n: int, which: str = "") -> str:
    """Return a number of calls."""
    return f"{n:,} {which}call{'' if n == 1 else 's'}"
