"""Hold each judge against people, over all calls and for each code that they gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from riff_store.agreement import HUMAN, PASSED
from riff_store.alignment import Rates, Reference, rates
from riff_store.database import Store
from riff_store.filters.notes import Note, notes_by_call
from riff_store.filters.predicates import Predicate
from riff_store.measure import Measure
from riff_store.queries.judge_scores import CORRECTNESS, JudgeVersion, judge_scores, judges_of

_NOTHING = Measure(0, 0)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Hold how often a judge, or correctness, says what people say of the calls that both speak of.

    With a `code` that is of the calls that people failed and gave this code, and `tnr` is not measured. `shown` is the
    name that a filter finds the judge by, empty for correctness.
    """

    judge: str
    shown: str
    aspect: str
    code: str | None
    rates: Rates


@dataclass(frozen=True, slots=True)
class Alignments:
    """Hold judges beside people; `disputed` calls, on which people disagree among themselves, are in no rate."""

    entries: Sequence[Alignment]
    disputed: int


def alignment(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> Alignments:
    """Return the rates of each judge, then those of correctness, each followed by those for the codes people gave.

    The judge that misses most comes first, and the code with the most calls. `judges` chooses among them; only judges
    with calls of which people speak too are there.
    """
    with store.snapshot():
        notes = notes_by_call(store)
        scores = judge_scores(store, calls, notes)
        known = judges_of(store, scores.judged, scores.people)
    reference = scores.reference()
    failed = _failed_by_code(notes, reference)
    found = [
        list(_aligned(judge, scores.passes(scores.judged[judge.key], HUMAN, reference.passed), reference, failed))
        for judge in known
        if not judge.is_person and judge.is_selected(judges)
    ]
    found.sort(key=lambda rows: _worst_first(rows[0]) if rows else ())
    if judges is None:
        found.append(
            list(_aligned(None, scores.passes(scores.correctness, PASSED, reference.passed), reference, failed))
        )
    return Alignments([row for rows in found for row in rows], len(reference.disputed))


def _failed_by_code(notes: Mapping[int, Sequence[Note]], reference: Reference) -> dict[str, dict[int, bool]]:
    """Return the calls that people fail by the codes that they gave them, that with the most calls first."""
    found: dict[str, dict[int, bool]] = {}
    for call, written in notes.items():
        if reference.passed.get(call) is False:
            for note in written:
                if note.code is not None:
                    found.setdefault(note.code, {})[call] = False
    return dict(sorted(found.items(), key=lambda each: (-len(each[1]), each[0])))


def _aligned(
    judge: JudgeVersion | None,
    says: Mapping[int, bool],
    reference: Reference,
    failed: Mapping[str, Mapping[int, bool]],
) -> Iterator[Alignment]:
    """Yield what a judge says beside people: of all calls, and of those that they failed for one reason each."""
    whole = rates(says, reference.passed)
    if whole.tpr.n or whole.tnr.n:
        yield _row(judge, None, whole)
    for code, calls in failed.items():
        of_code = rates(says, calls)
        if of_code.tpr.n:
            yield _row(judge, code, of_code._replace(tnr=_NOTHING))


def _row(judge: JudgeVersion | None, code: str | None, found: Rates) -> Alignment:
    if judge is None:
        return Alignment(CORRECTNESS, "", CORRECTNESS, code, found)
    return Alignment(judge.label, judge.shown, judge.aspect, code, found)


def _worst_first(row: Alignment) -> tuple[bool, float, str]:
    share = row.rates.tpr.mean
    return share is None, share or 0.0, row.judge
