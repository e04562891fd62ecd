"""Write which of how many rows a location shows, and what to do if it shows nothing."""

from __future__ import annotations

from riff_store.metrics import METRICS
from riff_tui.table import Table
from riff_tui.tui.navigation.location import Location
from riff_tui.view_registry import spec_of

# More rows than these are not summed up.
_LOOKED_AT = 20_000


def count_text(location: Location, table: Table, whole: int | None, marked: int = 0) -> str:
    """Return what follows the position of the cursor: ` match · 375 hidden` behind `3 of 37`.

    `whole` is the number of rows without the typed filter, if known.
    """
    return _counted(location, table, whole) + (f" · {marked:,} marked" if marked else "")


def _reason(location: Location) -> str:
    """Return by what calls are sorted where one came for that."""
    if not location.reason or location.chosen_order != location.reason:
        return ""
    key = location.reason.removeprefix("-")
    metric = next((each for each in METRICS if each.key == key), None)
    words = metric.title if metric is not None else key
    if metric is None or metric.unit not in ("share", "calls"):
        words = f"{'highest' if location.reason != key else 'lowest'} {words}"
    return f", {words} first"


def _counted(location: Location, table: Table, whole: int | None) -> str:
    rows, matched, _ = table.counts
    if table.deferred is not None and (table.sections or spec_of(location.view).row_kind == "call"):
        return f" {nouns(location, rows)} so far" if rows else ""
    if not rows:
        return f"0 of {whole:,} match" if location.filter and whole else f"0 {nouns(location, 0)}"
    if rows < matched:
        # Only the first ones are listed, with a filter and without.
        return f", the first of {matched:,} {nouns(location, matched)}"
    if location.filter:
        gone = (whole or 0) - rows
        return " match" + (f" · {gone:,} hidden" if gone > 0 else "")
    summary = spec_of(location.view).words.summary
    if summary is not None and isinstance(table.rows, list) and rows <= _LOOKED_AT:
        return f" · {summary(table)}"
    return _reason(location) or f" {nouns(location, rows)}"


def nouns(location: Location, count: int) -> str:
    """Return the noun for so many rows of a location."""
    one, several = spec_of(location.view).words.nouns
    return one if count == 1 else several


def empty_text(location: Location, *, awaited: bool = False) -> str:
    """Return what to do next at a location without rows, or that they are still `awaited`."""
    if awaited:
        return f"The {nouns(location, 2)} are not read yet."
    if location.filter:
        return "Nothing matches the filter: Esc clears it, / changes it."
    empty = spec_of(location.view).words.empty
    if empty:
        return empty
    if location.scope:
        return f"There are no {nouns(location, 2)} here: q goes back."
    return "The store is empty: riff-tui ingest PATH... fills it, riff-tui demo shows what it can do."
