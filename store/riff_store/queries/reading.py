"""Ask which calls people are to read, and what they wrote went wrong in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.conditions import one_of
from riff_store.filters.notes import Note, calls_named, codes_of, notes_by_call
from riff_store.filters.predicates import Predicate
from riff_store.filters.sql import Scope
from riff_store.measure import UNIT, Measure
from riff_store.queries.calls import Example, Examples, ReadCall
from riff_store.queries.conversations import Call, calls_of
from riff_store.reading_list import KeptList, Sample, kept_list
from riff_store.sampling import Candidate, Drawn
from riff_store.vocabulary import NONE_FOUND
from riff_store.write.names import CallNames

_ASPECTS = ("turn_count", "latency_p95")
_COLUMNS = ("duration_s", "error_count")


@dataclass(frozen=True, slots=True)
class SampledCall:
    """Describe a call of the list: `position` counts from 1, `call` is `None` if the store has it no more."""

    position: int
    drawn: Drawn
    call: Call | None

    @property
    def is_read(self) -> bool:
        """Return whether anybody noted something on it."""
        return self.call is not None and bool(self.call.notes)


@dataclass(frozen=True, slots=True)
class ReadingList:
    """Describe the calls in the order in which they are to be read.

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

    If a call failed is as it was computed, so that what people note on calls changes no draw.
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


# Count the codes that people gave calls.
@dataclass(frozen=True, slots=True)
class Code:
    """Describe a code: `n` calls have it from anybody, and `errored` ones that errored, which count nowhere else.

    `share` is over the calls that people failed, of which `failed_calls` have it. `states`, `agents`, `flows` and
    `authors` count calls by name, the most first; without a state the code is of the whole call. `first_at` and
    `last_at` show when it was given, in microseconds since the epoch.
    """

    code: str
    n: int
    errored: int
    failed_calls: int
    share: Measure
    states: Mapping[str | None, int]
    agents: Mapping[str | None, int]
    flows: Mapping[str | None, int]
    authors: Mapping[str | None, int]
    first_at: int | None
    last_at: int | None
    example: Example


@dataclass(frozen=True, slots=True)
class Codes:
    """Describe the codes, those of the most calls first, and the calls that people read: those with any note.

    Of these people failed `failed`, `uncoded` of them without a code for why; `errored` ones with a code are in
    neither. No code is new in the last `since_new` calls.
    """

    codes: Sequence[Code]
    read: int
    failed: int
    uncoded: int
    errored: int
    since_new: int


def codes(store: Store, calls: Predicate | None = None) -> Codes:
    """Return the codes of such calls, those of the most calls first (docs/metrics.md, section 17)."""
    with store.snapshot():
        notes = notes_by_call(store)
        read = _read_calls(store, notes, calls)
        coded: dict[str, dict[ReadCall, list[Note]]] = {}
        for call in read:
            for note in notes[call.id]:
                if note.code is not None:
                    coded.setdefault(note.code, {}).setdefault(call, []).append(note)
        # An errored call is as an example if there is no other.
        groups = {code: [call for call in given if not call.errored] or given for code, given in coded.items()}
        examples = Examples(store).shortest(groups)
    failed = {call.id for call in read if not call.errored and is_failed(notes[call.id])}
    found = [_code(code, given, failed, examples[code]) for code, given in coded.items()]
    return Codes(
        codes=sorted(found, key=lambda each: (-each.n, -each.errored, each.code.casefold(), each.code)),
        read=len(read),
        failed=len(failed),
        uncoded=sum(all(note.code is None for note in notes[key]) for key in failed),
        errored=len({call for given in coded.values() for call in given if call.errored}),
        since_new=calls_since_new_code({call.id: notes[call.id] for call in read}),
    )


def is_failed(notes: Iterable[Note]) -> bool:
    """Return whether a person failed a call: by a verdict, or by a code without any."""
    given = list(notes)
    judged = {note.author for note in given if note.verdict is not None}
    return any(note.verdict == "fail" or (note.code is not None and note.author not in judged) for note in given)


def calls_since_new_code(notes_by_call: Mapping[int, Sequence[Note]]) -> int:
    """Count the calls that were read since one brought a code that none had before, all of them without any code.

    Calls were read in the order of their first notes.
    """
    # Notes without a time count as the earliest.
    read = sorted(filter(None, notes_by_call.values()), key=lambda it: (-1 if it[0].at is None else it[0].at, it[0].id))
    known: set[str] = set()
    since = 0
    for notes in read:
        given = {note.code for note in notes if note.code is not None}
        since = 0 if given - known else since + 1
        known |= given
    return since


def _read_calls(store: Store, notes: Mapping[int, Sequence[Note]], calls: Predicate | None) -> list[ReadCall]:
    """Return the calls in scope that have any note, in the order of their keys."""
    call, score = m.Conversation, m.AspectScore
    turn_count = m.Aspect.select(m.Aspect.id).where(m.Aspect.name == "turn_count")
    scored = (score.conversation == call.id) & (score.judge == m.COMPUTED_JUDGE) & (score.aspect == turn_count)
    query = (
        call.select(call.id, call.run, m.Flow.name, m.Agent.name, call.name, call.errored, score.value, call.duration_s)
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
        .join(score, pw.JOIN.LEFT_OUTER, on=scored)
        .where(one_of(call.id, notes), Scope(store).condition(calls))
        .order_by(call.id)
    )
    return [ReadCall._make(row) for row in store.execute(query)]


def _code(code: str, given: Mapping[ReadCall, Sequence[Note]], failed: set[int], example: Example) -> Code:
    counting = {call: notes for call, notes in given.items() if not call.errored}
    hits = sum(call.id in failed for call in counting)
    moments = [note.at for notes in given.values() for note in notes if note.at is not None]
    return Code(
        code=code,
        n=len(counting),
        errored=len(given) - len(counting),
        failed_calls=hits,
        share=Measure(len(failed), hits * UNIT, float(hits), rate=True),
        states=_most_first(name for notes in counting.values() for name in {note.state for note in notes}),
        agents=_most_first(call.agent for call in counting),
        flows=_most_first(call.flow for call in counting),
        authors=_most_first(name for notes in counting.values() for name in {note.author for note in notes}),
        first_at=min(moments, default=None),
        last_at=max(moments, default=None),
        example=example,
    )


def _most_first(names: Iterable[str | None]) -> dict[str | None, int]:
    return dict(sorted(Counter(names).items(), key=lambda each: (-each[1], each[0] is None, each[0] or "")))
