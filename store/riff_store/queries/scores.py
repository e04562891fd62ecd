"""Read all scores, a page of calls at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import peewee as pw

from riff_store import schema as m
from riff_store.annotations import PASS
from riff_store.database import Store
from riff_store.filters.conditions import one_of
from riff_store.filters.dimensions import judges_shown, run_order, run_starts
from riff_store.filters.notes import notes_by_call
from riff_store.filters.predicates import Predicate
from riff_store.filters.sql import Scope
from riff_store.interaction import EVENTS
from riff_store.queries.judges import VERDICT
from riff_store.queries.last_edits import Edits, LastEdit
from riff_store.queries.sums import has_interaction
from riff_store.vocabulary import PERSON
from riff_store.write.notes import has_notes

PAGE = 2_000
_INTERACTION = "interaction."
_CODE = "code."

_Given: TypeAlias = tuple[int | None, str | None, str | None]
"""When a verdict was given, by which model and by which version of a prompt."""
_NOT_GIVEN: _Given = (None, None, None)


class ScoredCall(NamedTuple):
    """Describe a call that has so many scores; `started_at` is microseconds since the epoch.

    `edit` is the flow's last that the run contains.
    """

    run: str
    commit: str | None
    started_at: int | None
    conversation: str
    flow: str
    agent: str
    persona: str | None
    trial: int
    errored: bool
    edit: LastEdit | None
    scores: int


class Scores(NamedTuple):
    """Describe scores by column, each for an aspect by a judge or `(computed)`; `value` is None if it was not measured.

    `judge` has as much of model and prompt as distinguishes it from others, `judge_name` what it calls itself. `model`,
    `prompt_hash`, `prompt_version` and `judged_at` (microseconds since the epoch) are of the verdict that counts.
    """

    aspect: Sequence[str]
    judge: Sequence[str]
    judge_name: Sequence[str]
    value: Sequence[float | None]
    judged_at: Sequence[int | None]
    model: Sequence[str | None]
    prompt_hash: Sequence[str | None]
    prompt_version: Sequence[str | None]


class ScorePage(NamedTuple):
    """Describe some calls, and the scores of the first one, then those of the next."""

    calls: Sequence[ScoredCall]
    scores: Scores


class _Kind(NamedTuple):
    """Name what scores are alike: their aspect, and their judge as it is shown, by its own name and by its prompt."""

    aspect: str
    judge: str
    judge_name: str
    prompt_hash: str | None = None


class _Run(NamedTuple):
    key: int
    name: str
    commit: str | None
    started: int | None


def score_pages(store: Store, calls: Predicate | None = None, size: int = PAGE) -> Iterator[ScorePage]:
    """Yield the scores of such calls, at most `size` calls at a time.

    What people wrote is among them: a verdict as an aspect of their own, 10 or 0, and each code as an aspect, 1.
    In order of run (in time), conversation, aspect and judge. Errored calls are among them. Pages are
    of one state of the store only inside a snapshot, which is the caller's to keep.
    """
    names, condition, order = _Names(store), Scope(store).condition(calls), run_order(store)
    rows = store.execute(m.Run.select(m.Run.id, m.Run.name, m.Run.commit))
    started = run_starts(store)
    runs = [_Run(key, name, commit, started.get(name)) for key, name, commit in rows if name in order]
    for run in sorted(runs, key=lambda run: order[run.name]):
        after: Any = None
        while found := _calls(store, run, condition, after, size):
            after = found[-1][1:5]
            yield _page(store, run, found, names)


class _Names:
    """Keep names by key, read once."""

    def __init__(self, store: Store) -> None:
        def named(table: Any) -> Mapping[int, str]:
            return dict(store.execute(table.select(table.id, table.name)))

        self.flows, self.agents = named(m.Flow), named(m.Agent)
        self.personas, self.aspects = named(m.Persona), named(m.Aspect)
        self.judges, self.judge_names = judges_shown(store), named(m.Judge)
        prompts = store.execute(m.Judge.select(m.Judge.id, m.Judge.prompt_hash))
        self.prompts: Mapping[int, str | None] = {key: prompt_hash or None for key, prompt_hash in prompts}
        self.edits = Edits(store)
        self.has_interaction, self.has_notes = has_interaction(store), has_notes(store)

    def kind(self, aspect: int, judge: int) -> _Kind:
        """Return the kind of score that a judge gives for an aspect."""
        return _Kind(self.aspects[aspect], self.judges[judge], self.judge_names[judge], self.prompts[judge])


class _Found:
    """Collect scores of some calls by column, in any order: the place of the call, the kind, the value, the verdict."""

    def __init__(self, calls: Sequence[int]) -> None:
        self.place = {key: place for place, key in enumerate(calls)}
        self._numbers: dict[_Kind, int] = {}
        self._places: list[int] = []
        self._kinds: list[int] = []
        self._values: list[float | None] = []
        self._given: list[_Given] = []

    def number(self, kind: _Kind) -> int:
        """Return the number that represents a kind."""
        return self._numbers.setdefault(kind, len(self._numbers))

    def add(
        self, calls: Iterable[int], kinds: Iterable[int], values: Iterable[float | None], given: Iterable[_Given]
    ) -> None:
        """Add a column of each."""
        self._places += map(self.place.__getitem__, calls)
        self._kinds += kinds
        self._values += values
        self._given += given

    def counts(self) -> Counter[int]:
        """Count the scores of each call by its place."""
        return Counter(self._places)

    def in_order(self) -> Scores:
        """Return the scores in order of call, aspect and judge."""
        kinds = sorted(self._numbers, key=lambda kind: kind[:2])
        rank = dict(zip(map(self._numbers.__getitem__, kinds), range(len(kinds)), strict=True))
        codes = [place * len(rank) + rank[kind] for place, kind in zip(self._places, self._kinds, strict=True)]
        order = sorted(range(len(codes)), key=codes.__getitem__)
        named = [kinds[codes[at] % len(kinds)] for at in order]
        at, models, versions = _columns(map(self._given.__getitem__, order), 3)
        aspects, judges, names, prompts = _columns(named, 4)
        return Scores(
            aspects, judges, names, list(map(self._values.__getitem__, order)), at, models, prompts, versions
        )  # fmt: skip


def _columns(rows: Iterable[Sequence[Any]], width: int) -> Sequence[Sequence[Any]]:
    return tuple(zip(*rows, strict=True)) or ((),) * width


def _calls(store: Store, run: _Run, condition: Any, after: Any, size: int) -> list[tuple[Any, ...]]:
    call = m.Conversation
    identity = (call.name, call.flow, call.agent, call.trial)
    query = call.select(
        call.id, *identity, call.started_at, call.persona, call.errored
    ).where(call.run == run.key, condition)  # fmt: skip
    if after is not None:
        query = query.where(pw.Tuple(*identity) > pw.Tuple(*after))
    return store.execute(query.order_by(*identity).limit(size))


def _page(store: Store, run: _Run, calls: Sequence[tuple[Any, ...]], names: _Names) -> ScorePage:
    found = _Found([call[0] for call in calls])
    _add_stored(store, names, found)
    if names.has_interaction:
        _add_interaction(store, names, found)
    if names.has_notes:
        _add_people(store, found)
    counts = found.counts()
    edits = {flow: names.edits.last(names.flows[flow], run.name) for flow in {call[2] for call in calls}}
    scored = [
        ScoredCall(
            run.name, run.commit, started_at, name, names.flows[flow], names.agents[agent],
            None if persona is None else names.personas[persona], trial, bool(errored), edits[flow], counts[place],
        )
        for place, (_, name, flow, agent, trial, started_at, persona, errored) in enumerate(calls)
    ]  # fmt: skip
    return ScorePage(scored, found.in_order())


def _add_stored(store: Store, names: _Names, found: _Found) -> None:
    score = m.AspectScore
    query = score.select(score.conversation, score.aspect, score.judge, score.value)
    rows = store.execute(query.where(one_of(score.conversation, found.place)))
    calls, aspects, judges, values = _columns(rows, 4)
    kinds = {
        (aspect, judge): found.number(names.kind(aspect, judge))
        for aspect, judge in set(zip(aspects, judges, strict=True))
    }
    given = _given(store, found.place)
    found.add(
        calls,
        map(kinds.__getitem__, zip(aspects, judges, strict=True)),
        values,
        map(given.get, zip(calls, aspects, judges, strict=True), repeat(_NOT_GIVEN)),
    )


def _add_interaction(store: Store, names: _Names, found: _Found) -> None:
    """Add the sums of how the sides of voice calls shared the line: figures have to be pooled from these."""
    computed = names.judges[m.COMPUTED_JUDGE], names.judge_names[m.COMPUTED_JUDGE]
    row = m.CallInteraction
    kinds = [found.number(_Kind(f"{_INTERACTION}{name}", *computed)) for name in EVENTS]
    query = row.select(row.conversation, *(getattr(row, name) for name in EVENTS))
    for call, *sums in store.execute(query.where(one_of(row.conversation, found.place))):
        found.add([call] * len(kinds), kinds, map(float, sums), [_NOT_GIVEN] * len(kinds))


def _add_people(store: Store, found: _Found) -> None:
    """Add what counts of what people wrote: a verdict as 10 or 0, and each code as 1."""
    for call, notes in notes_by_call(store, found.place.keys()).items():
        for note in notes:
            person = f"{PERSON}{note.author}"
            said = [(VERDICT, 10.0 if note.verdict == PASS else 0.0)] if note.verdict is not None else []
            said += [(f"{_CODE}{note.code}", 1.0)] if note.code is not None else []
            for aspect, value in said:
                found.add([call], [found.number(_Kind(aspect, person, person))], [value], [(note.at, None, None)])


def _given(store: Store, calls: Iterable[int]) -> Mapping[tuple[int, int, int], _Given]:
    """Return by call, aspect and judge how the verdict was given that counts; it is the one that `verdicts` chose."""
    verdict, judge, file = m.JudgedScore, m.Judge, m.SourceFile
    query = (
        verdict.select(
            verdict.conversation, verdict.aspect, verdict.judge,
            verdict.judged_at, pw.fn.NULLIF(judge.model, ""), verdict.prompt_version, file.path, verdict.line,
        )
        .join(judge, on=(judge.id == verdict.judge))
        .join(file, on=(file.id == verdict.source_file))
        .where(one_of(verdict.conversation, calls))
    )  # fmt: skip
    rows = store.execute(query)
    given = {row[:3]: row[3:6] for row in rows}
    if len(given) < len(rows):
        rows.sort(key=lambda row: (-1 if row[3] is None else row[3], *row[6:]))
        given = {row[:3]: row[3:6] for row in rows}
    return given
