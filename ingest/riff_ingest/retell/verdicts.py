"""Take what Retell's own model said of a call as verdicts of a judge (docs/formats.md, section 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from riff_ingest.call_start import LATEST
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.json_parts import number_of, object_of, text_of

JUDGE = "retell"
LONGEST_RATIONALE = 1000

_SENTIMENTS = {"positive": 10.0, "neutral": 5.0, "negative": 0.0}
_TEST_RESULTS = {"pass": 10.0, "fail": 0.0}


class RetellVerdict(NamedTuple):
    """Hold one verdict: a score from 0 to 10, `None` where there is none, and why."""

    aspect: str
    score: float | None
    rationale: str | None = None


def analysis_verdicts(
    call: Mapping[str, Any], private: PrivateValues, *, with_summary: bool
) -> Iterator[RetellVerdict]:
    """Yield the verdicts in a call's analysis: its success, the caller's sentiment, and own data that is yes or no.

    The summary tells what the call was about, so it goes along only where the text of the call does.
    """
    analysis = object_of(call.get("call_analysis"))
    summary = text_of(analysis.get("call_summary")) if with_summary else None
    if "call_successful" in analysis:
        yield RetellVerdict("call_successful", _yes_or_no(analysis["call_successful"]), _short(summary, private))
    sentiment = text_of(analysis.get("user_sentiment"))
    if sentiment is not None:
        yield RetellVerdict("user_sentiment", _SENTIMENTS.get(sentiment.lower()), _short(sentiment, private))
    for name, value in object_of(analysis.get("custom_analysis_data")).items():
        if isinstance(value, bool) and name not in ("call_successful", "user_sentiment"):
            yield RetellVerdict(private.text(name), _yes_or_no(value))


def job_verdict(job: Mapping[str, Any], private: PrivateValues) -> RetellVerdict:
    """Return the verdict on a simulated call."""
    score = _TEST_RESULTS.get(text_of(job.get("status")) or "")
    return RetellVerdict("test_case", score, _short(text_of(job.get("result_explanation")), private))


def judged_at(*times: Any) -> int | None:
    """Return the first of some times that is one, in milliseconds since the epoch, as microseconds."""
    known = (number_of(each, lowest=1, highest=LATEST) for each in times)
    milliseconds = next((each for each in known if each is not None), None)
    return None if milliseconds is None else int(milliseconds * 1000)


def _yes_or_no(value: Any) -> float | None:
    return (10.0 if value else 0.0) if isinstance(value, bool) else None


def _short(said: str | None, private: PrivateValues) -> str | None:
    if said is None:
        return None
    said = private.text(said.strip())
    return said if len(said) <= LONGEST_RATIONALE else f"{said[: LONGEST_RATIONALE - 1]}…"
