"""Say what to mend first: the state behind most failed calls, and what mending it could bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riff_tui.text.numbers import percent
from riff_tui.views.parts import steps

if TYPE_CHECKING:
    from riff_store.answers.cells import FirstToMend
    from riff_store.answers.steps import StepCounts

_FIGURES = ("flow", "state", "lost", "n", "completion", "completion_at_most", "agents", "losing")
_FIGURES_OF_STEPS = ("success_rate", "success_rate_at_most")


def what_is_first(first: FirstToMend | None) -> dict[str, Any]:
    """Return what a table says of the state behind most failed calls, and what mending it could bring."""
    if first is None:
        return {"extras": {"first": None}}
    if first.steps is not None:
        return _what_was_missed(first, first.steps)
    headline = f"{first.flow}/{first.state} lost {first.lost:,} of {first.n:,} calls"
    lead = f"{headline} ({_by_whom(first)})"
    if first.completion is not None:
        rise = f"from {_percent(first.completion)} to at most {_percent(first.completion_at_most)}"
        lead += f"; mended, completion could rise {rise}"
    return {"headline": headline, "lead": f"{lead}.", "extras": {"first": _first_record(first)}}


def _what_was_missed(first: FirstToMend, counts: StepCounts) -> dict[str, Any]:
    lead = f"{first.flow}/{first.state} was {steps.failed_text(counts)} ({_by_whom(first)})"
    if first.success_rate is not None:
        rise = f"from {_percent(first.success_rate)} to at most {_percent(first.success_rate_at_most)}"
        lead += f"; mended, success could rise {rise}"
    return {
        "headline": f"{first.flow}/{first.state} {steps.short_text(counts)}",
        "lead": f"{lead}.",
        "extras": {"first": _first_record(first) | steps.record_of(counts)},
    }


def _by_whom(first: FirstToMend) -> str:
    if len(first.agents) == 1:
        return f"agent {first.agents[0]}"
    if len(first.losing) == len(first.agents):
        return "all agents"
    return f"{len(first.losing)} of {len(first.agents)} agents"


def _percent(share: float | None) -> str:
    return percent(share).replace("%", " %")


def _first_record(first: FirstToMend) -> dict[str, Any]:
    return {key: getattr(first, key) for key in (*_FIGURES, *(() if first.steps is None else _FIGURES_OF_STEPS))}
