"""Read what a log says of its run as a whole: which task, which model, from which commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from riff_ingest.sources.json_parts import object_of, objects_of, text_of

_COMPARES_TEXT = frozenset({"match", "includes", "pattern", "answer", "exact", "f1", "choice", "math"})
"""Scorers of Inspect AI that ask no model."""
_GRADER = "grader"
_DIRTY = "-dirty"


@dataclass(frozen=True, slots=True)
class Header:
    """Hold the parts of a log that are the same for all its samples."""

    run: str | None
    created: str | None
    commit: str | None
    branch: str | None
    agent: str
    flow: str
    persona: str | None
    headline: str | None
    scorers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)

    def grader(self, scorer: str) -> str | None:
        """Return the model that a scorer asks, `None` for one that asks none and where nothing says so."""
        if scorer in _COMPARES_TEXT:
            return None
        options = object_of(self.scorers.get(scorer, {}).get("options"))
        given = options.get("model")
        if models := [name for each in (given if isinstance(given, list) else [given]) if (name := text_of(each))]:
            return ", ".join(models)
        return self.roles.get(text_of(options.get("model_role")) or _GRADER)


def header_of(log: Mapping[str, Any]) -> Header:
    """Return what a log says of its run, from its parts but for the samples; never raises on what they hold."""
    spec, results = object_of(log.get("eval")), object_of(log.get("results"))
    task, metadata = text_of(spec.get("task")), object_of(spec.get("metadata"))
    run = next((name for key in ("run_id", "eval_id", "task_id") if (name := text_of(spec.get(key)))), None)
    scorers = objects_of(spec.get("scorers"))
    roles = object_of(spec.get("model_roles"))
    return Header(
        run=f"{run}/{task}" if run and task else run,
        created=text_of(spec.get("created")),
        commit=_commit(object_of(spec.get("revision"))),
        branch=text_of(metadata.get("branch")),
        agent=text_of(spec.get("model")) or "(unknown)",
        flow=text_of(metadata.get("flow")) or task or "(unknown)",
        persona=text_of(metadata.get("persona")),
        headline=_headline(results, scorers),
        scorers={name: scorer for scorer in scorers if (name := text_of(scorer.get("name")))},
        roles={role: name for role, model in roles.items() if (name := _model(model))},
    )


def _headline(results: Mapping[str, Any], scorers: list[dict[str, Any]]) -> str | None:
    """Return the score that stands for the whole: the one that the log names, else its first."""
    named = text_of(object_of(results.get("headline")).get("score"))
    first = (*objects_of(results.get("scores")), *scorers)
    return named or next((name for each in first if (name := text_of(each.get("name")))), None)


def _commit(revision: Mapping[str, Any]) -> str | None:
    commit = text_of(revision.get("commit"))
    return f"{commit}{_DIRTY}" if commit and revision.get("dirty") is True else commit


def _model(given: Any) -> str | None:
    return text_of(given) or text_of(object_of(given).get("model"))
