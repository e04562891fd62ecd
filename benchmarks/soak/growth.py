"""How the memory of a process goes, measured from outside."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path

WARM = 0.2
"""The share of the time in which a process may still be loading what it needs."""


def resident(process: int) -> int:
    """Return the bytes that a process holds in memory."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


@dataclass(slots=True)
class Growth:
    """Describe what a process held, and when."""

    name: str
    process: int
    held: list[tuple[float, int]] = field(default_factory=list)

    def look(self, at: float) -> None:
        """Measure it at a time in seconds."""
        self.held.append((at, resident(self.process)))

    @property
    def warm(self) -> list[tuple[float, int]]:
        """Return what was measured since it had what it needs."""
        return self.held[int(len(self.held) * WARM) :]

    @property
    def bytes(self) -> float:
        """Return by how much it grew since then, by the line that fits best (least squares)."""
        times, sizes = zip(*self.warm, strict=True)
        return float(statistics.linear_regression(times, sizes).slope * (times[-1] - times[0]))

    def __str__(self) -> str:
        sizes = [size / 2**20 for _, size in self.held]
        quarters = [
            statistics.median(sizes[len(sizes) * part // 4 : len(sizes) * (part + 1) // 4]) for part in range(4)
        ]
        shown = " ".join(f"{size:.1f}" for size in quarters)
        grew = f"{self.bytes / 2**20:+.1f} MiB since it was warm, at most {max(sizes):.1f}"
        return f"{self.name}: medians of quarters {shown} MiB; {grew}; {len(sizes)} looks"
