"""Read the scores of judges, people among them, as columns of the same calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store import schema as m
from riff_store.alignment import HUMAN, PASSED, Reference, reference_of
from riff_store.database import Store
from riff_store.filters.dimensions import judge_names, judges_shown, unique_names
from riff_store.filters.matching import matches
from riff_store.filters.notes import Note, notes_by_call, verdicts_of_people
from riff_store.filters.predicates import Predicate
from riff_store.vocabulary import PERSON

if TYPE_CHECKING:
    from riff_store.statistics.agreement import Keys, Scores

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
        """Say whether a filter on judges means this one, by its name or its displayed name."""
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
    """Hold scores of calls, of each (aspect, key of the judge), and computed correctness.

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
        """Return what people say of calls as far as all who gave a verdict say the same."""
        return reference_of({call: score >= HUMAN for call, score in given.items()} for given in self.verdicts.values())


def judge_scores(
    store: Store, calls: Predicate | None = None, notes: Mapping[int, Sequence[Note]] | None = None
) -> JudgeScores:
    """Read the scores of the calls that count, of those that any judge may have scored, people among them.

    `notes` are what people wrote, by the key of the call, where that is read already.
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
