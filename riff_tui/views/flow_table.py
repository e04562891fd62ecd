"""Show each flow in the eyes of each judge, for each agent, to calibrate one by the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_store.answers.quality import COMPUTED
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.words import abbreviated
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import ViewSpec
from riff_tui.views.timeline import DOWN_ONLY

if TYPE_CHECKING:
    from riff_store.answers.quality import FlowQuality

UNITS = (
    "Units: quality 0-10, higher is better: operability with that judge's humanness alone; · where it scored no call."
)

_COMP = "comp"
_COLUMNS = (columns.FLOW, columns.N, columns.EXCLUDED)


def flow_table(answers: Sequence[FlowQuality]) -> Table:
    """Return one row per flow, in the order of the answers, with a column for each agent and judge."""
    pairs = sorted({(cell.agent, cell.judge) for flow in answers for cell in flow.cells})
    return Table(
        view="flow-table",
        title="Flow table: flows × (agent, judge) (worst first)",
        columns=[*_COLUMNS, *_columns(pairs)],
        rows=[_row(flow) for flow in answers],
        notes=[UNITS, DOWN_ONLY],
    )


def _columns(pairs: Sequence[tuple[str, str]]) -> list[Column]:
    agents = abbreviated({agent for agent, _ in pairs})
    judges = abbreviated({judge for _, judge in pairs} - {COMPUTED})
    judges[COMPUTED] = COMPUTED if _COMP in judges.values() else _COMP
    return [_column(agent, judge, f"{agents[agent]} {judges[judge]}") for agent, judge in pairs]


def _column(agent: str, judge: str, short: str) -> Column:
    seen = "without any judge's humanness" if judge == COMPUTED else f"with {judge}'s humanness alone"
    return Column(
        f"quality.{agent}.{judge}", f"{agent} {judge}", unit="0-10", better="higher", path=("quality", agent, judge),
        help=f"Operability of the flow led by {agent}, {seen}.", short=short,
    )  # fmt: skip


def _row(flow: FlowQuality) -> Row:
    quality: dict[str, dict[str, float | None]] = {}
    for cell in flow.cells:
        quality.setdefault(cell.agent, {})[cell.judge] = cell.quality
    record: dict[str, Any] = {
        "flow": flow.flow,
        "cells": [
            {"agent": cell.agent, "judge": cell.judge, "quality": cell.quality, "n": cell.n, "scored": cell.scored}
            for cell in flow.cells
        ],
        "n": flow.n,
        "excluded": flow.excluded,
        "quality": quality,
    }
    marks: dict[str, Severity] = {}
    for agent, values in quality.items():
        found = cells.score_marks(values, list(values))
        marks |= {f"quality.{agent}.{judge}": mark for judge, mark in found.items()}
    where = cells.where({"flow": flow.flow})
    return Row(where, record, severity=marks, thin=cells.is_thin(flow.n), where=where)


SPEC = ViewSpec(
    name="flow-table",
    title="Flow table",
    help=(
        "The quality of each flow for each agent in the eyes of each judge alone, side by side.",
        "A judge who stands far from the others and from (computed) asks to be calibrated.",
        "Drill into a flow with flows --where 'flow=F'.",
    ),
    order=70,
    key="6",
    key_help="Quality of each flow by agent and judge; press again to widen.",
    query="riff_store.queries.quality:flow_table",
    build=flow_table,
    judges="columns",
    columns=_COLUMNS,
    label="flow table",
    nouns=("flow", "flows"),
    below="flows",
)
