"""Measure the quality of flows before and after each edit."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from riff_store.answers.edits import Edit, EditEffect
from riff_store.answers.quality import COMPUTED
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import run_starts
from riff_store.queries.last_edits import Edits
from riff_store.queries.quality import RowQuality, mean, row_qualities


def edit_effects(store: Store, calls: Predicate | None = None) -> list[EditEffect]:
    """Return every edit with the quality of its flow before and after it; by flow, the latest edit first."""
    with store.snapshot():
        edits, started = Edits(store), run_starts(store)
        rows, _ = row_qualities(store, calls, ("run", "flow", "agent"), None) if edits else ({}, [])
    runs: dict[str, dict[str, dict[str, RowQuality]]] = {}
    for (run, flow, agent), row in rows.items():
        if started.get(run or "") is not None:
            runs.setdefault(flow or "", {}).setdefault(run or "", {})[agent or ""] = row
    return [
        effect
        for flow, found in sorted(edits.by_flow.items())
        for effect in _effects(found, runs.get(flow, {}), started)
    ]


class _Run(NamedTuple):
    started: int
    name: str
    agents: Mapping[str, RowQuality]


def _effects(
    edits: Sequence[Edit], found: Mapping[str, Mapping[str, RowQuality]], started: Mapping[str, int | None]
) -> list[EditEffect]:
    runs = sorted((_Run(started[name] or 0, name, agents) for name, agents in found.items()), key=lambda run: run[:2])
    starts = [run.started for run in runs]
    places = [bisect_left(starts, edit.time) for edit in edits]
    together = Counter(places)
    ends = [bisect_left(starts, later.time) for later in edits[1:]] + [len(runs)]
    return [
        _effect(edit, runs, place, end - place, together[place])
        for edit, place, end in reversed(list(zip(edits, places, ends, strict=True)))
    ]


def _effect(edit: Edit, runs: Sequence[_Run], place: int, since: int, together: int) -> EditEffect:
    previous = runs[place - 1] if place else None
    following = runs[place] if place < len(runs) else None
    both = sorted(previous.agents.keys() & following.agents.keys()) if previous and following else None
    before, n_before = _quality(previous, both)
    after, n_after = _quality(following, both)
    return EditEffect(
        edit=edit,
        runs=since,
        together=together,
        previous_run=previous.name if previous else None,
        next_run=following.name if following else None,
        before=before,
        after=after,
        n_before=n_before,
        n_after=n_after,
    )


def _quality(run: _Run | None, agents: Sequence[str] | None) -> tuple[float | None, int]:
    """Return the mean quality over some agents of a run, all of them where none are named, and the calls behind it."""
    if run is None:
        return None, 0
    rows = [run.agents[agent] for agent in (sorted(run.agents) if agents is None else agents)]
    return mean(row.quality.get(COMPUTED) for row in rows), sum(row.n for row in rows)
