"""The results as one Markdown table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.ratio import Ratio

_HEAD = """# Benchmark results

Written by `make bench`. Each row is a ratio of two things measured in the same run, in turns (A B A B), as medians.
The ratio is what counts; the figures beside it depend on the machine and on what else it was doing.
"""


def markdown(ratios: Iterable[Ratio], machine: Sequence[tuple[str, str]], sizes: str) -> str:
    """The whole of RESULTS.md."""
    lines = [_HEAD, "\n".join(f"- {label}: {value}" for label, value in machine) + f"\n- {sizes}\n"]
    lines += ["| what | ours | other | ratio | goal | met |", "|---|---|---|---|---|---|"]
    lines += [table_row(ratio) for ratio in ratios]
    return "\n".join(lines) + "\n"


def table_row(ratio: Ratio) -> str:
    """One row; a note stands behind what was measured."""
    what = f"{ratio.what} ({ratio.note})" if ratio.note else ratio.what
    cells = (
        what,
        amount(ratio.ours, ratio.unit),
        amount(ratio.other, ratio.unit),
        _ratio(ratio.value),
        str(ratio.goal or ""),
        ratio.verdict,
    )
    return f"| {' | '.join(cells)} |"


def amount(value: float, unit: str) -> str:
    """A figure with its unit, in the size that reads best."""
    if unit == "s":
        return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
    if unit == "B":
        return f"{value / 2**20:.1f} MiB"
    return f"{value:,.0f} {unit}"


def _ratio(value: float) -> str:
    if 0 < value < 0.02:
        return f"1/{1 / value:.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
