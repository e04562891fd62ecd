"""Show what was skipped or changed, where, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from riff_tui.shapes import COUNT, or_null
from riff_tui.table import Column, Row, Table
from riff_tui.views.parts import cells
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.contents import SkippedEntry
    from riff_tui.view_query import ViewQuery

_COLUMNS = (
    Column("path", "File", kind="name", help="The file that it was read from."),
    Column("line", "Line", kind="count", help="The line in that file."),
    Column("kind", "Kind", kind="name", help="skipped, mismatch, replaced, rerun, superseded, defect or unjoined."),
    Column("conversation", "Conversation", kind="name", help="The call that it concerns."),
    Column("reason", "Reason", kind="text", said=True, help="What was wrong with it."),
)


def show(query: ViewQuery) -> Table:
    """Return what an ingest did not take as it was."""
    from riff_store.queries.contents import skipped as asked

    return query.result(query.parts(), lambda _: skipped(asked(query.store)))


def skipped(answers: Sequence[SkippedEntry]) -> Table:
    """Return one row per input, in the order of files and lines."""
    return Table(
        view="skipped",
        title="Inputs that were skipped or changed",
        columns=_COLUMNS,
        rows=[_row(number, entry) for number, entry in enumerate(answers, 1)],
    )


def _row(number: int, entry: SkippedEntry) -> Row:
    record = cells.record_by_columns(_COLUMNS, entry)
    return Row(str(number), record, severity={"": "bad"} if entry.kind == "skipped" else {})


SPEC = ViewSpec(
    name="skipped",
    title="Skipped inputs",
    help=(
        "What was skipped or changed: the file, the line and the reason.",
        "replaced: the same call is elsewhere too; rerun: the same call follows further down; unjoined: no call for it."
        " The rest counts.",
        "A file that was fixed is read again by the next ingest.",
    ),
    order=150,
    show=show,
    rows={"line": or_null(COUNT)},
    columns=_COLUMNS,
    filters=Filters(refusal="what was skipped belongs to no flow, agent or run"),
    order_by="path",
    words=Words(
        label="skipped inputs",
        nouns=("input", "inputs"),
        empty="Nothing was skipped or changed: every input was read as it is.",
        empty_store="No input was skipped.",
    ),
    screen=Screen(key="9", help="What an ingest skipped or changed, and why."),
)
