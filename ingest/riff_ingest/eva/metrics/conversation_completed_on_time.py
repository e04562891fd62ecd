"""Did the call come to its end before its time was up (10.9)?"""

from __future__ import annotations

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import Score

NAME = "conversation_completed_on_time"


def conversation_completed_on_time(context: MetricContext, files: RecordFiles) -> Score:
    """0.0 where the call was ended because it took too long, else 1.0 (10.9)."""
    ended = context.conversation_ended_reason
    late = ended == "time_limit_exceeded"
    value = 0.0 if late else 1.0
    return Score(NAME, value, value, {"conversation_ended_reason": ended, "timed_out": late})
