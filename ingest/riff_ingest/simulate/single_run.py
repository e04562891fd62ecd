"""A run of one's own, for two of them to be compared: any id, any seed, and weaknesses that were put in on purpose."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from datetime import timedelta

from riff_ingest.simulate.case import route, stage_of
from riff_ingest.simulate.cast import Override, Run, runs
from riff_store.errors import UsageError

NIGHTS = 365
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def custom_run(name: str, seed: int = 0, weaken: Mapping[str, float] | None = None) -> Run:
    """One run, as many nights after the ten of the demo as its seed says.

    `weaken` gives, by flow, the share of its calls that get stuck on top of what the flow loses
    anyway. Calls are dealt out as in every other run, so two runs with the same number of calls
    hold the same pairs of agent, persona, scenario and trial. Raises `UsageError` for an id that
    is no plain file name, an unknown flow, or a share that is none.
    """
    if not _PLAIN_NAME.fullmatch(name):
        raise UsageError(f"run {name!r}: an id has up to 80 letters, digits, dots, dashes and underscores")
    overrides = [weakened(flow, share) for flow, share in sorted((weaken or {}).items())]
    commit = hashlib.sha256(name.encode()).hexdigest()[:7]
    start = runs()[-1].start + timedelta(days=1 + seed % NIGHTS)
    return Run(name, name, commit, "main", start, overrides)


def weakened(flow: str, share: float) -> Override:
    """A regression of a built-in flow: this share of its calls stalls in a state that all of them come to."""
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise UsageError(f"cannot weaken {flow} by {share:g}; it takes a share from 0 to 1")
    return Override(flow=flow, state=_early_state(flow), kind="stall", strength=share)


def _early_state(flow: str) -> str:
    """The state after the greeting, or the greeting where that one is weak already."""
    stage = stage_of(flow)
    sick = {weakness.state for weakness in stage.flow.planted}
    first, second = route(stage, stage.flow.simulate.scenarios[0])[:2]
    return first if second in sick else second
