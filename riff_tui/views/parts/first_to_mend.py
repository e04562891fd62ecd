"""Say what to mend first: the state that lost most calls, and what mending it could bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riff_tui.text.numbers import percent

if TYPE_CHECKING:
    from riff_store.answers.cells import FirstToMend


def what_is_first(first: FirstToMend | None) -> dict[str, Any]:
    """Return what a table says of the state that lost most calls, and what mending it could bring."""
    if first is None:
        return {"extras": {"first": None}}
    headline = f"{first.flow}/{first.state} lost {first.lost:,} of {first.n:,} calls"
    lead = f"{headline} ({_by_whom(first)})"
    if first.completion is not None:
        rise = f"from {_percent(first.completion)} to at most {_percent(first.completion_at_most)}"
        lead += f"; mended, completion could rise {rise}"
    return {"headline": headline, "lead": f"{lead}.", "extras": {"first": _first_record(first)}}


def _by_whom(first: FirstToMend) -> str:
    if len(first.agents) == 1:
        return f"agent {first.agents[0]}"
    if len(first.losing) == len(first.agents):
        return "all agents"
    return f"{len(first.losing)} of {len(first.agents)} agents"


def _percent(share: float | None) -> str:
    return percent(share).replace("%", " %")


def _first_record(first: FirstToMend) -> dict[str, Any]:
    keys = ("flow", "state", "lost", "n", "completion", "completion_at_most", "agents", "losing")
    return {key: getattr(first, key) for key in keys}
