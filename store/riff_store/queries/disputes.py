"""Find the calls that judges scored apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from riff_store import models as m
from riff_store.answers.agreement import Dispute, Disputes
from riff_store.database import Store
from riff_store.predicate_eval import compile_predicate
from riff_store.predicates import Predicate
from riff_store.queries.call_names import told_by
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.judges import JudgeVersion, judges_of, scores_of


class _Names(NamedTuple):
    run: str
    conversation: str
    flow: str
    agent: str
    trial: int


class _Found(NamedTuple):
    spread: float
    who: _Names
    aspect: str
    call: int
    scores: Mapping[str, float]

    @property
    def highest(self) -> str:
        return min(self.scores, key=lambda judge: (-self.scores[judge], judge))

    @property
    def lowest(self) -> str:
        return min(self.scores, key=lambda judge: (self.scores[judge], judge))


def disputes(
    store: Store,
    calls: Predicate | None = None,
    judges: Predicate | None = None,
    rows: Predicate | None = None,
    limit: int | None = None,
) -> Disputes:
    """Return calls that at least two judges scored apart on one aspect: the widest spread first, then by run and id.

    `judges` chooses the judges, `rows` says what has to hold of aspect, spread, highest,
    lowest and scores.
    """
    with store.snapshot():
        scores = scores_of(store, calls)
        selected = [judge for judge in judges_of(store, scores.judged) if judge.is_selected(judges)]
        several = {key: given for key, given in _by_call(selected, scores.judged).items() if len(given) > 1}
        who = _conversation_names(store) if several else {}
    found = [
        # Scores have few digits, and so has their difference: what is left of binary fractions is cut off.
        _Found(round(max(given.values()) - min(given.values()), 9), who[call], aspect, call, given)
        for (aspect, call), given in several.items()
    ]
    apart = [each for each in found if each.spread > 0]
    chosen = apart if rows is None else _holding(apart, rows)
    chosen.sort(key=lambda each: (-each.spread, *each.who, each.aspect))
    named = told_by(store, [each.call for each in chosen[:limit]])
    entries = [_dispute(each, scores.correctness.get(each.call), named.get(each.call, {})) for each in chosen[:limit]]
    return Disputes(entries, len(chosen), len(found) - len(apart))


def _by_call(
    judges: Iterable[JudgeVersion], judged: Mapping[tuple[str, int], Mapping[int, float]]
) -> dict[tuple[str, int], dict[str, float]]:
    """Return the scores by judge of each (aspect, call)."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for judge in judges:
        for call, score in judged[judge.key].items():
            found.setdefault((judge.aspect, call), {})[judge.shown] = score
    return found


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
