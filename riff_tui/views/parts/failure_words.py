"""Put into words what went wrong first in a call, and how many calls people marked."""

from __future__ import annotations

from collections.abc import Iterator

from riff_store.answers.failing import MARKED
from riff_tui.table import Column

DETAIL = Column(
    "failure_detail",
    "Guard, tool or code",
    kind="name",
    shown=False,
    help="The guard or tool that failed there, or the code that a person gave.",
)


def kind_text(kind: str, detail: str | None) -> str:
    """Return what went wrong, such as `tool error find`, and with a code `marked: wrong day`."""
    return f"{kind}{':' if kind == MARKED else ''} {detail}" if detail else kind


def marked_note(n: int, failed: int) -> Iterator[str]:
    """Yield in words how many of the failed calls people marked, nothing where they marked none."""
    if n:
        yield f"Of {failed} failed calls people marked {n}; a mark comes before what events tell."
