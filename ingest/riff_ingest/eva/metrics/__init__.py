"""Compute metrics of a call's context, without a judge (docs/eva.md)."""

from riff_ingest.eva.metrics.compute import composites, compute_metrics
from riff_ingest.eva.metrics.files import RecordFiles, read_files
from riff_ingest.eva.metrics.score import MetricScore

__all__ = ["MetricScore", "RecordFiles", "composites", "compute_metrics", "read_files"]
