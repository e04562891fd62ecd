"""Show archetypes, the families of flows, each with the member that does worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.table import Column, Row, Table
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import ViewSpec

if TYPE_CHECKING:
    from riff_store.answers.cells import ArchetypeCell

UNITS = "Units: operability, correctness, completion 0-10, higher is better."
_COLUMNS = (
    columns.ARCHETYPE,
    Column("flows", "flows", kind="count", help="Flows of the family."),
    columns.OPERABILITY,
    columns.CORRECTNESS,
    columns.COMPLETION,
    columns.N,
    columns.EXCLUDED,
    Column(
        "worst_flow",
        "worst member",
        kind="text",
        help="The flow that a mean would hide: the least operable with any agent.",
    ),
    Column(
        "worst_operability",
        "worst oper",
        unit="0-10",
        better="higher",
        help="The worst member's operability, with the agent that led it worst.",
    ),
)


def archetypes(answers: Sequence[ArchetypeCell]) -> Table:
    """Return one row per archetype, in the order of the answers."""
    return Table(
        view="archetypes",
        title="Archetypes (worst first)",
        columns=_COLUMNS,
        rows=[_row(cell) for cell in answers],
        notes=[UNITS],
    )


def _row(cell: ArchetypeCell) -> Row:
    record: dict[str, Any] = {
        "archetype": cell.archetype,
        "flows": cell.flows,
        "n": cell.n,
        "excluded": cell.excluded,
        "operability": cell.operability,
        "correctness": cell.correctness.mean,
        "completion": cell.completion.mean,
        "worst_flow": cell.worst_flow,
        "worst_operability": cell.worst_operability,
        "intervals": cells.intervals({"correctness": cell.correctness, "completion": cell.completion}),
    }
    marks = cells.score_marks(record, ("operability", "correctness", "completion", "worst_operability"))
    if "operability" in marks:
        marks[""] = marks["operability"]
    where = cells.where({"archetype": cell.archetype})
    return Row(where, record, severity=marks, thin=cells.is_thin(cell.n), where=where)


SPEC = ViewSpec(
    name="archetypes",
    title="Archetypes",
    help=(
        "Families of flows: booking, dispatch, inquiry and what else the flows say of themselves.",
        "A family's mean can hide one bad flow, so the worst member stands in the row.",
        "Drill into a family with flows --where 'archetype=A'.",
    ),
    order=160,
    key="A",
    key_help="The families of flows, each with its worst member.",
    query="riff_store.queries.flows:archetypes",
    build=archetypes,
    columns=_COLUMNS,
    nouns=("archetype", "archetypes"),
    below="flows",
    comparable=True,
)
