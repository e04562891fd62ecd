"""Show how the pairs of two sides came out: which of them failed, and how many tasks one side alone solved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riff_store.answers.comparison import PairCounts

_SMALLEST = 0.0001


def record_of(counts: PairCounts) -> dict[str, Any]:
    """Return how pairs came out as the data formats print it: on which side their calls failed."""
    return {
        "pairs": counts.pairs, "only_a": counts.only_a, "only_b": counts.only_b, "both": counts.both,
        "neither": counts.neither, "p": counts.p,
    }  # fmt: skip


def solved(counts: PairCounts) -> str:
    """Say how many tasks one side alone solved, over all flows together, and whether that may be chance."""
    if not counts.pairs:
        return ""
    p = f"{counts.p:.4f}" if counts.p >= _SMALLEST else f"<{_SMALLEST}"
    return (
        f"Only A solved {counts.only_b} of {counts.pairs} pairs, only B {counts.only_a} (exact p {p});"
        f" both {counts.neither}, neither {counts.both}."
    )
