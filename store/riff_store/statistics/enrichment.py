"""Test whether a name is in a group of calls more often than a draw by chance would bring it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from riff_store.statistics.distributions import hypergeometric


class Draw(NamedTuple):
    """Describe a group as a draw: `hits` of its `drawn` calls have a name that `marked` of all `calls` have."""

    hits: int
    drawn: int
    marked: int
    calls: int


def is_likely(hits: int, drawn: int, marked: int, calls: int) -> bool:
    """Say whether there are no more hits than such draws have on average.

    The chance of at least so many is above a half there, as the median of hits lies between the whole numbers around
    their mean, and counts as 1.
    """
    return hits <= drawn * marked // calls


def over_represented(draws: Sequence[Draw]) -> list[float]:
    """Return for each draw the chance of at least so many hits (hypergeometric, the one-sided test of Fisher).

    It is 1 of a likely one.
    """
    chances = {draw: _chance(draw) for draw in set(draws)}
    return [chances[draw] for draw in draws]


def _chance(draw: Draw) -> float:
    hits, drawn, marked, calls = draw
    if is_likely(*draw):
        return 1.0
    return min(1.0, hypergeometric(drawn, marked, calls, hits).at_least(hits))
