"""EVA's voice logs: three logs of a call joined into one context, and the metrics that can be computed from it."""

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.history_pipeline import process_history
from riff_ingest.eva.record import read_record

__all__ = ["MetricContext", "process_history", "read_record"]
