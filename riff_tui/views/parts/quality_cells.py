"""Show the quality of calls as each judge sees it: its mean, and the calls behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from riff_store.answers.quality import COMPUTED
from riff_tui.table import Column
from riff_tui.text.numbers import fixed
from riff_tui.views.parts import cells, columns

if TYPE_CHECKING:
    from riff_store.measure import Measure


def columns_of(judge: str, path: Sequence[str], title: str = "", short: str = "") -> list[Column]:
    """Return the column of the mean at a path of the record, and that of the calls behind it."""
    key = ".".join(path)
    mean = Column(
        key, title or judge, unit="0-10", better="higher", path=tuple(path), short=short,
        help="Mean quality of calls without any judge." if judge == COMPUTED else f"Mean of {judge}'s own scores.",
    )  # fmt: skip
    n_path = (f"{path[0]}_n", *path[1:])
    n = Column(
        ".".join(n_path), f"n {mean.title}", kind="count", shown=False, path=n_path,
        help=f"Calls behind the mean of {mean.title}.",
    )  # fmt: skip
    return [mean, n]


def with_interval(found: Sequence[Column]) -> list[Column]:
    """Return the columns of a mean with that of its interval between them."""
    mean, *rest = found
    return [mean, columns.interval(mean), *rest]


def in_short(measure: Measure, n: int) -> str | None:
    """Return a mean with the calls behind it where they are not the `n` of its row, `None` where it needs none."""
    if measure.n in (0, n):
        return None
    return f"{fixed(measure.mean)} ({measure.n}{'~' if cells.is_thin(measure.n) else ''})"
