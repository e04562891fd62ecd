"""Take what Vapi's own models said of a call as verdicts of a judge (docs/formats.md, section 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.platforms.verdict import PlatformVerdict, short, yes_or_no
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.json_parts import number_of, object_of, text_of
from riff_ingest.vapi.record import artifact_of

JUDGE = "vapi"

_WORDS = {
    **dict.fromkeys(("true", "pass", "passed", "yes", "success", "successful"), 10.0),
    **dict.fromkeys(("false", "fail", "failed", "no", "failure", "unsuccessful"), 0.0),
    "excellent": 10.0,
    "good": 20 / 3,
    "fair": 10 / 3,
    "poor": 0.0,
    "strongly agree": 10.0,
    "agree": 7.5,
    "neutral": 5.0,
    "disagree": 2.5,
    "strongly disagree": 0.0,
}
_PERCENT, _SCALES = "percentagescale", frozenset({"", "numericscale"})


def verdicts_of(call: Mapping[str, Any], private: PrivateValues) -> Iterator[PlatformVerdict]:
    """Yield the verdicts on a call: its evaluation, its scorecards, and structured outputs that are yes or no."""
    analysis, artifact = object_of(call.get("analysis")), artifact_of(call)
    given = analysis.get("successEvaluation")
    if given is not None:
        said = text_of(analysis.get("summary")) or (text_of(given) if not isinstance(given, bool) else None)
        yield PlatformVerdict("success_evaluation", score_of(given, rubric_of(call)), short(said, private))
    for key, card in object_of(artifact.get("scorecards")).items():
        found = object_of(card)
        score = number_of(found.get("scoreNormalized"), highest=100)
        name = private.text(text_of(found.get("name")) or key)
        yield PlatformVerdict(name, None if score is None else round(score / 10, 6))
    for key, output in object_of(artifact.get("structuredOutputs")).items():
        found = object_of(output)
        if isinstance(found.get("result"), bool):
            yield PlatformVerdict(private.text(text_of(found.get("name")) or key), yes_or_no(found["result"]))


def rubric_of(call: Mapping[str, Any]) -> str:
    """Return the rubric by which a call was evaluated, in lower-case letters, empty where the record does not say."""
    plan = object_of(object_of(call.get("assistant")).get("analysisPlan"))
    given = object_of(plan.get("successEvaluationPlan")).get("rubric") or plan.get("successEvaluationRubric")
    return (text_of(given) or "").lower()


def score_of(given: Any, rubric: str) -> float | None:
    """Return an evaluation as a score from 0 to 10; `None` where it is not one number or word of a known scale."""
    if isinstance(given, bool):
        return yes_or_no(given)
    if isinstance(given, int | float):
        return _on_scale(float(given), rubric)
    said = (text_of(given) or "").strip().rstrip(".").lower()
    if said in _WORDS:
        return round(_WORDS[said], 6)
    amount, slash, of = said.partition("/")
    if slash:
        part, whole = _number(amount), _number(of)
        return None if part is None or not whole or part > whole else round(10 * part / whole, 6)
    value = _number(said.removesuffix("%"))
    return None if value is None else _on_scale(value, _PERCENT if said.endswith("%") else rubric)


def _on_scale(value: float, rubric: str) -> float | None:
    if rubric == _PERCENT:
        return round(value / 10, 6) if 0 <= value <= 100 else None
    return value if rubric in _SCALES and 0 <= value <= 10 else None


def _number(said: str) -> float | None:
    try:
        return number_of(float(said.strip()))
    except ValueError:
        return None
