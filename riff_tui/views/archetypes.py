"""Show archetypes, the families of flows, each with the member that does worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_store.measure import mean
from riff_tui.table import BOUNDS, Bounds, Column, Row, Table
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.flows import ArchetypeCell
    from riff_tui.view_query import ViewQuery

UNITS = (
    "Units: success, cohesion shares of calls · quality, operability, correctness, completion 0-10, higher is better."
)
_COLUMNS = (
    columns.ARCHETYPE,
    Column("flows", "flows", kind="count", help="Flows of the family."),
    columns.SUCCESS,
    columns.QUALITY,
    columns.share(
        "cohesion", "cohesion", better="lower",
        help="How far apart its members are: the largest less the smallest success rate of a flow and agent.",
    ),
    Column("worst_flow", "worst member", kind="text", help="The flow and agent that a mean would hide."),
    Column("worst_agent", "worst agent", kind="text", shown=False, help="The agent of the worst member."),
    columns.share("worst_success_rate", "worst success", better="higher", help="The worst member's success rate."),
    columns.OPERABILITY,
    columns.CORRECTNESS,
    columns.COMPLETION,
    columns.N,
    columns.FAILED,
    columns.EXCLUDED,
    Column("best_flow", "best flow", kind="text", shown=False, help="The flow of the member with most success."),
    Column("best_agent", "best agent", kind="text", shown=False, help="The agent of the member with most success."),
)  # fmt: skip


def show(query: ViewQuery) -> Table:
    """Return the families of the flows of such calls."""
    from riff_store.queries.flows import archetypes as asked

    return query.result(query.parts(), lambda parts: archetypes(asked(query.store, parts.calls), query.bounds))


def archetypes(answers: Sequence[ArchetypeCell], bounds: Bounds = BOUNDS) -> Table:
    """Return one row per archetype, in the order of the answers."""
    return Table(
        view="archetypes",
        title="Archetypes (worst first)",
        columns=_COLUMNS,
        rows=[_row(cell, bounds) for cell in answers],
        notes=[UNITS, *cells.measured_note([cell.family for cell in answers])],
    )


def _row(cell: ArchetypeCell, bounds: Bounds) -> Row:
    family, least, most = cell.family, cell.least, cell.most
    ends = [end for member in (least, most) if member and (end := member.success.mean) is not None]
    measures = {
        "success_rate": family.success,
        "quality": family.quality,
        **{key: family.aspects[key] for key in ("correctness", "completion") if key in family.aspects},
    }
    record: dict[str, Any] = {
        "archetype": cell.archetype,
        "flows": cell.flows,
        "n": family.n,
        "failed": family.failed if family.success.n else None,
        "excluded": family.excluded,
        "success_rate": family.success.mean,
        "quality": family.quality.mean,
        "operability": family.operability,
        "correctness": mean(family.aspects, "correctness"),
        "completion": mean(family.aspects, "completion"),
        "cohesion": max(ends) - min(ends) if ends else None,
        "worst_flow": least.keys["flow"] if least else None,
        "worst_agent": least.keys["agent"] if least else None,
        "worst_success_rate": least.success.mean if least else None,
        "best_flow": most.keys["flow"] if most else None,
        "best_agent": most.keys["agent"] if most else None,
        "intervals": cells.intervals(measures),
    }
    marks = cells.success_marks(family, bounds)
    where = cells.where({"archetype": cell.archetype})
    display = {"worst_flow": f"{record['worst_flow']} @ {record['worst_agent']}"} if least else {}
    counts = cells.counts_of(family.n, measures)
    return Row(where, record, display, severity=marks, thin=cells.is_thin(family.n), where=where, counts=counts)


SPEC = ViewSpec(
    name="archetypes",
    title="Archetypes",
    help=(
        "Families of flows: booking, dispatch, inquiry and what else the flows say of themselves.",
        "A family's mean can hide one bad flow, so the worst member stands in the row.",
        "Drill into a family with flows --where 'archetype=A'.",
    ),
    order=160,
    show=show,
    columns=_COLUMNS,
    comparable=True,
    words=Words(nouns=("archetype", "archetypes")),
    screen=Screen(key="A", help="The families of flows, each with its worst member.", below="flows"),
)
