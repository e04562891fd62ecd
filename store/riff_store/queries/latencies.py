"""Pool the latencies of all turns in a state."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.conditions import one_of
from riff_store.filters.predicates import Predicate, Term, all_of
from riff_store.filters.sql import Scope
from riff_store.measure import percentile
from riff_store.queries.sums import reads_columns
from riff_store.transcripts import Transcripts

MOST_CALLS = 20_000
CHUNK = 200
PROBED = 5_000


@dataclass(frozen=True, slots=True)
class Bucket:
    """Count the values from `low` up to but not at `high`; the last bucket may have no end."""

    low: float
    high: float | None
    count: int


@dataclass(frozen=True, slots=True)
class PooledLatency:
    """Describe the latencies in seconds of all turns in a state, as far as transcripts were kept.

    `turns` with a latency come from `calls`, those from `kept` transcripts. If these are `too_many` to be read, and if
    they have no latency, the percentiles are None and there are no buckets. `spoken` are the turns of the agent there,
    with a latency or without.
    """

    p50: float | None
    p95: float | None
    p99: float | None
    turns: int
    calls: int
    kept: int
    too_many: bool = False
    buckets: Sequence[Bucket] = ()
    spoken: int = 0


class _Event(msgspec.Struct):
    type: str = ""
    state: str | None = None
    latency_ms: float | None = None


class _Document(msgspec.Struct):
    events: list[_Event] = []


class LatencyReading:
    """Read the kept transcripts of a state's calls step by step, since a large cell takes a while.

    `kept` is how many there are to read. If they are more than `MOST_CALLS`, none is read.
    """

    def __init__(self, store: Store, flow: str, state: str, calls: Predicate | None = None) -> None:
        about = [Term("flow", "=", flow), Term("state", "=", state), *([] if calls is None else [calls])]
        self._store = store
        self._state = state
        self._keys = _keys(store, all_of(about))
        self._latencies: list[float] = []
        self._measured = 0
        self._spoken = 0

    @property
    def kept(self) -> int:
        """Return the number of transcripts to read, counted no further than `MOST_CALLS`."""
        return len(self._keys)

    @property
    def too_many(self) -> bool:
        """Return whether there are more than anybody should wait for."""
        return self.kept > MOST_CALLS

    def steps(self) -> Iterator[int]:
        """Read them; after each step how many have been read so far."""
        if self.too_many:
            return
        for start in range(0, self.kept, CHUNK):
            for document in _documents(self._store, self._keys[start : start + CHUNK]):
                turns = _in_state(document, self._state)
                found = [latency for latency in turns if latency is not None and latency >= 0]
                self._latencies += found
                self._measured += bool(found)
                self._spoken += len(turns)
            yield min(start + CHUNK, self.kept)

    def answer(self) -> PooledLatency:
        """Return the latencies that were read so far."""
        ranked = sorted(self._latencies)
        shares = [percentile(ranked, share) / 1000 for share in (0.50, 0.95, 0.99)] if ranked else [None] * 3
        return PooledLatency(
            p50=shares[0],
            p95=shares[1],
            p99=shares[2],
            turns=len(ranked),
            calls=self._measured,
            kept=self.kept,
            too_many=self.too_many,
            buckets=buckets([latency / 1000 for latency in ranked]),
            spoken=self._spoken,
        )


def _keys(store: Store, about: Predicate | None) -> list[int]:
    call, kept = m.Conversation, m.Transcript
    if not store.execute(kept.select(pw.SQL("1")).limit(1)):
        return []
    if reads_columns(store, about):
        return _first_kept(store, about)
    query = call.select(call.id).join(kept, on=(kept.conversation == call.id))
    query = query.where(~call.errored, Scope(store).condition(about)).limit(MOST_CALLS + 1)
    return [key for (key,) in store.execute(query)]


def _first_kept(store: Store, about: Predicate | None) -> list[int]:
    """Return the keys of the first of very many calls that have a transcript."""
    from riff_store.arrays.reading import read_calls

    calls, kept = read_calls(store, about).keys("id").tolist(), m.Transcript
    found: list[int] = []
    for start in range(0, len(calls), PROBED):
        some = one_of(kept.conversation, calls[start : start + PROBED])
        found += [key for (key,) in store.execute(kept.select(kept.conversation).where(some))]
        if len(found) > MOST_CALLS:
            break
    return found[: MOST_CALLS + 1]


def _documents(store: Store, keys: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the transcripts of calls; a damaged one has nothing in it."""
    kept, transcripts = m.Transcript, Transcripts(store)
    for body, dictionary in store.execute(kept.select(kept.body, kept.dictionary).where(kept.conversation.in_(keys))):
        try:
            yield transcripts.document(body, dictionary)
        except ValueError:
            yield {}


