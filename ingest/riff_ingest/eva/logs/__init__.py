"""Read the three logs of a call into events of its history (R5.1 to R5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riff_ingest.eva.history import HistoryEvent
from riff_ingest.eva.logs.audit import audit_events, tell_missing
from riff_ingest.eva.logs.framework import framework_events
from riff_ingest.eva.logs.simulator import simulator_events
from riff_ingest.eva.turns import PipelineType
from riff_ingest.eva.warnings import Warnings

__all__ = ["merged_history"]


def merged_history(
    directory: Path, result: Mapping[str, Any], pipeline_type: PipelineType, warnings: Warnings
) -> list[HistoryEvent]:
    """Return the events of all three logs by time.

    At equal times audit comes before framework before simulator (R5.4).
    """
    events = audit_events(directory, warnings)
    if events:
        tell_missing(events, result, warnings)
    if pipeline_type != "s2s":
        events += framework_events(directory, result.get("pipecat_logs_path"), warnings)
    stored = result.get("user_simulator_logs_path") or result.get("elevenlabs_logs_path")
    events += simulator_events(directory, stored, warnings)
    return sorted(events, key=lambda event: event.timestamp_ms)
