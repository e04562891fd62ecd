"""Show how the sides of voice calls shared the line: figures over the events of all calls, with their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from riff_store.interaction import FEW_EVENTS, Interaction, panel
from riff_store.metrics import OF_CALLS, POOLED
from riff_tui.table import NOT_MEASURED, Column
from riff_tui.text.numbers import screen_text
from riff_tui.text.words import counted
from riff_tui.views.parts import columns

if TYPE_CHECKING:
    from riff_store.answers.cells import FlowCell

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
    errored = every.calls - (0 if without is None else without.calls)
    if errored:
        changed = _changed(without or Interaction(), every)
        yield f"Interaction with {counted(errored, 'errored call')} as well: {changed or 'no figure differs'}."


def _changed(without: Interaction, every: Interaction) -> str:
    before, after = texts_of(without), texts_of(every)
    return " · ".join(f"{_COLUMNS[key].title} {text}" for key, text in after.items() if before.get(key) != text)


def _together(found: Sequence[Interaction | None]) -> Interaction | None:
    there = [sums for sums in found if sums is not None]
    return reduce(add, there) if there else None


def _text(key: str, sums: Interaction) -> str:
    events = sums.events(POOLED[key])
    value = screen_text(_COLUMNS[key], sums.value(POOLED[key]))
    unit = " s" if _COLUMNS[key].unit == "s" else ""
    return f"{value}{unit} ({events}{'~' if events < FEW_EVENTS else ''})"
