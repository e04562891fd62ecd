"""How much is measured: conversations per size, and rounds per job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """Conversations for timings, for growth, for the largest matrix; rounds of each job; records; megabytes; calls."""

    few: int
    many: int
    huge: int
    rounds: int
    records: int = 200
    results: int = 300
    voice_calls: int = 12

    def __str__(self) -> str:
        return f"conversations: {self.few:,} / {self.many:,} / {self.huge:,}; rounds: {self.rounds}"


FULL = Sizes(few=10_000, many=100_000, huge=1_000_000, rounds=5)
QUICK = Sizes(few=1_000, many=5_000, huge=20_000, rounds=3, records=20, results=20, voice_calls=2)
