"""Join the three logs of an EVA voice call into one context, and compute metrics from it."""

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.history_pipeline import process_history
from riff_ingest.eva.record import read_record

__all__ = ["MetricContext", "process_history", "read_record"]
