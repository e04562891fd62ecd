"""Take what Retell's own model said of a call as verdicts of a judge (docs/formats.md, section 11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.platforms.verdict import PlatformVerdict, short, yes_or_no
from riff_ingest.private_values import PrivateValues
from riff_ingest.retell.scrubbed import preferred
from riff_ingest.sources.json_parts import object_of, text_of

JUDGE = "retell"

_SENTIMENTS = {"positive": 10.0, "neutral": 5.0, "negative": 0.0}
_TEST_RESULTS = {"pass": 10.0, "fail": 0.0}
_JUDGED = ("call_successful", "user_sentiment")


def analysis_verdicts(
    call: Mapping[str, Any], private: PrivateValues, *, is_scrubbed: bool
) -> Iterator[PlatformVerdict]:
    """Yield the verdicts in a call's analysis: its success, the caller's sentiment, and own data that is yes or no.

    The summary tells what the call was about, so of a call whose text `is_scrubbed` it goes along only where it was
    scrubbed as well.
    """
    given, is_clean = preferred(call, "call_analysis")
    # Neither of these can name anybody, so they are taken from wherever they are.
    open_words = {name: value for name, value in object_of(call.get("call_analysis")).items() if name in _JUDGED}
    analysis = open_words | object_of(given)
    summary, is_summary_clean = preferred(analysis, "call_summary")
    summary = None if is_scrubbed and not (is_clean or is_summary_clean) else text_of(summary)
    if "call_successful" in analysis:
        yield PlatformVerdict("call_successful", yes_or_no(analysis["call_successful"]), short(summary, private))
    sentiment = text_of(analysis.get("user_sentiment"))
    if sentiment is not None:
        yield PlatformVerdict("user_sentiment", _SENTIMENTS.get(sentiment.lower()), short(sentiment, private))
    for name, value in object_of(analysis.get("custom_analysis_data")).items():
        if isinstance(value, bool) and name not in _JUDGED:
            yield PlatformVerdict(private.text(name), yes_or_no(value))


def job_verdict(job: Mapping[str, Any], private: PrivateValues) -> PlatformVerdict:
    """Return the verdict on a simulated call."""
    score = _TEST_RESULTS.get(text_of(job.get("status")) or "")
    return PlatformVerdict("test_case", score, short(text_of(job.get("result_explanation")), private))
