"""How did quality go from run to run?"""

from __future__ import annotations

from collections.abc import Sequence

from riff_store import models as m
from riff_store.answers.quality import RunQuality
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.last_edits import Edits
from riff_store.queries.order import run_order, run_starts
from riff_store.queries.quality import RowQuality, mean, row_qualities


def timeline(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> list[RunQuality]:
    """The runs that hold such calls, the earliest first; runs without a time come last.

    `judges` chooses the judges besides `(computed)`.
    """
    with store.snapshot():
        rows, columns = row_qualities(store, calls, ("run", "flow", "agent"), judges)
        commits = dict(store.execute(m.Run.select(m.Run.name, m.Run.commit)))
        started, order, edits = run_starts(store), run_order(store), Edits(store)
    runs: dict[str, dict[str, list[RowQuality]]] = {}
    for (run, flow, _), row in rows.items():
        runs.setdefault(run or "", {}).setdefault(flow or "", []).append(row)
    return [
        _run(run, started.get(run), commits.get(run), runs[run], columns, edits)
        for run in sorted(runs, key=lambda name: order.get(name, 0))
    ]


def _run(
    run: str,
    started: int | None,
    commit: str | None,
    flows: dict[str, list[RowQuality]],
    judges: Sequence[str],
    edits: Edits,
) -> RunQuality:
    rows = [row for found in flows.values() for row in found]
    values = {judge: [row.quality.get(judge) for row in rows] for judge in judges}
    return RunQuality(
        run=run,
        started_at=started,
        commit=commit,
        flows=len(flows),
        n=sum(row.n for row in rows),
        excluded=sum(row.excluded for row in rows),
        quality={judge: mean(found) for judge, found in values.items()},
        rows={judge: sum(value is not None for value in found) for judge, found in values.items()},
        edit=edits.latest(flows, started),
    )
