"""Take the scores of a sample as verdicts of judges, from 0 to 10, and their edits as notes of who made them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import object_of, objects_of, text_of
from riff_ingest.sources.inspect_log.happenings import PRIVATE, spoken, time_of
from riff_store.facts import Annotation, JudgedScore

LONGEST_RATIONALE = 1000

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_UNCHANGED = "UNCHANGED"


class Part(NamedTuple):
    """Name a value of a score: `aspect` is the scorer, or the key or place where the score has several values."""

    scorer: str
    aspect: str


class Scales:
    """Know of which parts of scores the numbers lie from 0 to 1: a part with one that does not has another scale."""

    def __init__(self) -> None:
        self._others: set[Part] = set()

    def learn(self, scores: Any) -> None:
        """Look at the scores of one more sample of the log."""
        for name, score in object_of(scores).items():
            for part, value in parts_of(name, object_of(score).get("value")):
                number = _number(value)
                if number is not None and not 0 <= number <= 1:
                    self._others.add(part)

    def share(self, part: Part, value: Any) -> float | None:
        """Return a value from 0 to 1, `None` where it is none or where nobody knows what its scale is."""
        number = _number(value)
        if number is not None:
            return None if part in self._others or not 0 <= number <= 1 else number
        if isinstance(value, bool):
            return float(value)
        return _LETTERS.get(value, _WORDS.get(value.strip().lower())) if isinstance(value, str) else None


def parts_of(name: str, value: Any) -> list[tuple[Part, Any]]:
    """Return the values of a score: one, or those of its keys or places."""
    if isinstance(value, dict):
        return [(Part(name, str(key)), each) for key, each in value.items()]
    if isinstance(value, list):
        return [(Part(name, f"{name} {place}"), each) for place, each in enumerate(value, start=1)]
    return [(Part(name, name), value)]


def verdicts(
    scores: Any, call: Conversation, header: Header, scales: Scales, scored: Mapping[str, int], lines: Iterator[int]
) -> Iterator[JudgedScore]:
    """Yield the verdicts on a call, each under the next of `lines`; `scored` says when a scorer gave its score.

    What is no value from 0 to 1 is unscored, with the reason.
    """
    for name, given in object_of(scores).items():
        score = object_of(given)
        edited = [time for edit in objects_of(score.get("history")) if (time := _edited(edit)[1]) is not None]
        for part, value in parts_of(name, score.get("value") if isinstance(given, dict) else given):
            share = scales.share(part, value)
            yield JudgedScore(
                run=call.run_id or "",
                conversation=call.conversation_id,
                judge=name,
                aspect=part.aspect,
                score=None if share is None else round(10 * share, 6),
                judged_at=max(edited) if edited else scored.get(name),
                rationale=_rationale(score, None if share is not None else _unscored(value)),
                model=header.grader(name),
                line=next(lines),
                flow=call.flow,
                agent=call.agent_model,
                trial=call.trial,
            )


def edits(scores: Any, call: Conversation, scales: Scales) -> Iterator[Annotation]:
    """Yield what people changed of the scores of a call: from what to what, who, when and why."""
    for name, given in object_of(scores).items():
        value: Any = None
        for place, edit in enumerate(objects_of(object_of(given).get("history"))):
            before, value = value, edit.get("value") if edit.get("value") != _UNCHANGED else value
            author, at = _edited(edit)
            if author is None:
                continue
            reason = text_of(object_of(edit.get("provenance")).get("reason"))
            share = scales.share(Part(name, name), value)
            yield Annotation(
                id=f"inspect:{call.run_id}:{call.conversation_id}:{call.trial}:{name}:{place}",
                conversation=call.conversation_id,
                author=author,
                run=call.run_id,
                flow=call.flow,
                agent=call.agent_model,
                trial=call.trial,
                verdict={1.0: "pass", 0.0: "fail"}.get(-1.0 if share is None else share),
                note=_short(f"{name}: {_shown(before)} → {_shown(value)}" + (f", {reason}" if reason else "")),
                labels=["score edit"],
                at=at,
            )


def _edited(edit: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return who edited a score and when; what a scorer gave at first nobody edited."""
    provenance = object_of(edit.get("provenance"))
    return text_of(provenance.get("author")), time_of(provenance.get("timestamp"))


def _number(value: Any) -> float | None:
    """Return a finite number, also one that is written as text, `None` for anything else."""
    if isinstance(value, str):
        try:
            value = float(value) if value.strip() and "_" not in value else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 and math.isfinite(value) else None


def _unscored(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "It has no value"
    if _number(value) is not None:
        return f"Its value {_shown(value)} is not on a scale from 0 to 1"
    return f"Its value {_shown(value)} is no number" if isinstance(value, str) else "Its value is no number"


def _rationale(score: Mapping[str, Any], unscored: str | None) -> str | None:
    """Return why a scorer gave its score: its explanation, else the last that its grader said."""
    said = text_of(score.get("explanation"))
    if said is None:
        grading = objects_of(object_of(score.get("metadata")).get("grading"))
        answers = [each for each in grading if each.get("role") == "assistant"]
        said = text_of(spoken(answers[-1].get("content"), {})) if answers else None
    parts = [part for part in (unscored, text_of(score.get("reason")) if unscored else None, said) if part]
    return _short(": ".join(parts)) if parts else None


def _shown(value: Any) -> str:
    if value is None:
        return "·"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(said: str) -> str:
    said = PRIVATE.text(said)
    return said if len(said) <= LONGEST_RATIONALE else f"{said[: LONGEST_RATIONALE - 1]}…"


# Read what a log says of its run as a whole: which task, which model, from which commit.
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
