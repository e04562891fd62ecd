"""List the scores of pages one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tests.surface.store import ScoredCall, ScorePage


class ListedScore(NamedTuple):
    """Describe one score of a call, with the columns of `Scores`."""

    call: ScoredCall
    aspect: str
    judge: str
    judge_name: str
    value: float | None
    judged_at: int | None
    model: str | None
    prompt_hash: str | None
    prompt_version: str | None


def listed(pages: Iterable[ScorePage]) -> list[ListedScore]:
    """Return the scores of all pages in their order, each beside its call."""
    found: list[ListedScore] = []
    for page in pages:
        calls = [call for call in page.calls for _ in range(call.scores)]
        found += (ListedScore(call, *score) for call, *score in zip(calls, *page.scores, strict=True))
    return found
