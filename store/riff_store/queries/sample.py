"""Find calls to draw from for reading, and read the list of those that were drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.notes import calls_named, codes_of
from riff_store.filters.predicates import Predicate
from riff_store.filters.sql import Scope
from riff_store.queries.codes import calls_since_new_code
from riff_store.queries.conversations import Call, calls_of
from riff_store.reading_list import KeptList, Sample, kept_list
from riff_store.sampling import Candidate, Drawn
from riff_store.vocabulary import NONE_FOUND
from riff_store.write.names import CallNames

_ASPECTS = ("turn_count", "latency_p95")
_COLUMNS = ("duration_s", "error_count")


@dataclass(frozen=True, slots=True)
class SampledCall:
    """Describe a call of the list: `position` counts from 1, `call` is `None` where the store has it no more."""

    position: int
    drawn: Drawn
    call: Call | None

    @property
    def is_read(self) -> bool:
        """Return whether anybody noted something on it."""
        return self.call is not None and bool(self.call.notes)


@dataclass(frozen=True, slots=True)
class ReadingList:
    """Hold the calls in the order in which they are to be read.

    `codes` are those that people gave them; no code is new in the `since_new` calls that were read last.
    """

    sample: Sample
    calls: Sequence[SampledCall]
    codes: int
    since_new: int

    @property
    def read(self) -> int:
        """Return how many calls were read."""
        return sum(each.is_read for each in self.calls)

    @property
    def gone(self) -> int:
        """Return how many calls the store has no more."""
        return sum(each.call is None for each in self.calls)


def candidates(store: Store, calls: Predicate | None = None) -> list[Candidate]:
    """Return the calls that can be drawn: those in scope that are not errored.

    Where a call failed is as it was computed, so that what people note on calls changes no draw.
    """
    call, failure = m.Conversation, m.CallFailure
    scores = [m.AspectScore.alias() for _ in _ASPECTS]
    aspects = {name: key for key, name in store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name))}
    query = (
        call.select(
            m.Run.name, m.Flow.name, m.Agent.name, call.name, call.trial, call.success, m.State.name,
            *(getattr(call, name) for name in _COLUMNS), *(score.value for score in scores),
        )
        .join(m.Run, on=(m.Run.id == call.run))
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
        .join(failure, pw.JOIN.LEFT_OUTER, on=(failure.conversation == call.id))
        .join(m.State, pw.JOIN.LEFT_OUTER, on=(m.State.id == failure.state))
    )  # fmt: skip
    for name, score in zip(_ASPECTS, scores, strict=True):
        mine = (score.conversation == call.id) & (score.judge == m.COMPUTED_JUDGE)
        query = query.join(score, pw.JOIN.LEFT_OUTER, on=(mine & (score.aspect == aspects.get(name, 0))))
    found = []
    for row in store.execute(query.where(~call.errored, Scope(store).condition(calls))):
        success, state, *figures = row[5:]
        failed_in = (state or NONE_FOUND) if success == 0 else None
        measured = dict(zip((*_COLUMNS, *_ASPECTS), figures, strict=True))
        found.append(Candidate(CallNames(*row[:5]), failed_in, measured))
    return found


def reading_list(store: Store, listed: KeptList | None = None) -> ReadingList | None:
    """Return a reading list with its calls as the store has them, of the list that it keeps unless one is given."""
    with store.snapshot():
        kept = listed or kept_list(store)
        if kept is None:
            return None
        found = calls_named(store, (drawn.names for drawn in kept.calls))
        # Names that are all given are those of one call at most.
        keys = [next(iter(found[drawn.names]), None) for drawn in kept.calls]
        calls = {call.id: call for call in calls_of(store, [key for key in keys if key is not None])}
    notes = {key: call.notes for key, call in calls.items() if call.notes}
    codes = {code for written in notes.values() for code in codes_of(written)}
    entries = [
        SampledCall(place, drawn, None if key is None else calls.get(key))
        for place, (drawn, key) in enumerate(zip(kept.calls, keys, strict=True), 1)
    ]
    return ReadingList(kept.sample, entries, len(codes), calls_since_new_code(notes))
