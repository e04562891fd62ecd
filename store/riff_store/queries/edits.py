"""Measure the quality of flows before and after each edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from riff_store.answers.edits import EditEffect
from riff_store.answers.quality import COMPUTED
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import run_starts
from riff_store.queries.edit_spans import EditSpan, edit_spans
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
    order = sorted(started, key=lambda name: (started[name] or 0, name))
    return [
        _effect(span, runs.get(flow, {}))
        for flow in sorted(edits.by_flow)
        for span in reversed(edit_spans(edits, flow, [run for run in order if run in runs.get(flow, {})]))
    ]


def _effect(span: EditSpan, runs: Mapping[str, Mapping[str, RowQuality]]) -> EditEffect:
    previous = runs[span.previous_run] if span.previous_run is not None else None
    following = runs[span.next_run] if span.next_run is not None else None
    both = sorted(previous.keys() & following.keys()) if previous and following else None
    before, n_before = _quality(previous, both)
    after, n_after = _quality(following, both)
    return EditEffect(**span._asdict(), before=before, after=after, n_before=n_before, n_after=n_after)


def _quality(run: Mapping[str, RowQuality] | None, agents: Sequence[str] | None) -> tuple[float | None, int]:
    """Return the mean quality over some agents of a run, all of them where none are named, and the calls behind it."""
    if run is None:
        return None, 0
    rows = [run[agent] for agent in (sorted(run) if agents is None else agents)]
    return mean(row.quality.get(COMPUTED) for row in rows), sum(row.n for row in rows)
