"""Show an edit of a flow within the row of something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from riff_tui.text.numbers import utc
from riff_tui.views.parts import cells

if TYPE_CHECKING:
    from riff_store.answers.edits import Basis, LastEdit

SHORT_COMMIT, SHORT_SUBJECT = 7, 40
BY_TIME = (
    "Edits with ? go by time: the run's commit is in no history that riff-tui edits has read;"
    " fetch it and run that again."
)


def record_of(last: LastEdit | None) -> dict[str, Any] | None:
    """Return an edit as the data formats print it within another row."""
    if last is None:
        return None
    return {
        "flow": last.edit.flow,
        "commit": last.edit.commit,
        "time": cells.moment(last.edit.time),
        "author": last.edit.author,
        "subject": last.edit.subject,
        "basis": last.basis,
    }


def in_short(last: LastEdit, *, with_flow: bool = False) -> str:
    """Return an edit as a cell: its day, the start of its commit and of its subject."""
    edit = last.edit
    text = f"{edit.flow}: {edit.subject}" if with_flow else edit.subject
    cut = text if len(text) <= SHORT_SUBJECT else f"{text[: SHORT_SUBJECT - 1]}…"
    return f"{utc(edit.time)[:10]} {marked(edit.commit[:SHORT_COMMIT], last.basis)} {cut}"


def marked(text: str, basis: Basis | None) -> str:
    """Return what stands for an edit, with a sign where only its time tells which runs contain it."""
    return f"{text}?" if basis == "time" else text


def notes(found: Iterable[LastEdit | None]) -> list[str]:
    """Return what there is to say of edits in cells: that some are told by time."""
    return [BY_TIME] if any(last is not None and last.basis == "time" for last in found) else []
