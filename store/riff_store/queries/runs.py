"""List runs."""

from __future__ import annotations

from riff_store import models as m
from riff_store.answers.lists import RunSummary
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import Grouping, run_order, run_starts
from riff_store.queries.sums import call_counts


def runs(store: Store, calls: Predicate | None = None) -> list[RunSummary]:
    """Return the runs that hold such calls, in time order; a run starts with its first call."""
    with store.snapshot():
        counts: dict[str, dict[str, tuple[int, int]]] = {}
        for (run, flow), found in call_counts(store, calls, Grouping(("run", "flow"))).items():
            counts.setdefault(run or "", {})[flow or ""] = found
        described = store.execute(m.Run.select(m.Run.name, m.Run.label, m.Run.commit, m.Run.branch))
        started, order = run_starts(store), run_order(store)
    return [
        RunSummary(
            run=name,
            label=label,
            commit=commit,
            branch=branch,
            started_at=started.get(name),
            flows=len(counts[name]),
            n=sum(n for n, _ in counts[name].values()),
            excluded=sum(excluded for _, excluded in counts[name].values()),
        )
        for name, label, commit, branch in sorted(described, key=lambda row: order.get(row[0], 0))
        if name in counts
    ]
