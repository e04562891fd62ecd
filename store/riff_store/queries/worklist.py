"""Choose what to work on (docs/metrics.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence

from riff_store.answers.cells import FlowCell, SegmentCell, StateCell
from riff_store.answers.lists import FirstToMend, Worklist
from riff_store.database import Store
from riff_store.predicates import Predicate, Term, both
from riff_store.queries.flows import flow_cells
from riff_store.queries.states import segment_cells, state_cells
from riff_store.ranking import is_thin, is_weak_flow, is_weak_segment, loss, mean, reasons, worst_first
from riff_store.scoring import FULL

LIMIT = 10


def worklist(store: Store, calls: Predicate | None = None, limit: int = LIMIT) -> Worklist:
    """Return the state to begin with, and the weakest flows, segments and states, `limit` of each; thin ones last."""
    with store.snapshot():
        flows = flow_cells(store, calls)
        segments = segment_cells(store, calls)
        states = state_cells(store, calls)
        first = _first(store, calls, states)
    with_steps = {cell.keys["flow"] for cell in states if cell.expected is not None}

    def urgency(cell: StateCell) -> tuple[object, ...]:
        return is_thin(cell), *loss(cell, expects_steps=cell.keys["flow"] in with_steps), worst_first(cell)

    return Worklist(
        flows=sorted((cell for cell in flows if is_weak_flow(cell)), key=_weakness)[:limit],
        segments=sorted((cell for cell in segments if is_weak_segment(cell)), key=_loss_of_segment)[:limit],
        states=sorted((cell for cell in states if reasons(cell)), key=urgency)[:limit],
        excluded=sum(cell.excluded for cell in flows),
        first=first,
    )


def first_to_mend(store: Store, calls: Predicate | None = None) -> FirstToMend | None:
    """Return the state that lost most calls, `None` where none did; states of few calls come after all others."""
    with store.snapshot():
        return _first(store, calls, state_cells(store, calls))


def _first(store: Store, calls: Predicate | None, states: Sequence[StateCell]) -> FirstToMend | None:
    # Where tasks name the steps, the state that a call ended in says nothing of why it failed.
    with_steps = {cell.keys["flow"] for cell in states if cell.expected is not None}
    losing = [cell for cell in states if cell.lost and cell.keys["flow"] not in with_steps]
    if not losing:
        return None
    worst = min(losing, key=lambda cell: (is_thin(cell), -(cell.lost or 0), *cell.keys.values()))
    flow, state, lost = worst.keys["flow"] or "", worst.keys["state"] or "", worst.lost or 0
    in_flow = both(Term("flow", "=", flow), calls)
    (whole,) = flow_cells(store, in_flow, by=("flow",))
    by_agent = state_cells(store, both(Term("state", "=", state), in_flow), by=("flow", "state", "agent"))
    completion = mean(whole.aspects, "completion")
    share = None if completion is None else completion / FULL
    return FirstToMend(
        flow=flow,
        state=state,
        lost=lost,
        n=whole.n,
        completion=share,
        completion_at_most=None if share is None else min(1.0, share + lost / whole.aspects["completion"].n),
        agents=sorted(cell.keys["agent"] or "" for cell in by_agent if cell.n),
        losing=sorted(cell.keys["agent"] or "" for cell in by_agent if cell.lost),
    )


def _weakness(cell: FlowCell) -> tuple[object, ...]:
    return is_thin(cell), mean(cell.aspects, "correctness"), cell.keys["flow"], cell.keys["agent"]


def _loss_of_segment(cell: SegmentCell) -> tuple[object, ...]:
    return is_thin(cell), *loss(cell), worst_first(cell)
