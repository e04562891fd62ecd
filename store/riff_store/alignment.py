"""Compare what a judge says about calls with what people say about them (docs/statistics.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from riff_store.measure import UNIT, Measure


class Reference(NamedTuple):
    """Describe whether people let a call pass, as far as they say the same, and the calls on which they do not."""

    passed: Mapping[int, bool]
    disputed: Set[int]


class Rates(NamedTuple):
    """Keep how often a judge says what people say: `tpr` of the calls that they fail, `tnr` of those that they pass.

    What a judge is there to find is positive: the calls that fail.
    """

    tpr: Measure
    tnr: Measure


def reference_of(verdicts: Iterable[Mapping[int, bool]]) -> Reference:
    """Return the verdict on each call of all the people who gave one."""
    found: dict[int, bool] = {}
    disputed: set[int] = set()
    for given in verdicts:
        disputed |= {call for call, passed in given.items() if found.setdefault(call, passed) != passed}
    return Reference({call: passed for call, passed in found.items() if call not in disputed}, disputed)


def rates(says: Mapping[int, bool], people: Mapping[int, bool]) -> Rates:
    """Return the true positive and the true negative rate of a judge over the calls of which people speak as well."""
    shared = says.keys() & people.keys()
    return Rates(
        *(_rate([says[call] for call in shared if people[call] is passed], passed) for passed in (False, True))
    )


def _rate(said: list[bool], wanted: bool) -> Measure:
    hits = said.count(wanted)
    return Measure(len(said), hits * UNIT, hits, rate=True)


# Define when a score passes a call, and how few shared calls show nothing (docs/statistics.md).
FEWEST = 3
HUMAN = 5.0
"""From this humanness on a judge is taken to say that the call passes."""
PASSED = 10.0
"""The correctness of a call that passes."""
