"""Choose what to work on (docs/metrics.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.measure import is_thin, mean
from riff_store.queries.flows import FlowCell, flow_cells, is_weak_flow
from riff_store.queries.states import (
    SegmentCell,
    StateCell,
    is_weak_segment,
    loss,
    reasons,
    segment_cells,
    state_cells,
    worst_first,
)
from riff_store.queries.steps import FirstToMend, derived_flows, first_to_mend, is_handover

LIMIT = 10


@dataclass(frozen=True, slots=True)
class Worklist:
    """Hold the cells behind each list of the worklist, ranked and cut, and the state to begin with.

    `excluded` and `caller_failed` are as in a cell of flows, over all of them. `by_steps` are the flows whose states
    are ranked by the steps that their tasks ask for, `by_ends` those of the others with states derived from tools in
    which calls were lost; `handovers` those steps of failed calls that hand over to a human and were missed, which are
    on no list.
    """

    flows: Sequence[FlowCell]
    segments: Sequence[SegmentCell]
    states: Sequence[StateCell]
    excluded: int
    first: FirstToMend | None = None
    caller_failed: int = 0
    by_steps: Sequence[str] = ()
    by_ends: Sequence[str] = ()
    handovers: Sequence[StateCell] = ()


def worklist(store: Store, calls: Predicate | None = None, limit: int = LIMIT, *, whole: bool = True) -> Worklist:
    """Return the state to begin with, and the weakest flows, segments and states, `limit` of each; thin ones last.

    One that is not to be `whole` has the flows alone.
    """
    with store.snapshot():
        flows = flow_cells(store, calls)
        segments = segment_cells(store, calls) if whole else []
        states = state_cells(store, calls) if whole else []
        first = first_to_mend(store, calls) if whole else None
        derived = derived_flows(store)
    by_steps = sorted({cell.keys["flow"] or "" for cell in states if cell.asks_steps})
    return Worklist(
        flows=sorted((cell for cell in flows if is_weak_flow(cell)), key=_weakness)[:limit],
        segments=sorted((cell for cell in segments if is_weak_segment(cell)), key=_loss)[:limit],
        states=sorted((cell for cell in states if _is_root_cause(cell, derived)), key=_loss)[:limit],
        by_steps=by_steps,
        by_ends=sorted(derived & {cell.keys["flow"] or "" for cell in states if cell.lost} - set(by_steps)),
        handovers=sorted((cell for cell in states if _missed_handover(cell)), key=_loss),
        excluded=sum(cell.excluded for cell in flows),
        caller_failed=sum(cell.caller_failed for cell in flows),
        first=first,
    )


def _weakness(cell: FlowCell) -> tuple[object, ...]:
    return is_thin(cell), mean(cell.aspects, "correctness"), cell.keys["flow"], cell.keys["agent"]


def _is_root_cause(cell: StateCell, derived: Set[str]) -> bool:
    return bool(reasons(cell)) and not (cell.keys["flow"] in derived and is_handover(cell.keys["state"] or ""))


def _missed_handover(cell: StateCell) -> bool:
    return cell.steps is not None and cell.steps.missed_failed > 0 and is_handover(cell.keys["state"] or "")


def _loss(cell: SegmentCell | StateCell) -> tuple[object, ...]:
    return is_thin(cell), loss(cell), worst_first(cell)
