"""How long did callers wait in a state, over all its turns at once? (metrics.md, section 2)"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import peewee as pw

from riff_store import models as m
from riff_store.answers import PooledLatency
from riff_store.database import Store
from riff_store.predicates import Predicate, Term, all_of
from riff_store.queries.scope import Scope
from riff_store.transcripts import unpacked

MOST_CALLS = 20_000
_CHUNK = 200


class _Event(msgspec.Struct):
    type: str = ""
    state: str | None = None
    latency_ms: float | None = None


class _Document(msgspec.Struct):
    events: list[_Event] = []


def pooled_latency(store: Store, flow: str, state: str, calls: Predicate | None = None) -> PooledLatency | None:
    """The pooled figure of a state, read from the kept transcripts.

    `None` where no transcript with a latency was kept, and for more than `MOST_CALLS` calls, which
    would keep people waiting.
    """
    about = [Term("flow", "=", flow), Term("state", "=", state), *([] if calls is None else [calls])]
    latencies: list[float] = []
    measured = 0
    with store.snapshot():
        keys = _keys(store, all_of(about))
        if len(keys) > MOST_CALLS:
            return None
        for body in _bodies(store, keys):
            found = _in_state(body, state)
            latencies += found
            measured += bool(found)
    if not latencies:
        return None
    return PooledLatency(_percentile(sorted(latencies), 0.95) / 1000, len(latencies), measured)


def _keys(store: Store, about: Predicate | None) -> list[int]:
    call = m.Conversation
    query = call.select(call.id).where(~call.errored, Scope(store).condition(about)).limit(MOST_CALLS + 1)
    return [key for (key,) in store.execute(query)]


def _bodies(store: Store, keys: list[int]) -> Iterator[bytes]:
    kept: pw.ModelSelect[m.Transcript] = m.Transcript.select(m.Transcript.body)
    for start in range(0, len(keys), _CHUNK):
        for (body,) in store.execute(kept.where(m.Transcript.conversation.in_(keys[start : start + _CHUNK]))):
            yield bytes(body)


def _in_state(body: bytes, state: str) -> list[float]:
    """The latencies of the turns in a state; a damaged transcript has none."""
    try:
        document = msgspec.json.decode(unpacked(body), type=_Document)
    except (ValueError, RecursionError):
        return []
    current: str | None = None
    found = []
    for event in document.events:
        if event.type == "state_entered":
            current = event.state
        elif event.type == "turn_complete" and current == state and event.latency_ms is not None:
            found.append(event.latency_ms)
    return [latency for latency in found if latency >= 0]


def _percentile(ranked: list[float], share: float) -> float:
    place = share * (len(ranked) - 1)
    low = int(place)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (ranked[high] - ranked[low]) * (place - low)
