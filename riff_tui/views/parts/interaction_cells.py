"""Show how the sides of voice calls shared the line: figures over the events of all calls, with their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from riff_store.interaction import FEW_EVENTS, SUMS, Interaction, panel
from riff_store.metrics import OF_CALLS, POOLED
from riff_tui.table import NOT_MEASURED, Column
from riff_tui.text.numbers import fixed, screen_text
from riff_tui.text.words import counted
from riff_tui.views.parts import columns

if TYPE_CHECKING:
    from riff_store.answers.cells import FlowCell

_SOUNDS = {"backchannel": "backchannels", "vocal_tic": "vocal tics", "non_directed": "words to others"}
_COLUMNS: Mapping[str, Column] = {key: columns.column_of(OF_CALLS[key]) for key in POOLED}


def columns_of(answers: Sequence[FlowCell]) -> list[Column]:
    """Return the columns, which are there to be chosen, none where no call has a record of who spoke when."""
    return list(_COLUMNS.values()) if any(cell.interaction_all for cell in answers) else []


def values_of(cell: FlowCell, found: Sequence[Column]) -> dict[str, Any]:
    """Return the values of such columns, and both panels with their counts."""
    shown, every = panel(cell.interaction), panel(cell.interaction_all)
    figures = {column.key: shown[column.key] if shown else None for column in found}
    return {**figures, "interaction": shown, "interaction_all": every}


def texts_of(sums: Interaction | None) -> dict[str, str]:
    """Return each figure that has events behind it as a cell: its value, and in brackets their number."""
    return {key: _text(key, sums) for key, figure in POOLED.items() if sums is not None and sums.events(figure)}


def record_of(sums: Interaction | None) -> dict[str, Any] | None:
    """Return the panel of one call, with the sums behind it, as the data formats print it."""
    figures = panel(sums)
    return figures and {**figures, "sums": {name: getattr(sums, name) for name in SUMS}}


def told(record: Mapping[str, Any] | None) -> str:
    """Return what such a record of one call says, in counts, since a call has few events; empty without a record."""
    if not record:
        return ""
    sums = Interaction(**record["sums"])
    parts = [
        _of("answered", sums.response, sums.response_total, sums.response_latency),
        _of("gave way", sums.yielded, sums.yield_total, sums.yield_latency),
        f"broke in {sums.agent_interruptions}×" if sums.agent_interruptions else "",
    ]
    sounds = ((getattr(sums, f"{kind}_correct"), sums.total(kind), noun) for kind, noun in _SOUNDS.items())
    unmoved = ", ".join(f"{correct}/{total} {noun}" for correct, total, noun in sounds if total)
    parts.append(f"unmoved by {unmoved}" if unmoved else "")
    return " · ".join(part for part in parts if part) or "no event"


def notes(answers: Sequence[FlowCell]) -> Iterator[str]:
    """Yield the figures of all rows together, and those that errored calls would change."""
    without = _together([cell.interaction for cell in answers])
    every = _together([cell.interaction_all for cell in answers])
    if every is None:
        return
    calls = counted(0 if without is None else without.calls, "voice call")
    figures = " · ".join(f"{_COLUMNS[key].title} {text}" for key, text in texts_of(without).items())
    yield (
        f"Interaction, over all events of {calls} (their number in brackets, ~ below {FEW_EVENTS}):"
        f" {figures or NOT_MEASURED}."
    )
    without = without or Interaction()
    if every.calls > without.calls:
        more = counted(every.calls - without.calls, "errored call")
        yield f"Interaction with {more} as well: {_changed(without, every) or 'the same figures'}."


def _of(verb: str, count: int, total: int, seconds: float) -> str:
    if not total:
        return ""
    return f"{verb} {count}/{total}" + (f" after {fixed(seconds / count, 2)} s" if count else "")


def _changed(without: Interaction, every: Interaction) -> str:
    differ = (key for key in texts_of(every) if _value(key, without) != _value(key, every))
    return " · ".join(f"{_COLUMNS[key].title} {_text(key, every)}" for key in differ)


def _together(found: Sequence[Interaction | None]) -> Interaction | None:
    there = [sums for sums in found if sums is not None]
    return reduce(add, there) if there else None


def _text(key: str, sums: Interaction) -> str:
    events = sums.events(POOLED[key])
    return f"{_value(key, sums)} ({events}{'~' if events < FEW_EVENTS else ''})"


def _value(key: str, sums: Interaction) -> str:
    unit = " s" if _COLUMNS[key].unit == "s" else ""
    return f"{screen_text(_COLUMNS[key], sums.value(POOLED[key]))}{unit}"