def latencies_by_call(store: Store, calls: Sequence[int]) -> list[list[float]]:
    """Return the latencies in seconds of the agent's turns in each of some calls; none if no transcript is kept."""
    kept, transcripts = m.Transcript, Transcripts(store)
    found: dict[int, list[float]] = {}
    for start in range(0, len(calls), PROBED):
        some = one_of(kept.conversation, calls[start : start + PROBED])
        rows = store.execute(kept.select(kept.conversation, kept.body, kept.dictionary).where(some))
        for call, body, dictionary in rows:
            try:
                document = msgspec.convert(transcripts.document(body, dictionary), _Document)
            except ValueError:
                continue
            of_turns = (event.latency_ms for event in document.events if event.type == "turn_complete")
            found[call] = [latency / 1000 for latency in of_turns if latency is not None and latency >= 0]
    return [found.get(call, []) for call in calls]


def _in_state(transcript: dict[str, Any], state: str) -> list[float | None]:
    """Return the latency in milliseconds of each turn in a state, if it has one; a damaged transcript has no turns."""
    try:
        document = msgspec.convert(transcript, _Document)
    except msgspec.ValidationError:
        return []
    current: str | None = None
    found = []
    for event in document.events:
        if event.type == "state_entered":
            current = event.state
        elif event.type == "turn_complete" and current == state:
            found.append(event.latency_ms)
    return found


# Sort positive values that spread over orders of magnitude, such as latencies, into buckets.
MOST = 12
_SMALLEST, _LARGEST = 1e-3, 1e9
# Steps within one power of ten, the finest first; every edge is a number that people use.
_STEPS = (
    (1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0),
    (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
    (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    (1.0, 2.0, 5.0),
    (1.0, 3.0),
    (1.0,),
)
_TAIL = 0.01


def buckets(ranked: Sequence[float]) -> list[Bucket]:
    """Sort values of 0 or more into at most twelve buckets, as fine as the middle 98 % of them need.

    The first begins at 0 if values are below its round edge, the last has no end where they are above.
    """
    if not ranked:
        return []
    edges = _edges(ranked)
    if ranked[0] < edges[0]:
        edges = [0.0, *edges]
    counts = [0] * len(edges)
    for value in ranked:
        counts[bisect_right(edges, value) - 1] += 1
    ends: list[float | None] = [*edges[1:], None]
    found = [Bucket(low, high, count) for low, high, count in zip(edges, ends, counts, strict=True)]
    while not found[-1].count:
        found.pop()
    return found


def _edges(ranked: Sequence[float]) -> list[float]:
    """Return round numbers around the middle of the values, in the finest steps that are few enough."""
    tails = (0.0, _TAIL, 1 - _TAIL, 1.0)
    bottom, low, high, top = (min(max(_SMALLEST, percentile(ranked, share)), _LARGEST) for share in tails)

    def few(first: int, last: int) -> bool:
        return last - first + (ranked[0] < series[first]) + (ranked[-1] >= series[last]) <= MOST

    for steps in _STEPS:
        series = _series(steps, bottom, top)
        first, last = bisect_right(series, low) - 1, bisect_right(series, high)
        if few(first, last):
            break
    last = min(last, first + MOST - 2)
    # If there is room for all of a tail, it is in buckets like the others.
    above, below = bisect_right(series, top), bisect_right(series, bottom) - 1
    last = above if few(first, above) else last
    first = below if few(below, last) else first
    return series[first : last + 1]


def _series(steps: Sequence[float], low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)) - 1, math.floor(math.log10(high)) + 2)
    # Below 1 it is divided by a power of ten, since 3 * 0.1 is not 0.3.
    return [round(step * 10**power if power >= 0 else step / 10**-power, 9) for power in powers for step in steps]
