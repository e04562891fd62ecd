"""List the scores that pages of calls have, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from riff_store.answers.calls import Score, ScoredCall


class ListedScore(NamedTuple):
    """Hold a score beside its call."""

    call: ScoredCall
    score: Score


def listed(pages: Iterable[Sequence[ScoredCall]]) -> list[ListedScore]:
    """Return the scores of all pages in their order."""
    return [ListedScore(call, score) for page in pages for call in page for score in call.scores]
