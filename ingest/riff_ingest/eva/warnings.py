"""Count what was wrong with a call's logs by kind, so that nothing is lost in silence and nothing stops."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Warnings:
    """Count each kind of trouble and keep the first occurrence; a kind is said in one line."""

    counts: dict[str, int] = field(default_factory=dict)
    firsts: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, detail: str, count: int = 1) -> None:
        """Note trouble of a kind; `detail` of its first occurrence is kept."""
        if count:
            self.counts[kind] = self.counts.get(kind, 0) + count
            self.firsts.setdefault(kind, detail)

    def lines(self) -> list[str]:
        """Return a line for each kind in the order in which they were met: `kind: the first` and how often."""
        return [
            f"{kind}: {self.firsts[kind]}" + (f" ({count} times)" if count > 1 else "")
            for kind, count in self.counts.items()
        ]
