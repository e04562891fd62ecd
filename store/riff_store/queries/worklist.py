"""Choose what to work on (docs/metrics.md, section 6)."""

from __future__ import annotations

from riff_store.answers.cells import FlowCell, StateCell
from riff_store.answers.lists import Worklist
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.flows import flow_cells
from riff_store.queries.states import segment_cells, state_cells
from riff_store.ranking import is_thin, is_weak_flow, is_weak_segment, lost_share, mean, reasons, worst_first

LIMIT = 10


def worklist(store: Store, calls: Predicate | None = None, limit: int = LIMIT) -> Worklist:
    """Return the weakest flows, segments and states, `limit` of each; thin ones come last."""
    with store.snapshot():
        flows = flow_cells(store, calls)
        segments = segment_cells(store, calls)
        states = state_cells(store, calls)
    with_steps = {cell.keys["flow"] for cell in states if cell.expected is not None}

    def urgency(cell: StateCell) -> tuple[object, ...]:
        return is_thin(cell), -lost_share(cell, expects_steps=cell.keys["flow"] in with_steps), worst_first(cell)

    weak_segments = [cell for cell in segments if is_weak_segment(cell)]
    return Worklist(
        flows=sorted((cell for cell in flows if is_weak_flow(cell)), key=_weakness)[:limit],
        segments=sorted(weak_segments, key=lambda cell: (is_thin(cell), worst_first(cell)))[:limit],
        states=sorted((cell for cell in states if reasons(cell)), key=urgency)[:limit],
        excluded=sum(cell.excluded for cell in flows),
    )


def _weakness(cell: FlowCell) -> tuple[object, ...]:
    return is_thin(cell), mean(cell.aspects, "correctness"), cell.keys["flow"], cell.keys["agent"]
