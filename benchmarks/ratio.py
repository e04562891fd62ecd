"""The core of every measurement: jobs run in turns, medians, and a ratio held against its goal.

Absolute times drift by a third and more on a shared machine. Two jobs that take turns see the
same weather, so only their ratio is judged.
"""

from __future__ import annotations

import gc
import operator
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Job: TypeAlias = Callable[[], float]
Sense: TypeAlias = Literal["<=", ">="]

_KEEPS = {"<=": operator.le, ">=": operator.ge}
_SIGNS = {"<=": "≤", ">=": "≥"}


@dataclass(frozen=True, slots=True)
class Goal:
    """The bound that a ratio has to keep."""

    sense: Sense
    bound: float

    def met(self, ratio: float) -> bool:
        """Whether the ratio keeps the bound."""
        return bool(_KEEPS[self.sense](ratio, self.bound))

    def __str__(self) -> str:
        bound = f"1/{1 / self.bound:.0f}" if self.bound < 0.05 else f"{self.bound:g}"
        return f"{_SIGNS[self.sense]} {bound}"


@dataclass(frozen=True, slots=True)
class Ratio:
    """One row of the results: ours over the other's, both in `unit`; a row without a goal only informs."""

    what: str
    ours: float
    other: float
    unit: str
    goal: Goal | None = None
    note: str = ""

    @property
    def value(self) -> float:
        """Ours divided by the other's."""
        return self.ours / self.other

    @property
    def verdict(self) -> str:
        """`yes` or `no` if there is a goal."""
        if self.goal is None:
            return ""
        return "yes" if self.goal.met(self.value) else "**no**"


@dataclass(slots=True)
class Stopwatch:
    """Seconds between the begin and the end of a `with timed()` block, and of processor time in all its threads."""

    seconds: float = field(default=0.0)
    cpu: float = field(default=0.0)


@contextmanager
def timed() -> Iterator[Stopwatch]:
    """Time the block; what earlier jobs left is collected before, and what is kept for later ones is out of the way."""
    gc.collect()
    gc.freeze()
    watch = Stopwatch()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    try:
        yield watch
    finally:
        watch.seconds, watch.cpu = time.perf_counter() - begin, time.process_time() - cpu_begin
        gc.unfreeze()


def in_turns(*jobs: Job, rounds: int) -> list[float]:
    """Run the jobs A B A B … and give each one's median; a job returns what it measured of itself."""
    measured: list[list[float]] = [[] for _ in jobs]
    for _ in range(rounds):
        for job, values in zip(jobs, measured, strict=True):
            values.append(job())
    return [statistics.median(values) for values in measured]
