"""Hold the answers about where calls first went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from riff_store.answers.comparison import Side

Dimension: TypeAlias = Literal["agent", "persona", "scenario", "commit"]
START, NONE_FOUND = "(start)", "(none found)"
FAILURES_OF_STEPS = ("missed step", "wrong arguments")
"""The kinds of what goes wrong first that are about a step of the task, not about a visit."""
MARKED = "marked"
"""The kind of what a person said went wrong first; the code that it was given is its detail."""


@dataclass(frozen=True, slots=True)
class Example:
    """Name the shortest call of several; `told_by` is as in `Call`."""

    run: str
    conversation: str
    told_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailureCell:
    """Count the failed calls of a flow with one last good and one first failed state.

    `share` is of the flow's failed calls. `taken` are the calls, failed or not, that went from the one state to the
    other, `None` where that is no step. `kinds` says what went wrong in how many.
    """

    flow: str
    last_ok: str
    first_failed: str
    n: int
    share: float
    taken: int | None
    kinds: Mapping[str, int]
    example: Example


@dataclass(frozen=True, slots=True)
class FailureMatrix:
    """Hold the cells of some flows, the fullest first, and the states of each flow in the order of failed calls.

    `failed` and `calls` count by flow what failed and what was not errored. Without states, how often their steps were
    taken is still to be counted.
    """

    cells: Sequence[FailureCell]
    states: Mapping[str, Sequence[str]]
    failed: Mapping[str, int]
    calls: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Lift:
    """Say that a name is over-represented in a group: `n` of its calls have it, against `n_all` of `calls`.

    `p` is that of the hypergeometric test, corrected over all tests of the answer.
    """

    dimension: Dimension
    name: str | None
    n: int
    share: float
    n_all: int
    share_all: float
    p: float


@dataclass(frozen=True, slots=True)
class Cause:
    """Describe the failed calls of a flow that went wrong in the same way; `share` is of all failed calls.

    Those that a person marked may have ended for several reasons, which `stop_reason` has with commas, the most first.
    `agents`, `scenarios`, `personas` and `commits` count calls by name, the most first. `lift` is ordered by how sure
    it is.
    """

    flow: str
    stop_reason: str | None
    last_ok: str
    first_failed: str
    kind: str
    detail: str | None
    error: str | None
    n: int
    share: float
    agents: Mapping[str | None, int]
    scenarios: Mapping[str | None, int]
    personas: Mapping[str | None, int]
    commits: Mapping[str | None, int]
    first_run: str
    last_run: str
    example: Example
    lift: Sequence[Lift] = ()


@dataclass(frozen=True, slots=True)
class Causes:
    """Hold the groups, the largest first, and how many calls failed of those that were not errored."""

    groups: Sequence[Cause]
    failed: int
    calls: int


@dataclass(frozen=True, slots=True)
class FailureShift:
    """Compare two sides in one cell: `n_a` of `calls_a` calls of the flow first went wrong there, `n_b` of `calls_b`.

    With `pairs` the calls are those of so many pairs, and None means that all calls are compared as they are.
    `difference` is B's share less A's, `p_adjusted` is corrected over all cells.
    """

    flow: str
    last_ok: str
    first_failed: str
    n_a: int
    calls_a: int
    n_b: int
    calls_b: int
    pairs: int | None
    difference: float
    test: str
    p: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class FailureShifts:
    """Hold both sides and the cells of the flows that both called, the surest differences first."""

    a: Side
    b: Side
    cells: Sequence[FailureShift]
