"""Decisions made by hand."""

from __future__ import annotations

from typing import Any

from tests.surface.tui import Check, Decision


def check(flow: str = "dental", aspect: str = "success_rate", status: str = "failed", **given: Any) -> Check:
    settings: dict[str, Any] = {
        "judge": None, "better": "higher", "baseline": 0.61, "candidate": 0.368, "n_baseline": 160,
        "n_candidate": 158, "allowed": 0.05, "change": -0.242, "interval": (-0.34, -0.13), "pairs": None,
        "test": "Fisher", "p": 0.00002, "p_adjusted": 0.0005, "p_flow": 0.0002,
        "smallest_fall": 0.125,
    }  # fmt: skip
    return Check(flow=flow, aspect=aspect, status=status, **(settings | given))  # type: ignore[arg-type]


def decision(*checks: Check, **given: Any) -> Decision:
    settings: dict[str, Any] = {"baseline": "night-1", "candidate": "night-2", "min_n": 5, "checks": checks}
    return Decision(**(settings | given))
