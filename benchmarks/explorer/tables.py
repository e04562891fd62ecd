"""What was measured, as the tables of the results and of docs/performance.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.explorer.measure import FILLED_S, FIRST_ROWS_S, RESTS_S, Seen
from benchmarks.report import amount

_NOTHING = "·"
_MET = {True: "yes", False: "**no**", None: _NOTHING}


def of_largest(seen: Sequence[Seen], calls: int) -> str:
    """The largest store, with dumps of the same beside it; what breaks a budget stands out."""
    head = (
        f"From a key to the first rows that it shows, and to the last byte that it sends, on {calls:,} calls, medians;"
        " in brackets what the explorer took of a processor for it. Rows shall be there within"
        f" {amount(FIRST_ROWS_S, 's')}, complete within {amount(FILLED_S, 's')}, and nothing shall go on"
        f" {amount(RESTS_S, 's')} after Esc. The ratio is that of processor time: of the explorer ÷ of dumps of the"
        " same, from their start.\n\n"
        "| keys | first rows | complete | dumps | ratio | Esc: said | Esc: at rest | met |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(f"{_row(each)}\n" for each in seen)


def _row(each: Seen) -> str:
    waited, left = each.waited, each.left
    cells = (
        each.step,
        _with_cpu(waited.first, waited.first_cpu),
        _with_cpu(waited.filled, waited.cpu),
        *((amount(each.dump, "s"), f"{waited.cpu / each.dump:.2f}") if each.dump else (_NOTHING, _NOTHING)),
        *((amount(left.said, "s"), _with_cpu(left.rests, left.cpu)) if left else (_NOTHING, _NOTHING)),
        _MET[each.in_time],
    )
    return f"| {' | '.join(cells)} |"


def _with_cpu(seconds: float, cpu: float) -> str:
    return f"{amount(seconds, 's')} ({amount(cpu, 's')})"


def growth(sizes: Mapping[int, Sequence[Seen]]) -> str:
    """What each step takes of a processor at each size, until first rows / all of them, and what goes on after Esc."""
    counts = " | ".join(f"{calls:,}" for calls in sizes)
    head = f"| keys | {counts} | after Esc |\n|---|{'---|' * len(sizes)}---|\n"
    by_size = [{each.step: each for each in seen} for seen in sizes.values()]
    return head + "".join(f"{_growth_row(step, by_size)}\n" for step in by_size[-1])


def _growth_row(step: str, by_size: Sequence[Mapping[str, Seen]]) -> str:
    found = [seen[step].waited if step in seen else None for seen in by_size]
    taken = [f"{amount(each.first_cpu, 's')} / {amount(each.cpu, 's')}" if each else _NOTHING for each in found]
    left = by_size[-1][step].left
    return f"| {' | '.join((step, *taken, amount(left.cpu, 's') if left else _NOTHING))} |"
