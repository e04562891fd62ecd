"""Represent a metric's score of one call, in the shape in which EVA stores it (10.0)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NO_TURNS = "Skipped: no assistant or user turns"
"""The error of every metric where one side has no turn at all."""

NO_SIMULATOR = "the simulator's log, which is missing or empty"
"""What a metric needs and a record may lack."""

_OLD_NAMES = {"conversation_finished": "conversation_valid_end"}


@dataclass(frozen=True, slots=True)
class MetricScore:
    """Describe what a metric reports of a call, or what a part of it (`sub_metrics`) does.

    `score` has the metric's own unit, `normalized_score` goes from 0 to 1; both are `None` if nothing was measured.
    `error` shows why it could not be, `skipped` that it does not apply to this call. `version` and `prompt_hash` are
    those of stored scores; what is computed here has none.
    """

    name: str
    score: float | None = None
    normalized_score: float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    skipped: bool = False
    version: str | None = None
    prompt_hash: str | None = None
    sub_metrics: dict[str, MetricScore] | None = None

    @property
    def value(self) -> float | None:
        """Return what may be compared and averaged: the normalised score, else the score.

        `None` if there was an error.
        """
        if self.error is not None:
            return None
        return self.score if self.normalized_score is None else self.normalized_score

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON: keys are text, and parts have no hash of a prompt."""
        return {**self._part(), "prompt_hash": self.prompt_hash, "sub_metrics": self._parts()}

    def _parts(self) -> dict[str, Any] | None:
        if self.sub_metrics is None:
            return None
        return {key: {**part._part(), "sub_metrics": part._parts()} for key, part in self.sub_metrics.items()}

    def _part(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "score": self.score,
            "normalized_score": self.normalized_score,
            "details": plain(self.details),
            "error": self.error,
            "skipped": self.skipped,
            "version": self.version,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], name: str = "") -> MetricScore:
        """Return a stored score, from old files as well; what is of another type than it should be counts as missing.

        `name` is the key under which it was stored. Old names of metrics become today's.
        """
        named = _text(stored.get("name")) or name
        details, parts = stored.get("details"), stored.get("sub_metrics")
        return cls(
            name=current_name(named),
            score=number(stored.get("score")),
            normalized_score=number(stored.get("normalized_score")),
            details=dict(details) if isinstance(details, Mapping) else {},
            error=_text(stored.get("error")),
            skipped=stored.get("skipped") is True,
            version=_text(stored.get("version")),
            prompt_hash=_text(stored.get("prompt_hash")),
            sub_metrics=_stored_parts(named, parts) if isinstance(parts, Mapping) else None,
        )


def part(metric: str, key: str, score: float | None, normalized: float | None = None, **details: Any) -> MetricScore:
    """Return a part of a metric; its name is the metric's with its key behind a dot."""
    return MetricScore(f"{metric}.{key}", score, normalized, details)


def rate(metric: str, key: str, value: float, digits: int = 4, **details: Any) -> MetricScore:
    """Return a part whose score is a share already, so that its normalised score is the same."""
    rounded = round(value, digits)
    return part(metric, key, rounded, rounded, **details)


def unmeasured(name: str, why: str) -> MetricScore:
    """Return the score of a metric for which something is missing."""
    return MetricScore(name, error=why)


def current_name(name: str) -> str:
    """Return today's name of a metric, parts included."""
    metric, dot, key = name.partition(".")
    return f"{_OLD_NAMES.get(metric, metric)}{dot}{key}"


def number(value: Any) -> float | None:
    """Return a finite number as a float, `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if found - found == 0 else None


def plain(value: Any) -> Any:
    """Return a value as JSON has it: keys as text, tuples as lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _stored_parts(metric: str, parts: Mapping[str, Any]) -> dict[str, MetricScore]:
    return {
        str(key): MetricScore.from_dict(stored, f"{metric}.{key}")
        for key, stored in parts.items()
        if isinstance(stored, Mapping)
    }


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
