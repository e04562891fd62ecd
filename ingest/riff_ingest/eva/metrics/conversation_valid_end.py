"""Did the call end with the caller's goodbye, so that it may be judged at all (10.7)?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.history import inner
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.last_speaker import AGENT_TIMEOUT, agent_timed_out
from riff_ingest.eva.metrics.score import Score
from riff_ingest.sources.lenient_json import loads
from riff_ingest.sources.lines import BrokenInput

NAME = "conversation_valid_end"


def conversation_valid_end(context: MetricContext, files: RecordFiles) -> Score:
    """1.0 where the last line of the simulator's log is a goodbye, or where the agent left the caller waiting (10.7).

    A log whose last line cannot be read is an error, for then nobody knows how the call ended.
    """
    if agent_timed_out(context):
        return Score(NAME, 1.0, 1.0, {"ended_properly": True, "reason": AGENT_TIMEOUT})
    place = {"file_path": files.simulator_log}
    event, problem = _last_event(files.simulator_end)
    if event is None:
        return Score(NAME, 0.0, 0.0, {"ended_properly": False, **place}, error=problem)
    kind = event.get("type")
    if kind != "connection_state":
        why = {"reason": "the last event is no connection_state"}
        return Score(NAME, 0.0, 0.0, {"ended_properly": False, "last_event_type": kind, **place, **why})
    if reason_of(event) != "goodbye":
        why = {"reason": f"the session ended for another reason than goodbye: {reason_of(event)}"}
        return Score(NAME, 0.0, 0.0, {"ended_properly": False, "last_event_type": kind, **place, **why})
    return Score(NAME, 1.0, 1.0, {"ended_properly": True, "last_event_type": kind, **place})


def conversation_finished(files: RecordFiles) -> bool:
    """Whether the last line of the simulator's log is a goodbye (9.3)."""
    event, _ = _last_event(files.simulator_end)
    return event is not None and event.get("type") == "connection_state" and reason_of(event) == "goodbye"


def reason_of(event: dict[str, Any]) -> Any:
    """Why the session ended, as an event of the connection says it."""
    details = inner(event, "details")
    return details.get("reason") if isinstance(details, dict) else None


def _last_event(line: str | None) -> tuple[dict[str, Any] | None, str]:
    """The event on the last line, or why there is none."""
    if line is None:
        return None, "the simulator's log is missing or cannot be read"
    if not line.strip():
        return None, "the simulator's log is empty or ends in an empty line"
    try:
        event = loads(line.encode("utf-8", "surrogatepass"), Counter())
    except BrokenInput as problem:
        return None, f"the last line of the simulator's log cannot be read: {problem.reason}"
    return (event, "") if isinstance(event, dict) else (None, "the last line of the simulator's log is no object")
