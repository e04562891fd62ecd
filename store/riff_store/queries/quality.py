"""Measure the rows of the flow matrix as each judge alone sees them: row by row, by run, and by flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from riff_store import models as m
from riff_store.answers.quality import COMPUTED, FlowQuality, QualityCell, RunQuality
from riff_store.database import Store
from riff_store.models import COMPUTED_JUDGE
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import Grouping, Names, run_order, run_starts
from riff_store.queries.flows import selected_judges
from riff_store.queries.last_edits import Edits
from riff_store.queries.sums import AspectSums, aspect_sums, call_counts
from riff_store.scoring import operability


class RowQuality(NamedTuple):
    """Describe a row of the matrix: its calls, and by judge the quality and the calls that were scored for it."""

    n: int
    excluded: int
    quality: Mapping[str, float | None]
    scored: Mapping[str, int]


def row_qualities(
    store: Store, calls: Predicate | None, by: tuple[str, ...], judges: Predicate | None
) -> tuple[dict[Names, RowQuality], list[str]]:
    """Return each row by the names of `by`, and `(computed)` and the judges that scored any of them, in order.

    Quality is operability with that judge's humanness alone, `(computed)` has none (docs/metrics.md, section
    8). It is not measured where the judge scored no call of the row.
    """
    group = Grouping(by)
    counts, sums = call_counts(store, calls, group), aspect_sums(store, calls, group)
    chosen = selected_judges(store, judges)
    found = {
        names: _row(n, excluded, sums.get(names, {}), chosen)
        for names, (n, excluded) in sorted(counts.items(), key=_named)
    }
    return found, [COMPUTED, *sorted({judge for row in found.values() for judge in row.quality} - {COMPUTED})]


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the measured values, `None` where there are none."""
    measured = [value for value in values if value is not None]
    # Added up in order of size: the same whatever the rows are called.
    return sum(sorted(measured)) / len(measured) if measured else None


def _named(row: tuple[Names, tuple[int, int]]) -> tuple[str, ...]:
    return tuple(name or "" for name in row[0])


def _row(n: int, excluded: int, sums: Mapping[tuple[str, int], AspectSums], judges: Mapping[int, str]) -> RowQuality:
    def computed(aspect: str) -> float | None:
        found = sums.get((aspect, COMPUTED_JUDGE))
        return found.mean if found else None

    def quality(humanness: Mapping[str, float | None]) -> float | None:
        correctness, completion, errors = computed("correctness"), computed("completion"), computed("errors")
        return operability(correctness, completion, errors, computed("latency_p95"), humanness)

    judged = {
        judges[judge]: found for (aspect, judge), found in sums.items() if aspect == "humanness" and judge in judges
    }
    correctness = sums.get(("correctness", COMPUTED_JUDGE))
    return RowQuality(
        n,
        excluded,
        {COMPUTED: quality({}), **{name: quality({name: by.mean}) if by.n else None for name, by in judged.items()}},
        {COMPUTED: correctness.n if correctness else 0, **{name: by.n for name, by in judged.items()}},
    )


def timeline(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> list[RunQuality]:
    """Return the runs that hold such calls, the earliest first; runs without a time come last.

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
        edit=edits.latest(flows, run),
    )


def flow_table(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> list[FlowQuality]:
    """Return the flows, the least computed quality of any agent first; `judges` chooses the other columns."""
    with store.snapshot():
        rows, columns = row_qualities(store, calls, ("flow", "agent"), judges)
    flows: dict[str, dict[str, RowQuality]] = {}
    for (flow, agent), row in rows.items():
        flows.setdefault(flow or "", {})[agent or ""] = row
    return sorted((_flow(flow, agents, columns) for flow, agents in flows.items()), key=_least_first)


def _flow(flow: str, agents: Mapping[str, RowQuality], judges: Sequence[str]) -> FlowQuality:
    return FlowQuality(
        flow=flow,
        n=sum(row.n for row in agents.values()),
        excluded=sum(row.excluded for row in agents.values()),
        cells=[
            QualityCell(agent, judge, row.quality.get(judge), row.n, row.scored.get(judge, 0))
            for agent, row in agents.items()
            for judge in judges
        ],
    )


def _least_first(flow: FlowQuality) -> tuple[bool, float, str]:
    least = _least(cell.quality for cell in flow.cells if cell.judge == COMPUTED)
    return least is None, least or 0.0, flow.flow


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)
