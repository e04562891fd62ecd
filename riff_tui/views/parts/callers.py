"""Say what calls whose caller failed would change, apart from the means that leave them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol

from riff_tui.table import Column
from riff_tui.text.numbers import percent
from riff_tui.views.parts import columns

if TYPE_CHECKING:
    from riff_store.measure import Measure


class Counted(Protocol):
    """Describe what counts calls: `n` in its means, `excluded` in none, `caller_failed` of these for their caller."""

    @property
    def n(self) -> int: ...
    @property
    def excluded(self) -> int: ...
    @property
    def caller_failed(self) -> int: ...
    @property
    def success(self) -> Measure: ...
    @property
    def overall(self) -> Measure | None: ...


def shown_where_failed(found: Sequence[Column], answers: Iterable[Counted]) -> list[Column]:
    """Return the columns, those of failed callers shown if the caller of any call failed."""
    if not any(each.caller_failed for each in answers):
        return list(found)
    told = (columns.CALLER_FAILED.key, columns.OVERALL.key)
    return [replace(column, shown=True) if column.key in told else column for column in found]


def values_of(answer: Counted) -> dict[str, Any]:
    """Return the values of those columns."""
    overall = answer.success if answer.overall is None else answer.overall
    return {columns.CALLER_FAILED.key: answer.caller_failed, columns.OVERALL.key: overall.mean}


def intervals_of(answer: Counted) -> dict[str, Measure]:
    """Return the measure that has an interval of its own, nothing where no caller failed."""
    return {} if answer.overall is None else {columns.OVERALL.key: answer.overall}


def note(answers: Sequence[Counted]) -> Iterator[str]:
    """Yield how many calls are in no mean because of their caller, and what success would be with them."""
    failed = sum(each.caller_failed for each in answers)
    if not failed:
        return
    calls = sum(each.n + each.excluded for each in answers)
    adjusted = reduce(add, (each.success for each in answers))
    overall = reduce(add, (each.success if each.overall is None else each.overall for each in answers))
    are, whose = ("call", "is in no mean because its") if failed == 1 else ("calls", "are in no mean because their")
    yield (
        f"Callers: {failed:,} {are} of {calls:,} {whose} caller failed: success {percent(adjusted.mean)} without"
        f" {'it' if failed == 1 else 'them'} (adjusted), {percent(overall.mean)} with {'it' if failed == 1 else 'them'}"
        " (overall)."
    )
