"""Count the calls whose tasks ask for a step, and how they took it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepCounts:
    """Count the calls whose task asks for a step of the side `by` (agent or caller), and how they took it.

    Of the `expected` calls `missed` never took the step and `wrong` took it with other arguments than the task's.
    `failed` of them were not correct; of these `missed_failed` and `wrong_failed` did the same.
    """

    by: str
    expected: int
    missed: int
    wrong: int
    failed: int
    missed_failed: int
    wrong_failed: int

    def __add__(self, other: StepCounts) -> StepCounts:
        return StepCounts(
            self.by,
            self.expected + other.expected,
            self.missed + other.missed,
            self.wrong + other.wrong,
            self.failed + other.failed,
            self.missed_failed + other.missed_failed,
            self.wrong_failed + other.wrong_failed,
        )

    @property
    def missed_share(self) -> float:
        """Return the share of the calls that never took the step."""
        return self.missed / self.expected

    @property
    def wrong_share(self) -> float:
        """Return the share of the calls that took the step with other arguments."""
        return self.wrong / self.expected

    @property
    def missed_failed_share(self) -> float | None:
        """Return the share of the failed calls that never took the step, `None` where none failed."""
        return self.missed_failed / self.failed if self.failed else None

    @property
    def wrong_failed_share(self) -> float | None:
        """Return the share of the failed calls that took the step with other arguments, `None` where none failed."""
        return self.wrong_failed / self.failed if self.failed else None
