"""Sum up each judge, and how it agrees with the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import peewee as pw

from riff_store import schema as m
from riff_store.alignment import HUMAN, PASSED, Rates, Reference, rates
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping
from riff_store.filters.notes import Note, notes_by_call
from riff_store.filters.predicates import Predicate
from riff_store.measure import UNIT, Measure
from riff_store.queries.judge_scores import CORRECTNESS, JudgeKey, JudgeVersion, judge_scores, judges_of
from riff_store.queries.sums import aspect_sums

_NOTHING = ("", "")


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """Describe a judge in one version of its prompt, and how it agrees with the others on shared calls.

    `shared` counts those calls by the other's name. `prompt_version` is what most of its verdicts say, `shown` the
    name that a filter finds it by. `rates` hold it against people and are `None` for a person; `disputed` counts the
    calls that they leave out since people disagree there.
    """

    judge: str
    model: str | None
    prompt_hash: str | None
    n: int
    unscored: int
    mean: Measure
    agreement: Mapping[str, float | None] = field(default_factory=dict)
    prompt_version: str | None = None
    shown: str = ""
    aspect: str = "humanness"
    shared: Mapping[str, int] = field(default_factory=dict)
    rates: Rates | None = None
    disputed: int = 0


def judges(store: Store, calls: Predicate | None = None, *, whole: bool = True) -> list[JudgeSummary]:
    """Return each judge in one version of its prompt, with its rank correlation to the others and to correctness.

    A judge of another aspect than humanness stands apart from its humanness, with the aspect's name. People who gave
    verdicts are judges too, and what every other one says is held against theirs. Unless they are to be `whole`, no
    version of a prompt is looked up.
    """
    from riff_store.statistics.agreement import Pairs, pairs_of, spearman

    with store.snapshot():
        sums = aspect_sums(store, calls, Grouping(())).get((), {})
        judge = m.Judge
        described = {
            key: names for key, *names in store.execute(judge.select(judge.id, judge.model, judge.prompt_hash))
        }
        versions = store.once(_prompt_versions, lambda: _prompt_versions(store)) if whole else {}
        scores = judge_scores(store, calls)
        known = judges_of(store, [*sums, *scores.people], scores.people)
    measured = {key: (found.n, found.unscored, found.measure()) for key, found in sums.items()}
    measured |= {key: (len(given), 0, _share_passed(given)) for key, given in scores.verdicts.items()}
    reference = scores.reference()
    by_label = {judge.label: scores.of(judge.key) for judge in known} | {CORRECTNESS: scores.correctness}
    shared: dict[str, dict[str, Pairs]] = {label: {} for label in by_label}
    for one, other in combinations(sorted(by_label), 2):
        shared[one][other] = shared[other][one] = pairs_of(by_label[one], by_label[other])
    return [
        JudgeSummary(
            judge=judge.label,
            model=described.get(judge.key[1], _NOTHING)[0] or None,
            prompt_hash=described.get(judge.key[1], _NOTHING)[1] or None,
            n=measured[judge.key][0],
            unscored=measured[judge.key][1],
            mean=measured[judge.key][2],
            agreement={label: spearman(pairs) for label, pairs in sorted(shared[judge.label].items())},
            prompt_version=versions.get(judge.key),
            shown=judge.shown,
            aspect=judge.aspect,
            shared={label: pairs.n for label, pairs in sorted(shared[judge.label].items())},
            rates=None
            if judge.is_person
            else rates(scores.passes(by_label[judge.label], HUMAN, reference.passed), reference.passed),
            disputed=len(reference.disputed),
        )
        for judge in known
    ]


def _share_passed(given: Mapping[int, float]) -> Measure:
    """Return the mean of a person's verdicts, which are 10 or 0."""
    total = sum(given.values())
    return Measure(len(given), round(total * UNIT), PASSED * total, rate=True, scale=PASSED)


def _prompt_versions(store: Store) -> dict[JudgeKey, str]:
    """Return the version of its prompt that each judge named most, of several the first by name."""
    judged = m.JudgedScore
    columns = judged.aspect, judged.judge, judged.prompt_version
    named = judged.prompt_version.is_null(False)
    # To find the versions is quick, to count them is not, and most judges name but one.
    found: dict[tuple[int, int], list[str]] = {}
    for aspect, judge, version in store.execute(judged.select(*columns).distinct().where(named)):
        found.setdefault((aspect, judge), []).append(version)
    most = {key: versions[0] for key, versions in found.items()}
    several = {judge for (_, judge), versions in found.items() if len(versions) > 1}
    if several:
        times = pw.fn.COUNT(pw.SQL("*"))
        counted = judged.select(*columns).where(named, judged.judge.in_(several)).group_by(*columns)
        rows = store.execute(counted.order_by(times, judged.prompt_version.desc()))
        most |= {(aspect, judge): version for aspect, judge, version in rows}
    aspects = dict(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))
    return {(aspects[aspect], judge): version for (aspect, judge), version in most.items()}


# Hold each judge against people, over all calls and for each code that they gave.
_NOT_MEASURED = Measure(0, 0)


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
            yield _row(judge, code, of_code._replace(tnr=_NOT_MEASURED))


def _row(judge: JudgeVersion | None, code: str | None, found: Rates) -> Alignment:
    if judge is None:
        return Alignment(CORRECTNESS, "", CORRECTNESS, code, found)
    return Alignment(judge.label, judge.shown, judge.aspect, code, found)


def _worst_first(row: Alignment) -> tuple[bool, float, str]:
    share = row.rates.tpr.mean
    return share is None, share or 0.0, row.judge
