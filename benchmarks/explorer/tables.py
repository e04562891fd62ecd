"""What was measured, as the tables of the results and of docs/performance.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.explorer.measure import FILLED_S, FIRST_ROWS_S, RESTS_S, Seen
from benchmarks.report import amount

_NOTHING = "·"


def of_largest(seen: Sequence[Seen], calls: int) -> str:
    """The largest store, with dumps of the same beside it; what breaks a budget stands out."""
    head = (
        f"From a key to the first rows that it shows and to the last byte that it sends, on {calls:,} calls, medians."
        f" Rows shall be seen within {amount(FIRST_ROWS_S, 's')} and be complete within {amount(FILLED_S, 's')};"
        f" whoever leaves before by Esc shall leave no processor busy after {amount(RESTS_S, 's')}. The ratio is that"
        " of processor time: of the explorer ÷ of dumps of the same, from their start.\n\n"
        "| keys | first rows | complete | processor | dumps | ratio | Esc: said | Esc: at rest | met |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(f"{_row(each)}\n" for each in seen)


def _row(each: Seen) -> str:
    waited, left = each.waited, each.left
    cells = (
        each.step,
        *(amount(seconds, "s") for seconds in (waited.first, waited.filled, waited.cpu)),
        *((amount(each.dump, "s"), f"{waited.cpu / each.dump:.2f}") if each.dump else (_NOTHING, _NOTHING)),
        *((amount(left.said, "s"), amount(left.rests, "s")) if left else (_NOTHING, _NOTHING)),
        "yes" if each.in_time else "**no**",
    )
    return f"| {' | '.join(cells)} |"


def growth(sizes: Mapping[int, Sequence[Seen]]) -> str:
    """What each step waits for at each size, until first rows / all of them, and what it takes of the processor."""
    counts = " | ".join(f"{calls:,}" for calls in sizes)
    head = f"| keys | {counts} | processor | Esc |\n|---|{'---|' * len(sizes)}---|---|\n"
    by_size = [{each.step: each for each in seen} for seen in sizes.values()]
    return head + "".join(f"{_growth_row(step, by_size)}\n" for step in by_size[-1])


def _growth_row(step: str, by_size: Sequence[Mapping[str, Seen]]) -> str:
    waited = [
        f"{amount(seen[step].waited.first, 's')} / {amount(seen[step].waited.filled, 's')}" if step in seen else ""
        for seen in by_size
    ]
    largest = by_size[-1][step]
    left = amount(largest.left.rests, "s") if largest.left else _NOTHING
    return f"| {' | '.join((step, *waited, amount(largest.waited.cpu, 's'), left))} |"
