"""Read all scores, a page of calls at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import peewee as pw

from riff_store import models as m
from riff_store.agreement import PERSON
from riff_store.annotations import PASS
from riff_store.answers.calls import Score, ScoredCall
from riff_store.database import Store
from riff_store.interaction import SUMS
from riff_store.predicates import Predicate
from riff_store.queries.annotations import notes_by_call
from riff_store.queries.conditions import one_of
from riff_store.queries.dimensions import judges_shown, run_order, run_starts
from riff_store.queries.interaction import has_interaction
from riff_store.queries.judges import VERDICT
from riff_store.queries.last_edits import Edits
from riff_store.queries.scope import Scope

PAGE = 2_000
_INTERACTION = "interaction."
_CODE = "code."
_IN_ORDER = itemgetter(0, 1)

# By the keys of call, aspect and judge: when a verdict was given, by which model and version of a prompt.
_Verdicts: TypeAlias = dict[tuple[int, int, int], tuple[int | None, str | None, str | None]]
_NO_VERDICT = (None, None, None)


class _Run(NamedTuple):
    key: int
    name: str
    commit: str | None
    started: int | None


def score_pages(store: Store, calls: Predicate | None = None, size: int = PAGE) -> Iterator[list[ScoredCall]]:
    """Yield such calls with their scores, at most `size` calls at a time.

    What people wrote is among these: a verdict as an aspect of their own, 10 or 0, and each code as an aspect, 1.
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


def _page(store: Store, run: _Run, calls: Sequence[tuple[Any, ...]], names: _Names) -> list[ScoredCall]:
    keys = [call[0] for call in calls]
    scores: dict[int, list[Score]] = {key: [] for key in keys}
    _add_stored(store, names, scores)
    if names.has_interaction:
        _add_interaction(store, names, scores)
    _add_people(store, scores)
    for given in scores.values():
        given.sort(key=_IN_ORDER)
    edits = {flow: names.edits.last(names.flows[flow], run.name) for flow in {call[2] for call in calls}}
    return [
        ScoredCall(
            run.name, run.commit, started_at, name, names.flows[flow], names.agents[agent],
            None if persona is None else names.personas[persona], trial, bool(errored), edits[flow], scores[key],
        )
        for key, name, flow, agent, trial, started_at, persona, errored in calls
    ]  # fmt: skip


def _add_stored(store: Store, names: _Names, scores: Mapping[int, list[Score]]) -> None:
    verdicts = _verdicts(store, scores)
    score = m.AspectScore
    query = score.select(score.conversation, score.aspect, score.judge, score.value)
    for key, aspect, judge, value in store.execute(query.where(one_of(score.conversation, scores))):
        at, model, version = verdicts.get((key, aspect, judge), _NO_VERDICT)
        scores[key].append(
            Score(
                names.aspects[aspect], names.judges[judge], names.judge_names[judge], value, at, model,
                names.prompts[judge], version,
            )
        )  # fmt: skip


def _add_interaction(store: Store, names: _Names, scores: Mapping[int, list[Score]]) -> None:
    """Add the sums of how the sides of voice calls shared the line: figures have to be pooled from these."""
    computed = names.judges[m.COMPUTED_JUDGE], names.judge_names[m.COMPUTED_JUDGE]
    row, events = m.CallInteraction, SUMS[1:]
    query = row.select(row.conversation, *(getattr(row, name) for name in events))
    for key, *sums in store.execute(query.where(one_of(row.conversation, scores))):
        scores[key] += [
            Score(f"{_INTERACTION}{name}", *computed, float(value), None, None, None, None)
            for name, value in zip(events, sums, strict=True)
        ]


def _add_people(store: Store, scores: Mapping[int, list[Score]]) -> None:
    """Add what counts of what people wrote: a verdict as 10 or 0, and each code as 1."""
    for key, notes in notes_by_call(store, scores.keys()).items():
        for note in notes:
            person = f"{PERSON}{note.author}"
            given = [(VERDICT, 10.0 if note.verdict == PASS else 0.0)] if note.verdict is not None else []
            given += [(f"{_CODE}{note.code}", 1.0)] if note.code is not None else []
            scores[key] += [
                Score(aspect, person, person, value, note.at, None, None, None) for aspect, value in given
            ]  # fmt: skip


def _verdicts(store: Store, calls: Mapping[int, Any]) -> _Verdicts:
    """Return what is told of the verdict that counts for a score; it is the one that `verdicts` chose."""
    call, verdict, file = m.Conversation, m.JudgedScore, m.SourceFile
    # From the call by its name: what judges said is found by that.
    query = (
        call.select(
            call.id, verdict.aspect, verdict.judge,
            verdict.judged_at, file.path, verdict.line, verdict.model, verdict.prompt_version,
        )
        .join(verdict, on=(verdict.run == call.run) & (verdict.conversation_name == call.name))
        .join(file, on=(file.id == verdict.source_file))
        .where(one_of(call.id, calls), verdict.conversation == call.id)
    )  # fmt: skip
    found: dict[tuple[int, int, int], list[Any]] = {}
    for key, aspect, judge, *told in store.execute(query):
        other = found.setdefault((key, aspect, judge), told)
        if other is not told and _rank(other) < _rank(told):
            found[key, aspect, judge] = told
    return {key: (told[0], told[3], told[4]) for key, told in found.items()}


def _rank(told: Sequence[Any]) -> tuple[int, str, int]:
    at, path, line, *_ = told
    return -1 if at is None else at, path, line
