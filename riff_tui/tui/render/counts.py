"""How many of what a place shows, in a few words."""

from __future__ import annotations

from riff_tui.table import Table
from riff_tui.tui.navigation.location import SIDE_BY_SIDE, Location

_CALLED = {
    "timeline": "runs",
    "flow-table": "flows",
    "effects": "rows",
    "agreement": "pairs",
    "repeats": "rows",
    "neighbors": "conversations",
    "worklist": "entries",
    "edits": "edits",
    "compare": "rows",
    "failures": "pairs",
    "skipped": "inputs",
    SIDE_BY_SIDE: "metrics",
}
_ONE = {"entries": "entry"}
_WITHOUT = {
    "judges": "No judge scored a call here: riff-tui judge has one do so.",
    "agreement": "No judge scored a call here: riff-tui judge has one do so.",
    "disputes": "There are no disputes here: these take two judges who scored the same call apart.",
    "repeats": "There are no repeats here: these have the same flow, agent, scenario and persona.",
}
# Beyond this nobody counts by looking at every row.
_LOOKED_AT = 20_000


def counted(place: Location, table: Table, whole: int | None, marked: int = 0) -> str:
    """`37 of 412 states shown`; `whole` is the number of rows without what was typed, where it is known."""
    return (f"{marked:,} marked · " if marked else "") + _counted(place, table, whole)


def _counted(place: Location, table: Table, whole: int | None) -> str:
    rows = len(table.rows)
    if place.view == "disputes":
        # Only the widest are listed, with a filter and without.
        total = max(rows, table.extras.get("total", 0))
        return f"{rows:,} of {total:,} disputes" if total > rows else f"{rows:,} {nouns(place, rows)}"
    if place.filter and whole is not None:
        return f"{rows:,} of {whole:,} {nouns(place, whole)} shown"
    if place.view == "flows" and not place.filter and isinstance(table.rows, list) and rows <= _LOOKED_AT:
        return _flows(table)
    return f"{rows:,} {nouns(place, rows)}"


def _flows(table: Table) -> str:
    flows = {row.record.get("flow") for row in table.rows}
    agents = {row.record.get("agent") for row in table.rows}
    calls = sum((row.record.get("n") or 0) + (row.record.get("excluded") or 0) for row in table.rows)
    return " · ".join(
        f"{count:,} {word if count != 1 else word[:-1]}"
        for count, word in ((len(flows), "flows"), (len(agents), "agents"), (calls, "calls"))
    )


def nouns(place: Location, count: int) -> str:
    """What so many of the rows of a place are called."""
    word = _CALLED.get(place.view, place.view)
    if count != 1:
        return word
    return _ONE.get(word, word.removesuffix("s"))


def nothing_here(place: Location) -> str:
    """What to do next where a place has no rows."""
    if place.filter:
        return "Nothing matches the filter: Esc clears it, / changes it."
    if place.view == "worklist":
        return "Nothing stands out: no flow is weak, no state stalls."
    if place.view == "skipped":
        return "Nothing was skipped: every input was taken as it stood."
    if place.view in _WITHOUT:
        return _WITHOUT[place.view]
    if place.view == "effects":
        return "There is nothing to explain here: that takes measured calls, and two judges, agents, flows or personas."
    if place.view == "compare":
        return "There is no flow of which both sides have a call that counts: q goes back."
    if place.view == "failures":
        return "No call of these pairs failed: q goes back."
    if place.scope:
        return f"There are no {nouns(place, 2)} here: q goes back."
    return "The store is empty: riff-tui ingest PATH... fills it, riff-tui demo shows what it can do."


def ago(seconds: float) -> str:
    """How long something is past, in the largest unit that fits."""
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {word} ago"
    return "just now"
