"""Compare what is there of a run with an earlier one, while the rest of it is still being made."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riff_tui.errors import UsageError
from riff_tui.text.numbers import counted

if TYPE_CHECKING:
    from riff_tui.gate.decision import Check, Decision

PAUSE_PER_LOOK = 20.0
"""How many times as long as it took to compare the runs they are left alone after that."""
_LEAST_PAUSE_S = 10.0


@dataclass(frozen=True, slots=True)
class EarlyVerdict:
    """Describe what a gate would decide on the calls that are there, or why they are not compared; it fails nothing.

    If there is no store to compare in, both are missing.
    """

    decision: Decision | None = None
    why: str | None = None

    @property
    def worse(self) -> list[Check]:
        """Return the checks that are surely worse by more than they may be; what is not measured yet may still be."""
        failed = self.decision.of("failed") if self.decision is not None else []
        return [check for check in failed if check.kind != "measured"]

    def success(self, flow: str) -> Check | None:
        """Return what is known of the success rate of a flow."""
        checks = self.decision.checks if self.decision is not None else ()
        known = (check for check in checks if check.kind == "aspect" and check.aspect == "success_rate")
        return next((check for check in known if check.flow == flow), None)

    def is_thin(self, check: Check) -> bool:
        """Return whether a check rests on fewer calls than a gate decides on."""
        return self.decision is not None and check.n_candidate < self.decision.min_n


class EarlyVerdicts:
    """Compare a run in a store with a baseline, again where the store changed; the store is only read.

    A store that is not there is a reason and no error: the run may be about to make it. If it was not asked for by
    name, so is one that cannot be read.
    """

    def __init__(self, location: str, baseline: str | None, *, asked: bool) -> None:
        self._location = location
        self._baseline = baseline
        self._asked = asked
        self._seen: tuple[str, object] | None = None
        self._rests_until = 0.0
        self._verdict = EarlyVerdict(why="the store was not read yet")

    def of(self, run: str) -> EarlyVerdict:
        """Return the verdict on what the store has of a run.

        Raises `UsageError` for a baseline that is not there, and the store's errors where it was asked for.
        """
        state = (run, _state_of(self._location))
        if state != self._seen and time.monotonic() >= self._rests_until:
            began = time.monotonic()
            self._verdict = self._compared(run)
            self._seen = state
            self._rests_until = began + max(_LEAST_PAUSE_S, PAUSE_PER_LOOK * (time.monotonic() - began))
        return self._verdict

    def _compared(self, run: str) -> EarlyVerdict:
        from riff_store.database import open_store
        from riff_store.errors import StoreError, StoreMissing

        try:
            with open_store(self._location) as store, store.snapshot():
                return _compared_in(store, run, self._baseline)
        except StoreMissing as error:
            return EarlyVerdict(why=error.message if self._asked else None)
        except StoreError as error:
            if self._asked:
                raise
            return EarlyVerdict(why=error.message)


def _compared_in(store: Any, run: str, baseline: str | None) -> EarlyVerdict:
    from riff_store.filters.dimensions import run_order
    from riff_store.queries.contents import run_before
    from riff_tui.gate.query import decision_on
    from riff_tui.gate.rules import configured

    if run not in run_order(store):
        return EarlyVerdict(why=f"the store has no call of {run} yet")
    before = baseline or run_before(store, run)
    if before is None:
        return EarlyVerdict(why="the store has no earlier run to compare with")
    rules = configured(())
    try:
        return EarlyVerdict(decision_on(store, before, run, None, rules))
    except UsageError as error:
        if baseline is not None and not _is_known(store, baseline):
            raise
        return EarlyVerdict(why=error.message)


def _is_known(store: Any, name: str) -> bool:
    from riff_store.queries.sides import SideError, side

    try:
        side(store, name)
    except SideError:
        return False
    return True


def _state_of(location: str) -> object:
    try:
        found = os.stat(location)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def sentence(verdict: EarlyVerdict) -> str:
    """Return the verdict in one sentence; the names in it are raw."""
    decision = verdict.decision
    if decision is None:
        return f"so far: not compared, {verdict.why}"
    worse, few = len(verdict.worse), len(decision.of("too few"))
    found = f"{counted(worse, 'check')} of {len(decision.checks)} surely worse" if worse else "nothing is surely worse"
    if decision.undecided:
        found = "too early to decide"
    thin = f"; {counted(few, 'check')} on fewer than {decision.min_n} calls" if few else ""
    return f"so far, against {decision.baseline}: {found}{thin}"


def document(verdict: EarlyVerdict) -> dict[str, Any] | None:
    """Return the verdict as in JSON, unrounded, `None` if nothing was compared."""
    decision = verdict.decision
    if decision is None:
        return None
    return {
        "so_far": True,
        "baseline": decision.baseline,
        "min_n": decision.min_n,
        "checks": len(decision.checks),
        "too_few": len(decision.of("too few")),
        "worse": [_check(check) for check in verdict.worse],
        "below_floor": [_check(check) for check in decision.checks if verdict.is_thin(check)],
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "flow": check.flow,
        "aspect": check.aspect,
        "judge": check.judge,
        "check": check.kind,
        "before": check.baseline,
        "after": check.candidate,
        "n_before": check.n_baseline,
        "n": check.n_candidate,
        "change": check.change,
        "interval": check.interval,
        "p_adjusted": check.p_adjusted,
    }
