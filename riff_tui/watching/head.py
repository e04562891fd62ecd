"""Say in one line where a run stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from riff_tui.text.numbers import fixed
from riff_tui.text.safe_text import cell_width, fit, one_line

if TYPE_CHECKING:
    from riff_runner.run.status.run_status import RunStatus

SEPARATOR = " · "
_NAME_WIDTH = 32
_CALLER = 6


class _Part(NamedTuple):
    """Hold a part of the line; where there is no room for all, those of the lowest rank are taken in first."""

    text: str
    rank: int


def head_line(status: RunStatus, width: int, ellipsis: str = "…") -> str:
    """Return where a run stands in at most `width` cells; what says least is left out where there is no room.

    The text is safe.
    """
    parts = _parts(status, ellipsis)
    taken: list[_Part] = []
    for part in sorted(parts, key=lambda each: each.rank):
        more = [each for each in parts if each in taken or each is part]
        if not taken or cell_width(_joined(more)) <= width:
            taken = more
    return fit(_joined(taken), width, ellipsis)


def whole_head_line(status: RunStatus) -> str:
    """Return where a run stands, however long that is, but for its caller."""
    return _joined([part for part in _parts(status, "…") if part.rank != _CALLER])


def span(seconds: float) -> str:
    """Write a number of seconds as `1h50`, `12min` or `<1min`."""
    minutes = int(seconds // 60)
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60:02d}"
    return f"{minutes}min" if minutes else "<1min"


def ending(status: RunStatus) -> str:
    """Return how a run ended that nobody works on, in a few words."""
    if status.phase == "ended":
        return "ended"
    return f"stopped ({status.ending or 'not begun'})"


def _parts(status: RunStatus, ellipsis: str) -> list[_Part]:
    counts = status.counts
    name = fit(one_line(status.run_id), _NAME_WIDTH, ellipsis)
    found = [_Part(f"run {name}  {counts.done}/{status.planned} calls", 0)]
    if status.phase == "running":
        found.append(_Part(f"{counts.running} running", 5))
    else:
        found.append(_Part(ending(status), 1))
    if counts.errored:
        found.append(_Part(f"{counts.errored} errored", 2))
    if counts.retrying:
        found.append(_Part(f"{counts.retrying} retrying", 3))
    if status.rate_per_min is not None:
        found.append(_Part(f"{fixed(status.rate_per_min)}/min", 7))
    if status.eta_s is not None:
        found.append(_Part(f"ETA {span(status.eta_s)}", 4))
    found.append(_Part(f"caller {fit(one_line(status.caller), _NAME_WIDTH, ellipsis)}", _CALLER))
    return found


def _joined(parts: list[_Part]) -> str:
    return SEPARATOR.join(part.text for part in parts)
