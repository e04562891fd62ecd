"""The results in Markdown, a table for each group of measurements, so that each can be measured again by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.ratio import Ratio

_HEAD = """# Benchmark results

Written by `make bench`; `make bench BENCH_ARGS="--only ui"` measures one part anew. Each row is a ratio of two things
measured in the same run, in turns (A B A B), as medians. The ratio is what counts; the figures beside it depend on the
machine and on what else it was doing. In the part on the explorer the other side is its budget.
"""
_PART = re.compile(r"^## (.+)$", re.MULTILINE)


def markdown(parts: Mapping[str, str], machine: Sequence[tuple[str, str]]) -> str:
    """The whole of RESULTS.md."""
    facts = "\n".join(f"- {label}: {value}" for label, value in machine)
    return "\n".join([_HEAD, f"{facts}\n", *(f"## {name}\n\n{part}" for name, part in parts.items())])


def part(body: str, date: str, sizes: str) -> str:
    """What is below the heading of one group."""
    return f"Measured {date}; {sizes}.\n\n{body}"


def table(ratios: Iterable[Ratio]) -> str:
    """The ratios of a group, a row each."""
    head = "| what | ours | other | ratio | goal | met |\n|---|---|---|---|---|---|\n"
    return head + "".join(f"{table_row(ratio)}\n" for ratio in ratios)


def parts_of(text: str) -> dict[str, str]:
    """The groups that results hold already, by name."""
    _, *found = _PART.split(text)
    return {name: body.strip("\n") + "\n" for name, body in zip(found[::2], found[1::2], strict=True)}


def table_row(ratio: Ratio) -> str:
    """One row; a note is behind what was measured."""
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
