"""What was measured, as the tables of the results and of docs/performance.md."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.ratio import Goal, Ratio
from benchmarks.report import amount
from benchmarks.scale.measure import MOST_BYTES, MOST_SECONDS, Measured
from benchmarks.scale.more import MORE, Added

_RATIO = Goal("<=", 1.0)


def beside_peer(measured: Sequence[Measured]) -> str:
    """The largest size with the peer beside it; what breaks a budget stands out, and so does a slower filter."""
    head = (
        f"Whole processes on {measured[0].calls:,} calls, medians; answers are equal, figure by figure. Ours has"
        f" {amount(MOST_SECONDS, 's')} and {amount(MOST_BYTES, 'B')}; with a filter it shall be no slower than DuckDB"
        " on all cores, which gives the figures alone and no intervals, tests or examples.\n\n"
        "| question | ours | processor | memory | DuckDB | on one core | its query alone | ratio | met |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(f"{_row(each)}\n" for each in measured)


def _row(each: Measured) -> str:
    met = each.in_time and (not each.question.filter or _RATIO.met(each.ratio))
    cells = (
        _name(each),
        amount(each.ours, "s"),
        amount(each.cpu, "s"),
        amount(each.peak, "B"),
        amount(each.peer, "s"),
        amount(each.peer_on_one, "s"),
        amount(each.query, "s"),
        f"{each.ratio:.2f}",
        "yes" if met else "**no**",
    )
    return f"| {' | '.join(cells)} |"


def growth(sizes: Sequence[Sequence[Measured]]) -> str:
    """The processor time of each question at each size, the memory at the largest, and what it reads there."""
    counts = " | ".join(f"{measured[0].calls:,}" for measured in sizes)
    head = f"| question | {counts} | memory | reads |\n|---|{'---|' * len(sizes)}---|---|\n"
    return head + "".join(_growth_row(each) for each in zip(*sizes, strict=True))


def _growth_row(sizes: Sequence[Measured]) -> str:
    largest = sizes[-1]
    seconds = (amount(each.cpu, "s") for each in sizes)
    cells = (_name(largest), *seconds, amount(largest.peak, "B"), largest.reads)
    return f"| {' | '.join(cells)} |\n"


def _name(each: Measured) -> str:
    name, words, kind = each.question.view, each.question.words, each.question.filter
    return f"{name}, `{words}` ({kind})" if kind else name


def sizes_of_stores(stores: Sequence[Added]) -> str:
    """What each store weighs, and what more calls cost."""
    head = f"| calls | the file without text | transcripts add | another {MORE:,} calls |\n|---|---|---|---|\n"
    return head + "".join(
        f"| {each.calls:,} | {amount(each.bytes, 'B')} | {amount(each.text, 'B')} | {amount(each.cpu, 's')} |\n"
        for each in stores
    )


def more_calls(stores: Sequence[Added]) -> Ratio:
    """How the ingest of more calls grows with the store."""
    first, *_, last = stores
    note = f"processor time, {last.calls:,} ÷ {first.calls:,} calls"
    return Ratio(f"{MORE:,} calls more as the store grows", last.cpu, first.cpu, "s", Goal("<=", 1.25), note)
