"""Choose what to work on (docs/metrics.md, section 6)."""

from __future__ import annotations

from collections.abc import Set

from riff_store.answers.cells import FlowCell, SegmentCell, StateCell
from riff_store.answers.lists import Worklist
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.expected import derived_flows
from riff_store.queries.first_to_mend import first_to_mend
from riff_store.queries.flows import flow_cells
from riff_store.queries.states import segment_cells, state_cells
from riff_store.ranking import is_handover, is_thin, is_weak_flow, is_weak_segment, loss, mean, reasons, worst_first

LIMIT = 10


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
