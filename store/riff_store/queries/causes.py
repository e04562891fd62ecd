"""Group failed calls by what they have in common, and say what stands out in each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, get_args

import peewee as pw

from riff_store import models as m
from riff_store.answers.failing import MARKED, NONE_FOUND, START, Cause, Causes, Dimension, Example, Lift
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.failing_calls import Examples, FailingCall, failing_calls, flow_calls
from riff_store.queries.scope import Scope
from riff_store.statistics.enrichment import Draw, over_represented
from riff_store.statistics.significance import benjamini_hochberg

SURE = 0.05
LEAST = 5
"""A group or name with fewer calls is not tested: it would cost the others certainty and has none itself."""
_DIMENSIONS: Sequence[Dimension] = get_args(Dimension)
_Names: TypeAlias = Mapping[str, Mapping[int, str | None]]
_Counts: TypeAlias = Mapping[str | None, int]


def causes(store: Store, calls: Predicate | None = None) -> Causes:
    """Return the groups of failed calls, the largest first (docs/metrics.md, section 15).

    What stands out in a group is measured against all calls of its flow in scope that were not errored.
    """
    with store.snapshot():
        groups: dict[tuple[Any, ...], list[FailingCall]] = {}
        for call in failing_calls(store, calls):
            groups.setdefault(_signature(call), []).append(call)
        names = {key: names_of(store, DIMENSIONS[key]) for key in ("flow", "state", "stop_reason", *_DIMENSIONS)}
        examples, counts = Examples(store), flow_calls(store, calls)
        shortest = examples.shortest(groups)
        known = {key: _calls_by_name(store, calls, key, names) for key in _DIMENSIONS} if groups else {}
    failed = sum(map(len, groups.values()))
    spans = {key: examples.run_span(members) for key, members in groups.items()}
    found = [_cause(members, names, shortest[key], spans[key], failed) for key, members in groups.items()]
    found.sort(key=_largest_first)
    flows = {names["flow"][flow]: n for flow, n in counts.items()}
    return Causes(_with_lifts(found, known, flows), failed, sum(counts.values()))


def _signature(call: FailingCall) -> tuple[Any, ...]:
    """Return what the calls of a group share; what a person marked is not divided by how the calls ended after it."""
    where = call.flow, call.last_ok, call.first_failed, call.kind
    return (*where, call.code) if call.kind == MARKED else (*where, call.detail, call.error, call.stop_reason)


def _cause(calls: Sequence[FailingCall], names: _Names, example: Example, span: tuple[str, str], failed: int) -> Cause:
    one, labels = calls[0], names["stop_reason"]
    return Cause(
        flow=names["flow"][one.flow] or "",
        stop_reason=", ".join(filter(None, _counted(labels, (call.stop_reason for call in calls)))) or None,
        last_ok=_name(names["state"], one.last_ok) or START,
        first_failed=_name(names["state"], one.first_failed) or NONE_FOUND,
        kind=one.kind,
        detail=one.code if one.kind == MARKED else _name(labels, one.detail),
        error=_name(labels, one.error),
        n=len(calls),
        share=len(calls) / failed,
        agents=_counted(names["agent"], (call.agent for call in calls)),
        scenarios=_counted(names["scenario"], (call.scenario for call in calls)),
        personas=_counted(names["persona"], (call.persona for call in calls)),
        commits=_counted(names["commit"], (call.run for call in calls)),
        first_run=span[0],
        last_run=span[1],
        example=example,
    )


def _name(names: Mapping[int, str | None], key: int | None) -> str | None:
    return None if key is None else names[key]


def _counted(names: Mapping[int, str | None], keys: Iterable[int | None]) -> dict[str | None, int]:
    found = Counter(_name(names, key) for key in keys)
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0] is None, each[0] or "")))


def _largest_first(cause: Cause) -> tuple[Any, ...]:
    places = (cause.flow, cause.last_ok, cause.first_failed, cause.kind)
    return -cause.n, *places, cause.detail or "", cause.error or "", cause.stop_reason or ""


def _calls_by_name(
    store: Store, calls: Predicate | None, dimension: Dimension, names: _Names
) -> dict[tuple[str | None, str | None], int]:
    """Count the calls that were not errored by flow and the name of a dimension."""
    call = m.Conversation
    key = getattr(call, DIMENSIONS[dimension].key)
    query = call.select(call.flow, key, pw.fn.COUNT(pw.SQL("*"))).where(~call.errored, Scope(store).condition(calls))
    found: Counter[tuple[str | None, str | None]] = Counter()
    for flow, value, n in store.execute(query.group_by(call.flow, key)):
        found[names["flow"][flow], _name(names[dimension], value)] += n
    return found


def _with_lifts(
    found: Sequence[Cause],
    known: Mapping[Dimension, Mapping[tuple[str | None, str | None], int]],
    flows: Mapping[str | None, int],
) -> list[Cause]:
    """Add to each group the names that stand out, tested and corrected over all groups at once."""
    tested: list[tuple[int, Dimension, str | None, Draw]] = []
    for place, cause in enumerate(found):
        if cause.n < LEAST:
            continue
        for dimension, counts in _by_dimension(cause).items():
            for (flow, name), marked in known[dimension].items():
                if flow == cause.flow and name is not None and LEAST <= marked < flows[flow]:
                    tested.append((place, dimension, name, Draw(counts.get(name, 0), cause.n, marked, flows[flow])))
    ps = benjamini_hochberg(over_represented([draw for *_, draw in tested]))
    lifts: dict[int, list[Lift]] = {}
    for (place, dimension, name, draw), p in zip(tested, ps, strict=True):
        if p <= SURE:
            shares = draw.hits / draw.drawn, draw.marked / draw.calls
            lifts.setdefault(place, []).append(Lift(dimension, name, draw.hits, shares[0], draw.marked, shares[1], p))
    surest = {place: sorted(each, key=_surest_first) for place, each in lifts.items()}
    return [replace(cause, lift=surest.get(place, ())) for place, cause in enumerate(found)]


def _by_dimension(cause: Cause) -> dict[Dimension, _Counts]:
    return {
        "agent": cause.agents,
        "persona": cause.personas,
        "scenario": cause.scenarios,
        "commit": cause.commits,
    }


def _surest_first(lift: Lift) -> tuple[float, int, str, str]:
    return lift.p, -lift.n, lift.dimension, lift.name or ""
