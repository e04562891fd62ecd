"""Show each flow in the eyes of each judge, for each agent, to calibrate one by the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_store.vocabulary import COMPUTED
from riff_tui.table import BOUNDS, Bounds, Column, Row, Table
from riff_tui.text.column_fit import abbreviated
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Screen, ViewSpec, Words
from riff_tui.views.timeline import DOWN_ONLY

if TYPE_CHECKING:
    from riff_store.queries.quality import FlowQuality, QualityCell
    from riff_tui.view_query import ViewQuery

UNITS = (
    "Units: 0-10, higher is better: (computed) is the mean quality of calls without any judge, a judge's column the"
    " mean of its own scores, of so many where not all calls of the row have one; · where it scored none."
)

_COMP = "comp"
_COLUMNS = (columns.FLOW, columns.N, columns.EXCLUDED)


def show(query: ViewQuery) -> Table:
    """Return the flows of such calls as each judge sees them."""
    from riff_store.queries.quality import flow_table as asked

    return query.result(
        query.parts(), lambda parts: flow_table(asked(query.store, parts.calls, parts.judges), query.bounds)
    )


def flow_table(answers: Sequence[FlowQuality], bounds: Bounds = BOUNDS) -> Table:
    """Return one row per flow, in the order of the answers: the judges over all its calls, then agent by agent."""
    judges = list(dict.fromkeys(cell.judge for flow in answers for cell in flow.pooled))
    pairs = sorted({(cell.agent, cell.judge) for flow in answers for cell in flow.cells if cell.agent is not None})
    return Table(
        view="flow-table",
        title="Flow table: flows × (agent, judge) (worst first)",
        columns=[
            *_COLUMNS,
            *(column for judge in judges for column in cells.quality_columns(judge, ("pooled", judge))),
            *_columns(pairs),
        ],
        rows=[_row(flow, bounds) for flow in answers],
        notes=[UNITS, DOWN_ONLY],
    )


def _columns(pairs: Sequence[tuple[str, str]]) -> list[Column]:
    agents = abbreviated({agent for agent, _ in pairs})
    judges = abbreviated({judge for _, judge in pairs} - {COMPUTED})
    judges[COMPUTED] = COMPUTED if _COMP in judges.values() else _COMP
    return [
        column
        for agent, judge in pairs
        for column in cells.quality_columns(
            judge, ("quality", agent, judge), f"{agent} {judge}", f"{agents[agent]} {judges[judge]}"
        )
    ]


def _row(flow: FlowQuality, bounds: Bounds) -> Row:
    quality: dict[str, dict[str, QualityCell]] = {}
    for cell in flow.cells:
        quality.setdefault(cell.agent or "", {})[cell.judge] = cell
    record: dict[str, Any] = {
        "flow": flow.flow,
        "cells": [
            {"agent": cell.agent, "judge": cell.judge, "quality": cell.quality.mean, "n": cell.quality.n}
            for cell in flow.cells
        ],
        "n": flow.n,
        "excluded": flow.excluded,
        "pooled": {cell.judge: cell.quality.mean for cell in flow.pooled},
        "pooled_n": {cell.judge: cell.quality.n for cell in flow.pooled},
        "quality": {agent: {judge: cell.quality.mean for judge, cell in of.items()} for agent, of in quality.items()},
        "quality_n": {agent: {judge: cell.quality.n for judge, cell in of.items()} for agent, of in quality.items()},
    }
    every = {_key(cell): cell.quality for cell in (*flow.pooled, *flow.cells)}
    counts = cells.counts_of(flow.n, every)
    # A judge's scale is its own: what a strict one says of a good flow makes it no worse.
    computed = {_key(cell): cell.quality for cell in (*flow.pooled, *flow.cells) if cell.judge == COMPUTED}
    marks = cells.measured_marks(computed, bounds)
    marks[""] = marks.get(f"pooled.{COMPUTED}", "ok")
    where = cells.where({"flow": flow.flow})
    return Row(where, record, severity=marks, thin=cells.is_thin(flow.n), where=where, counts=counts)


def _key(cell: QualityCell) -> str:
    return f"pooled.{cell.judge}" if cell.agent is None else f"quality.{cell.agent}.{cell.judge}"


SPEC = ViewSpec(
    name="flow-table",
    title="Flow table",
    help=(
        "What each judge says of each flow, over all its calls and for each agent, side by side.",
        "A judge who stands far from the others and from (computed) asks to be calibrated.",
        "Drill into a flow with flows --where 'flow=F'.",
    ),
    order=70,
    show=show,
    judges="columns",
    columns=_COLUMNS,
    words=Words(label="flow table", nouns=("flow", "flows")),
    screen=Screen(key="6", help="What each judge says of each flow, by agent; press again to widen.", below="flows"),
)
