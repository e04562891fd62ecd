"""Read all scores one by one, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import peewee as pw

from riff_store import models as m
from riff_store.agreement import PERSON
from riff_store.annotations import PASS
from riff_store.answers.calls import Score
from riff_store.database import Store
from riff_store.interaction import SUMS
from riff_store.predicates import Predicate
from riff_store.queries.annotations import notes_by_call
from riff_store.queries.dimensions import judges_shown, run_order, run_starts
from riff_store.queries.interaction import has_interaction
from riff_store.queries.judges import VERDICT
from riff_store.queries.last_edits import Edits
from riff_store.queries.scope import Scope

PAGE = 500
_INTERACTION = "interaction."
_CODE = "code."

# Aspect, judge as shown and by its own name, value; of the verdict its time, model, and prompt's hash and version.
_Told = tuple[str, str, str, float | None, int | None, str | None, str | None, str | None]
_Judged = dict[tuple[int, int, int], "_Verdict"]


class _Verdict(NamedTuple):
    """Describe a verdict: what decides whether it counts, and its time, model and version of a prompt."""

    rank: tuple[int, str, int]
    told: tuple[int | None, str | None, str | None]


class _Run(NamedTuple):
    key: int
    name: str
    commit: str | None
    started: int | None


def score_pages(store: Store, calls: Predicate | None = None, size: int = PAGE) -> Iterator[list[Score]]:
    """Yield the scores of such calls, those of at most `size` calls at a time.

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
    """Hold names by key, read once."""

    def __init__(self, store: Store) -> None:
        def named(table: Any) -> Mapping[int, str]:
            return dict(store.execute(table.select(table.id, table.name)))

        self.flows, self.agents = named(m.Flow), named(m.Agent)
        self.personas, self.aspects = named(m.Persona), named(m.Aspect)
        self.judges, self.judge_names = judges_shown(store), named(m.Judge)
        prompts = store.execute(m.Judge.select(m.Judge.id, m.Judge.prompt_hash))
        self.prompts: Mapping[int, str | None] = {key: prompt_hash or None for key, prompt_hash in prompts}
        self.edits = Edits(store)
        self.has_interaction = has_interaction(store)


def _calls(store: Store, run: _Run, condition: Any, after: Any, size: int) -> list[tuple[Any, ...]]:
    call = m.Conversation
    identity = (call.name, call.flow, call.agent, call.trial)
    query = call.select(
        call.id, *identity, call.started_at, call.persona, call.errored
    ).where(call.run == run.key, condition)  # fmt: skip
    if after is not None:
        query = query.where(pw.Tuple(*identity) > pw.Tuple(*after))
    return store.execute(query.order_by(*identity).limit(size))


def _page(store: Store, run: _Run, calls: Sequence[tuple[Any, ...]], names: _Names) -> list[Score]:
    judged = _judged(store, run, {call[1] for call in calls})
    score = m.AspectScore
    query = score.select(score.conversation, score.aspect, score.judge, score.value)
    scores: dict[int, list[_Told]] = {}
    for key, aspect, judge, value in store.execute(query.where(score.conversation.in_([call[0] for call in calls]))):
        verdict = judged.get((key, aspect, judge))
        at, model, version = verdict.told if verdict else (None, None, None)
        called = names.judges[judge], names.judge_names[judge]
        told = (names.aspects[aspect], *called, value, at, model, names.prompts[judge], version)
        scores.setdefault(key, []).append(told)
    if names.has_interaction:
        _add_interaction(store, [call[0] for call in calls], names, scores)
    _add_people(store, [call[0] for call in calls], scores)
    edits = {flow: names.edits.last(names.flows[flow], run.name) for flow in {call[2] for call in calls}}
    return [
        Score(
            run.name, run.commit, started_at, name, names.flows[flow], names.agents[agent],
            None if persona is None else names.personas[persona], trial, bool(errored), *found, edits[flow],
        )
        for key, name, flow, agent, trial, started_at, persona, errored in calls
        for found in sorted(scores.get(key, ()), key=lambda row: row[:2])
    ]  # fmt: skip


def _add_interaction(store: Store, calls: Sequence[int], names: _Names, scores: dict[int, list[_Told]]) -> None:
    """Add the sums of how the sides of voice calls shared the line: figures have to be pooled from these."""
    computed = names.judges[m.COMPUTED_JUDGE], names.judge_names[m.COMPUTED_JUDGE]
    row, events = m.CallInteraction, SUMS[1:]
    query = row.select(row.conversation, *(getattr(row, name) for name in events)).where(row.conversation.in_(calls))
    for key, *sums in store.execute(query):
        scores.setdefault(key, []).extend(
            (f"{_INTERACTION}{name}", *computed, float(value), None, None, None, None)
            for name, value in zip(events, sums, strict=True)
        )


def _add_people(store: Store, calls: Sequence[int], scores: dict[int, list[_Told]]) -> None:
    """Add what counts of what people wrote: a verdict as 10 or 0, and each code as 1."""
    for key, notes in notes_by_call(store, calls).items():
        for note in notes:
            person = f"{PERSON}{note.author}"
            given = [(VERDICT, 10.0 if note.verdict == PASS else 0.0)] if note.verdict is not None else []
            given += [(f"{_CODE}{note.code}", 1.0)] if note.code is not None else []
            scores.setdefault(key, []).extend(
                (aspect, person, person, value, note.at, None, None, None) for aspect, value in given
            )


def _judged(store: Store, run: _Run, names: Iterable[str]) -> _Judged:
    """Return the verdict that counts, by call, aspect and judge; it is the one that `verdicts` chose."""
    verdict = m.JudgedScore
    query = verdict.select(
        verdict.conversation,
        verdict.aspect,
        verdict.judge,
        verdict.judged_at,
        m.SourceFile.path,
        verdict.line,
        verdict.model,
        verdict.prompt_version,
    ).join(m.SourceFile, on=(m.SourceFile.id == verdict.source_file))
    found: _Judged = {}
    named = (verdict.run == run.key) & verdict.conversation_name.in_(sorted(names))
    rows = store.execute(query.where(named, verdict.conversation.is_null(False)))
    for call, aspect, judge, at, path, line, model, version in rows:
        rank = (-1 if at is None else at, path, line)
        if (call, aspect, judge) not in found or found[call, aspect, judge].rank < rank:
            found[call, aspect, judge] = _Verdict(rank, (at, model, version))
    return found
