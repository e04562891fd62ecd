"""Names as a store would know them, for lists to pick from and for completion."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.fake_catalog import STATES
from tests.support.hostile import HOSTILE


class FakeNames:
    """Knows the names of the small store; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def known(self, field: str, where: str = "") -> Sequence[str]:
        """The names of a field."""
        self.asked.append((field, where))
        return {
            "flow": ["viewing", "weather"],
            "agent": ["gemini", "qwen"],
            "run": ["r1", "r2"],
            "state": list(STATES),
        }.get(field, [])

    def counted(self, field: str, where: str = "") -> Sequence[tuple[str, int, float | None]]:
        """The names of a field, each with as many calls as it has letters, half of them a success."""
        return [(name, len(name), 0.5) for name in self.known(field, where)]


class HostileNames(FakeNames):
    """Names that would like to be more than names, as many times over as there shall be."""

    def __init__(self, times: int = 1) -> None:
        super().__init__()
        self._names = [f"{text}{number or ''}" for number in range(times) for text in HOSTILE.values()]

    def known(self, field: str, where: str = "") -> Sequence[str]:
        self.asked.append((field, where))
        return self._names
