"""On which calls do the judges differ most?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from riff_store import models as m
from riff_store.answers.agreement import Dispute, Disputes
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.judged import Judge, judges_of, scores_of

_CHUNK = 500


class _Found(NamedTuple):
    spread: float
    run: str
    conversation: str
    aspect: str
    call: int
    scores: Mapping[str, float]


def disputes(
    store: Store, calls: Predicate | None = None, judges: Predicate | None = None, limit: int | None = None
) -> Disputes:
    """Calls that at least two judges scored apart on one aspect: the widest spread first, then by run and id.

    `judges` chooses the judges that are heard.
    """
    with store.snapshot():
        scores = scores_of(store, calls)
        heard = [judge for judge in judges_of(store, scores.judged) if judge.is_meant(judges)]
        by_call = _by_call(heard, scores.judged)
        named = _names(store, by_call.values())
        found = [
            _Found(round(max(given.values()) - min(given.values()), 9), *named[call], aspect, call, given)
            for (aspect, call), given in by_call.items()
            if len(given) > 1
        ]
        apart = sorted((each for each in found if each.spread > 0), key=lambda each: (-each.spread, *each[1:4]))
        listed = apart[:limit]
        who = _who(store, [each.call for each in listed])
    entries = [_dispute(each, who[each.call], scores.correctness.get(each.call)) for each in listed]
    return Disputes(entries, len(apart), len(found) - len(apart))


def _by_call(
    heard: Iterable[Judge], judged: Mapping[tuple[str, int], Mapping[int, float]]
) -> dict[tuple[str, int], dict[str, float]]:
    """The scores by judge of each (aspect, call)."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for judge in heard:
        for call, score in judged[judge.key].items():
            found.setdefault((judge.aspect, call), {})[judge.shown] = score
    return found


def _names(store: Store, by_call: Iterable[object]) -> dict[int, tuple[str, str]]:
    """The run and the id of every call; nothing where nobody asks."""
    if not any(True for _ in by_call):
        return {}
    runs = names_of(store, DIMENSIONS["run"])
    rows = store.execute(m.Conversation.select(m.Conversation.id, m.Conversation.run, m.Conversation.name))
    return {key: (runs[run] or "", name) for key, run, name in rows}


def _who(store: Store, calls: Sequence[int]) -> dict[int, tuple[str, str]]:
    """The flow and the agent of some calls."""
    call = m.Conversation
    query = (
        call.select(call.id, m.Flow.name, m.Agent.name)
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
    )
    found: dict[int, tuple[str, str]] = {}
    for start in range(0, len(calls), _CHUNK):
        rows = store.execute(query.where(call.id.in_(list(calls[start : start + _CHUNK]))))
        found |= {key: (flow, agent) for key, flow, agent in rows}
    return found


def _dispute(found: _Found, who: tuple[str, str], correctness: float | None) -> Dispute:
    ranked = dict(sorted(found.scores.items(), key=lambda given: (-given[1], given[0])))
    return Dispute(found.run, found.conversation, *who, found.aspect, ranked, correctness, found.spread)
