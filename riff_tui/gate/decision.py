"""Describe what a gate decided: a check for each flow and aspect, and the flows that could not be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

CheckStatus: TypeAlias = Literal["failed", "allowed", "noise", "held", "too few"]
"""`allowed`: surely worse, but not surely by more than it may be; `noise`: worse, but not surely; `held`: not worse;
`too few`: not decided."""

GRAVEST_FIRST: tuple[CheckStatus, ...] = ("failed", "allowed", "noise", "held", "too few")

CheckKind: TypeAlias = Literal["aspect", "errored", "measured", "covered"]
"""What is checked: an aspect of calls, the share of calls that errored, of how many calls an aspect was measured, or
how many items of a flow any call touched."""


class Check(NamedTuple):
    """Describe one aspect of one flow, baseline against candidate, in the aspect's own unit.

    Of the other kinds both are shares of all calls: of those that `errored`, or of those that count in which the aspect
    was not `measured`. What is `covered` is a share of the `n` items of a flow, of which the candidate touched all but
    the `missing` ones. `change` is candidate minus baseline, `interval` its 95 % interval, `allowed` how far it may go
    to the worse (below all items), `smallest_fall` what would have been seen in four of five runs. `p` is that of no
    more than what is allowed, where a mean is worse by more, else that of no difference. `p_adjusted` is corrected over
    the checks of one kind that could be decided, and `None` beyond them; `p_flow` shows how likely the flow's falls
    would be by chance in one of all the flows. One that `recovered` is surely better, by the same tests the other way
    round.

    Of a check that failed or recovered, `command` opens the candidate's calls that it rests on in the explorer, as
    `opens` does as arguments, `argv` prints them, and `agent` led them all, where that was one. A failed one between
    runs has failed in every run that decided it `since` one.
    """

    flow: str
    aspect: str
    judge: str | None
    better: Literal["higher", "lower"]
    baseline: float | None
    candidate: float | None
    n_baseline: int
    n_candidate: int
    allowed: float
    status: CheckStatus
    kind: CheckKind = "aspect"
    change: float | None = None
    interval: tuple[float, float] | None = None
    pairs: int | None = None
    test: str | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_flow: float | None = None
    smallest_fall: float | None = None
    recovered: bool = False
    agent: str | None = None
    since: str | None = None
    command: str = ""
    argv: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the aspect, and whose judgement it is, or that it was not measured."""
        name = self.aspect if self.judge is None else f"{self.aspect}:{self.judge}"
        return f"{name}{' not measured' if self.kind == 'measured' else ' covered' if self.kind == 'covered' else ''}"

    @property
    def fall(self) -> float | None:
        """Return how much worse the candidate is; negative if it is better."""
        if self.change is None:
            return None
        return -self.change if self.better == "higher" else self.change


class MissingFlow(NamedTuple):
    """Name a flow of the baseline of which the candidate has no call that counts; `errored` ones it may have."""

    flow: str
    errored: int = 0


MOST_ENTRIES = 100
"""As many entries a quarantine may have: one filter has to leave out their calls."""


class Quarantined(NamedTuple):
    """Describe calls that decide nothing, whose `owner` fixes them up to and with the day `until`, for a `reason`.

    `baseline` and `candidate` show how many of their calls succeeded, of so many; `calls` counts errored ones of both
    as well. In the last `nights` with calls of it all of them succeeded, as far as is looked.
    """

    flow: str | None
    scenario: str | None
    owner: str
    reason: str
    until: str
    ended: bool
    baseline: tuple[int, int] = (0, 0)
    candidate: tuple[int, int] = (0, 0)
    calls: int = 0
    nights: int = 0
    recovered: bool = False


class Decision(NamedTuple):
    """Describe the checks, gravest first, and the flows that only one of the two has.

    A `strict` gate fails where a flow is `missing` and where no check could be decided. `unmeasured` aspects were
    measured in no flow. Of the two, `excluded` calls were errored, and `alone` ones of flows that were compared in
    pairs have no partner; `called` is what played their callers, if that is known. What is `quarantined` is in none of
    these, and fails the gate once its day is over.
    """

    baseline: str
    candidate: str
    min_n: int
    checks: tuple[Check, ...]
    missing: tuple[MissingFlow, ...] = ()
    added: tuple[str, ...] = ()
    unmeasured: tuple[str, ...] = ()
    excluded: tuple[int, int] = (0, 0)
    alone: tuple[int, int] = (0, 0)
    called: tuple[Sequence[str], Sequence[str]] = ((), ())
    strict: bool = False
    quarantined: tuple[Quarantined, ...] = ()

    def of(self, status: CheckStatus) -> list[Check]:
        """Return the checks of a status."""
        return [check for check in self.checks if check.status == status]

    @property
    def recovered(self) -> list[Check]:
        """Return the checks that are surely better, the surest first."""
        return [check for check in self.checks if check.recovered]

    @property
    def flows(self) -> list[str]:
        """Return the flows that were checked, by name."""
        return sorted({check.flow for check in self.checks})

    @property
    def failing(self) -> list[str]:
        """Return the flows that fail: those with a check that failed, by its gravity, then missing ones if strict."""
        missing = [each.flow for each in self.missing] if self.strict else []
        return list(dict.fromkeys([*(check.flow for check in self.of("failed")), *missing]))

    @property
    def undecided(self) -> bool:
        """Return whether not one check of an aspect had enough calls behind it."""
        return all(check.status == "too few" for check in self.checks if check.kind == "aspect")

    @property
    def passed(self) -> bool:
        """Return whether the candidate may take the baseline's place."""
        return not self.failing and not self.ended and not (self.strict and self.undecided)

    @property
    def ended(self) -> list[Quarantined]:
        """Return what has been in quarantine for longer than it may be."""
        return [each for each in self.quarantined if each.ended]
