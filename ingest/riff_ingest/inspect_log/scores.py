"""Take the scores of a sample as verdicts of judges, from 0 to 10, and their edits as notes of who made them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from riff_ingest.conversation import Conversation
from riff_ingest.inspect_log.happenings import time_of
from riff_ingest.inspect_log.header import Header
from riff_ingest.inspect_log.sample import PRIVATE, spoken
from riff_ingest.sources.json_parts import object_of, objects_of, text_of
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
