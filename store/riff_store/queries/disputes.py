"""Find the calls that judges scored apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from riff_store import models as m
from riff_store.agreement import HUMAN
from riff_store.answers.agreement import Dispute, Disputes
from riff_store.database import Store
from riff_store.predicate_eval import compile_predicate
from riff_store.predicates import Predicate
from riff_store.queries.call_names import told_by
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.judges import VERDICT, JudgeVersion, judges_of, scores_of


class _Names(NamedTuple):
    run: str
    conversation: str
    flow: str
    agent: str
    trial: int


class _Given(NamedTuple):
    """Hold the scores of a call by those who gave them, people apart."""

    judged: dict[str, float]
    people: dict[str, float]

    @property
    def scores(self) -> dict[str, float]:
        return self.judged | self.people

    @property
    def apart(self) -> dict[str, float]:
        """Return the scores that can be apart: a person's is more than pass or fail only to one who says the other."""
        passed = {score >= HUMAN for score in self.scores.values()}
        return self.scores if len(passed) > 1 else self.judged

    def spread(self) -> float:
        scores = self.apart.values()
        # Scores have few digits, and so has their difference: what is left of binary fractions is cut off.
        return round(max(scores) - min(scores), 9) if scores else 0.0


class _Found(NamedTuple):
    spread: float
    who: _Names
    aspect: str
    call: int
    given: _Given

    @property
    def scores(self) -> Mapping[str, float]:
        return self.given.scores

    @property
    def highest(self) -> str:
        apart = self.given.apart
        return min(apart, key=lambda judge: (-apart[judge], judge))

    @property
    def lowest(self) -> str:
        apart = self.given.apart
        return min(apart, key=lambda judge: (apart[judge], judge))


def disputes(
    store: Store,
    calls: Predicate | None = None,
    judges: Predicate | None = None,
    rows: Predicate | None = None,
    limit: int | None = None,
) -> Disputes:
    """Return calls that at least two judges scored apart on one aspect: the widest spread first, then by run and id.

    A person's verdict stands beside the scores of every aspect, and is apart from those that pass where it fails a call
    and the other way about. `judges` chooses the judges, `rows` says what has to hold of aspect, spread, highest,
    lowest and scores.
    """
    with store.snapshot():
        scores = scores_of(store, calls)
        known = judges_of(store, scores.judged, scores.people)
        selected = [judge for judge in known if judge.is_selected(judges)]
        several = {key: given for key, given in _by_call(selected, scores.judged).items() if len(given.scores) > 1}
        who = _conversation_names(store) if several else {}
    found = [_Found(given.spread(), who[call], aspect, call, given) for (aspect, call), given in several.items()]
    apart = [each for each in found if each.spread > 0]
    chosen = apart if rows is None else _holding(apart, rows)
    chosen.sort(key=lambda each: (-each.spread, *each.who, each.aspect))
    named = told_by(store, [each.call for each in chosen[:limit]])
    entries = [_dispute(each, scores.correctness.get(each.call), named.get(each.call, {})) for each in chosen[:limit]]
    return Disputes(entries, len(chosen), len(found) - len(apart))


def _by_call(
    judges: Iterable[JudgeVersion], judged: Mapping[tuple[str, int], Mapping[int, float]]
) -> dict[tuple[str, int], _Given]:
    """Return the scores of each (aspect, call); what people said of a call alone is of their own aspect."""
    found: dict[tuple[str, int], _Given] = {}
    of_people: dict[int, dict[str, float]] = {}
    for judge in judges:
        for call, score in judged[judge.key].items():
            if judge.is_person:
                of_people.setdefault(call, {})[judge.shown] = score
            else:
                found.setdefault((judge.aspect, call), _Given({}, {})).judged[judge.shown] = score
    for (_, call), given in found.items():
        given.people.update(of_people.get(call, {}))
    alone = of_people.keys() - {call for _, call in found}
    return found | {(VERDICT, call): _Given({}, of_people[call]) for call in sorted(alone)}


def _conversation_names(store: Store) -> dict[int, _Names]:
    """Return the names of every call."""
    runs, flows, agents = (names_of(store, DIMENSIONS[name]) for name in ("run", "flow", "agent"))
    call = m.Conversation
    rows = store.execute(call.select(call.id, call.run, call.name, call.flow, call.agent, call.trial))
    return {
        key: _Names(runs[run] or "", name, flows[flow] or "", agents[agent] or "", trial)
        for key, run, name, flow, agent, trial in rows
    }


def _holding(found: Iterable[_Found], rows: Predicate) -> list[_Found]:
    holds = compile_predicate(rows, ())
    return [
        each
        for each in found
        if holds(
            {
                "aspect": each.aspect,
                "spread": each.spread,
                "highest": each.highest,
                "lowest": each.lowest,
                "scores": each.scores,
            }
        )
    ]


def _dispute(found: _Found, correctness: float | None, told_by: Mapping[str, str]) -> Dispute:
    ranked = dict(sorted(found.scores.items(), key=lambda given: (-given[1], given[0])))
    judges = found.highest, found.lowest
    return Dispute(*found.who[:4], found.aspect, ranked, correctness, found.spread, *judges, told_by)
