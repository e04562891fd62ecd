"""How do agents and judges see each flow, side by side?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from riff_store.answers.quality import COMPUTED, FlowQuality, QualityCell
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.quality import RowQuality, row_qualities


def flow_table(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> list[FlowQuality]:
    """The flows, the one with the least computed quality of any agent first; `judges` chooses those besides it."""
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
