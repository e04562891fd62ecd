"""Draw calls for people to read: some at random, some that failed, some far from what is usual in their flow.

A call's place comes from a keyed hash of its names, so that neither the order of rows nor their keys matter, and a
call that comes in later moves few others. docs/notes.md has the rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from itertools import zip_longest
from statistics import median
from typing import NamedTuple, TypeVar

import msgspec

from riff_store.write.names import CallNames

RANDOM, FAILING, OUTLIER = "random", "failing", "outlier"
STRATA = (RANDOM, FAILING, OUTLIER)
BOTH_WAYS = ("turn_count", "duration_s")
UPWARDS = ("latency_p95", "error_count")
"""The figures that calls can be far out in: above or below what is usual, or above it alone."""
FAR = 3.5
FEWEST = 5
_CONSISTENT = 1.4826
_LEAST_SPREAD = 1.0

Group = TypeVar("Group", bound=Hashable)


class Candidate(NamedTuple):
    """Describe a call that can be drawn; `failed_in` is the state that is blamed, `None` if it did not fail."""

    names: CallNames
    failed_in: str | None = None
    figures: Mapping[str, float | None] = {}


class Drawn(NamedTuple):
    """Describe a call that was drawn; an outlier has the figure it is one in, its value and the median of its flow."""

    names: CallNames
    stratum: str
    figure: str | None = None
    value: float | None = None
    median: float | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """Describe the calls in the order in which they are to be read.

    `lacking` are the strata with fewer calls than were wanted of them, each with how many it has, all of them drawn.
    """

    calls: Sequence[Drawn]
    lacking: Mapping[str, int]


class _Far(NamedTuple):
    distance: float
    drawn: Drawn


def counts_of(mix: Mapping[str, Fraction], n: int) -> dict[str, int]:
    """Share out `n` calls by the parts of a mix: whole numbers, the largest remainders rounded up."""
    total = sum(mix.values())
    exact = {stratum: mix.get(stratum, Fraction(0)) * n / total for stratum in STRATA}
    counts = {stratum: int(share) for stratum, share in exact.items()}
    by_remainder = sorted(STRATA, key=lambda stratum: counts[stratum] - exact[stratum])
    for stratum in by_remainder[: n - sum(counts.values())]:
        counts[stratum] += 1
    return counts


def draw(candidates: Iterable[Candidate], counts: Mapping[str, int], seed: int) -> Draw:
    """Draw as many calls of each stratum, none of them twice; what a stratum lacks is drawn at random as well.

    Those of the random stratum are a random sample of all, whatever the others take, so that shares can be estimated
    from them.
    """
    key = str(seed).encode()
    ranked = sorted(candidates, key=lambda call: (_hash(call.names, key, b"draw"), call.names))
    strata = {FAILING: _failing(ranked), OUTLIER: _outliers(ranked)}
    wanted, at_random = sum(counts.values()), counts[RANDOM]
    while True:
        chosen = {call.names: Drawn(call.names, RANDOM) for call in ranked[:at_random]}
        lacking = {}
        for stratum, members in strata.items():
            found = [each for each in members if each.names not in chosen][: counts[stratum]]
            chosen |= {each.names: each for each in found}
            if len(found) < counts[stratum]:
                lacking[stratum] = len(members)
        if len(chosen) == wanted or at_random >= len(ranked):
            break
        at_random += wanted - len(chosen)
    order = sorted(chosen.values(), key=lambda each: (_hash(each.names, key, b"order"), each.names))
    return Draw(order, lacking)


def _hash(names: CallNames, key: bytes, purpose: bytes) -> bytes:
    return blake2b(msgspec.json.encode(names), digest_size=16, key=key, person=purpose).digest()


def _failing(ranked: Sequence[Candidate]) -> list[Drawn]:
    """Return the failed calls: one of each flow and state that is blamed, the largest group first."""
    groups: dict[tuple[str, str], list[Drawn]] = {}
    for call in ranked:
        if call.failed_in is not None:
            groups.setdefault((call.names.flow, call.failed_in), []).append(Drawn(call.names, FAILING))
    return _in_turns(sorted(groups, key=lambda group: (-len(groups[group]), group)), groups)


def _outliers(ranked: Sequence[Candidate]) -> list[Drawn]:
    """Return the calls that are far out: one of each flow and figure, the farthest first."""
    groups: dict[tuple[str, str], list[_Far]] = {}
    for far in _farthest(ranked).values():
        groups.setdefault((far.drawn.names.flow, far.drawn.figure or ""), []).append(far)
    # Those that are equally far keep the order of their hashes.
    found = {group: sorted(calls, key=lambda far: -far.distance) for group, calls in groups.items()}
    order = sorted(found, key=lambda group: (-found[group][0].distance, group))
    return _in_turns(order, {group: [far.drawn for far in calls] for group, calls in found.items()})


def _farthest(ranked: Sequence[Candidate]) -> dict[CallNames, _Far]:
    """Return of each call that is far out in some figure the one in which it is the farthest."""
    flows: dict[str, list[Candidate]] = {}
    for call in ranked:
        flows.setdefault(call.names.flow, []).append(call)
    found: dict[CallNames, _Far] = {}
    for calls in flows.values():
        for figure in (*BOTH_WAYS, *UPWARDS):
            for far in _far_in(figure, calls):
                known = found.get(far.drawn.names)
                if known is None or far.distance > known.distance:
                    found[far.drawn.names] = far
    return {call.names: found[call.names] for call in ranked if call.names in found}


def _far_in(figure: str, calls: Sequence[Candidate]) -> Iterable[_Far]:
    """Yield the calls of a flow that are more than `FAR` robust standard deviations from its median.

    The deviation is 1.4826 times the median absolute deviation, and at least 1 turn, second or error. A flow with fewer
    than `FEWEST` calls has nothing that is usual.
    """
    measured = [(value, call) for call in calls if (value := call.figures.get(figure)) is not None]
    if len(measured) < FEWEST:
        return
    middle = median(value for value, _ in measured)
    deviation = median(abs(value - middle) for value, _ in measured)
    spread = max(_CONSISTENT * deviation, _LEAST_SPREAD)
    for value, call in measured:
        distance = (value - middle) / spread
        if figure in BOTH_WAYS:
            distance = abs(distance)
        if distance > FAR:
            yield _Far(distance, Drawn(call.names, OUTLIER, figure, value, middle))


def _in_turns(order: Sequence[Group], groups: Mapping[Group, Sequence[Drawn]]) -> list[Drawn]:
    """Return the first of each group, then the second of each, and so on."""
    rounds = zip_longest(*(groups[group] for group in order))
    return [each for turn in rounds for each in turn if each is not None]
