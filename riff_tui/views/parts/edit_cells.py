"""Show an edit of a flow within the row of something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riff_tui.text.numbers import utc
from riff_tui.views.parts import cells

if TYPE_CHECKING:
    from riff_store.answers.edits import Edit

SHORT_COMMIT, SHORT_SUBJECT = 7, 40


def record_of(edit: Edit | None) -> dict[str, Any] | None:
    """Return an edit as the data formats print it within another row."""
    if edit is None:
        return None
    return {
        "flow": edit.flow,
        "commit": edit.commit,
        "time": cells.moment(edit.time),
        "author": edit.author,
        "subject": edit.subject,
    }


def in_short(edit: Edit, *, with_flow: bool = False) -> str:
    """Return an edit as a cell: its day, the start of its commit and of its subject."""
    text = f"{edit.flow}: {edit.subject}" if with_flow else edit.subject
    cut = text if len(text) <= SHORT_SUBJECT else f"{text[: SHORT_SUBJECT - 1]}…"
    return f"{utc(edit.time)[:10]} {edit.commit[:SHORT_COMMIT]} {cut}"
