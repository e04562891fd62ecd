"""Read the scores of judges, people among them; sum up each judge, and how it agrees with others and with people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import peewee as pw

from riff_store import schema as m
from riff_store.alignment import HUMAN, PASSED, Rates, Reference, rates, reference_of
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, judge_names, judges_shown, unique_names
from riff_store.filters.matching import matches
from riff_store.filters.notes import Note, notes_by_call, verdicts_of_people
from riff_store.filters.predicates import Predicate
from riff_store.measure import UNIT, Measure
from riff_store.queries.sums import aspect_sums
from riff_store.vocabulary import PERSON

if TYPE_CHECKING:
    from riff_store.statistics import Keys
    from riff_store.statistics.agreement import Scores


JudgeKey: TypeAlias = tuple[str, int]
"""An aspect and the key of a judge, which is negative for a person."""
CORRECTNESS = "correctness"
HUMANNESS = "humanness"
VERDICT = "verdict"
"""The aspect that people judge: whether a call passes as a whole."""
NO_PEOPLE: Mapping[JudgeKey, str] = MappingProxyType({})


class JudgeVersion(NamedTuple):
    """Describe a judge of one aspect in one version of its prompt; `key` is its own in the store.

    `shown` is what it is called wherever it is a column, `label` adds the aspect if that is neither
    humanness nor called like the judge. One that is a person judges calls as a whole, with a key that no other has.
    """

    key: JudgeKey
    name: str
    shown: str
    label: str
    is_person: bool = False

    @property
    def aspect(self) -> str:
        """Return the aspect that it judges."""
        return self.key[0]

    def is_selected(self, judges: Predicate | None) -> bool:
        """Return whether a filter on judges means this one, by its name or its displayed name."""
        return judges is None or matches(judges, {"judge": [self.name, self.shown]}, ("judge",))


def judges_of(store: Store, keys: Iterable[JudgeKey], people: Mapping[JudgeKey, str] = NO_PEOPLE) -> list[JudgeVersion]:
    """Return the judges of some (aspect, key of the judge) in the order of their labels, which are unique.

    `people` has the authors behind those keys that are of people.
    """
    authors = {key: f"{PERSON}{author}" for (_, key), author in people.items()}
    shown, names = judges_shown(store) | authors, judge_names(store) | authors
    found = sorted({key for key in keys if key[1] in names}, key=lambda key: (key[0] != HUMANNESS, shown[key[1]], key))
    bare = {key for key in found if key in people or key[0] in (HUMANNESS, names[key[1]])}
    labels = unique_names(
        {key: shown[key[1]] if key in bare else f"{shown[key[1]]} ({key[0]})" for key in found}, {CORRECTNESS}
    )
    judges = [JudgeVersion(key, names[key[1]], shown[key[1]], labels[key], key in people) for key in found]
    return sorted(judges, key=lambda judge: judge.label)


class JudgeScores(NamedTuple):
    """Describe scores of calls, of each (aspect, key of the judge), and computed correctness.

    `calls` are the keys of the calls, in order. `people` has the author behind each judge that is a person, and
    `verdicts` has what that person said by the call's key: 10 for pass, 0 for fail.
    """

    calls: Keys
    judged: Mapping[JudgeKey, Scores]
    correctness: Scores
    people: Mapping[JudgeKey, str]
    verdicts: Mapping[JudgeKey, Mapping[int, float]]

    def of(self, judge: JudgeKey) -> Scores:
        """Return the scores of a judge, who may have none."""
        from riff_store.statistics.agreement import scores_at

        return self.judged[judge] if judge in self.judged else scores_at(self.calls, {})

    def passes(self, scores: Scores, bound: float, calls: Collection[int]) -> dict[int, bool]:
        """Return by the key of those of some calls that have a score whether it is one of a call that passes."""
        from riff_store.statistics.agreement import given_to

        return {call: score >= bound for call, score in given_to(calls, self.calls, scores).items()}

    def given(self, judges: Iterable[JudgeVersion], calls: Collection[int]) -> dict[int, dict[str, float]]:
        """Return what some judges gave some calls: by the call's key, those with a score, by the judge's name."""
        from riff_store.statistics.agreement import given_to

        found: dict[int, dict[str, float]] = {}
        for judge in judges:
            for call, score in given_to(calls, self.calls, self.judged[judge.key]).items():
                found.setdefault(call, {})[judge.shown] = score
        return found

    def given_correctness(self, calls: Collection[int]) -> dict[int, float]:
        """Return the computed correctness of those of some calls that have it, by the call's key."""
        from riff_store.statistics.agreement import given_to

        return given_to(calls, self.calls, self.correctness)

    def reference(self) -> Reference:
        """Return what people say about calls as far as all who gave a verdict agree."""
        return reference_of({call: score >= HUMAN for call, score in given.items()} for given in self.verdicts.values())


def judge_scores(
    store: Store, calls: Predicate | None = None, notes: Mapping[int, Sequence[Note]] | None = None
) -> JudgeScores:
    """Read the scores of the calls that count, of those that any judge may have scored, people among them.

    `notes` are what people wrote, by the key of the call, if that is read already.
    """
    from riff_store.arrays.reading import read_calls
    from riff_store.statistics.agreement import given_to, scores_at, scores_of

    aspects = dict(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))
    columns = read_calls(store, calls)
    keys, computed = columns.keys("id"), scores_at(columns.keys("id"), {})
    judged: dict[JudgeKey, Scores] = {}
    verdicts: dict[JudgeKey, Mapping[int, float]] = {}
    people: dict[JudgeKey, str] = {}
    for author, passed in sorted(verdicts_of_people(notes_by_call(store) if notes is None else notes).items()):
        given = scores_at(keys, {call: PASSED * it for call, it in passed.items()})
        if given.n:
            key = (VERDICT, -len(people) - 1)
            judged[key], people[key] = given, author
            verdicts[key] = given_to(passed, keys, given)
    for aspect, judge in columns.judged() if people or judge_names(store) else ():
        if judge != m.COMPUTED_JUDGE:
            found = scores_of(columns.scores(aspect, judge))
            if len(found.values):
                judged[aspects[aspect], judge] = found
        elif aspects[aspect] == CORRECTNESS:
            computed = scores_of(columns.scores(aspect, judge))
    return JudgeScores(keys, judged, computed, people, verdicts)


_NOTHING = ("", "")


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """Describe a judge in one version of its prompt, and how it agrees with the others on shared calls.

    `shared` counts those calls by the other's name. `prompt_version` is that of most of its verdicts, `shown` the name
    that a filter finds it by. `rates` compare it with people and are `None` for a person; `disputed` counts the calls
    that they leave out since people disagree there.
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

    A judge of another aspect than humanness is apart from its humanness, with the aspect's name. People who gave
    verdicts are judges too, and what every other one says is compared with theirs. Unless they are to be `whole`, no
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


_NOT_MEASURED = Measure(0, 0)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Describe how often a judge, or correctness, agrees with people on the calls that both judged.

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
    """Describe judges beside people; `disputed` calls, on which people disagree among themselves, are in no rate."""

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
