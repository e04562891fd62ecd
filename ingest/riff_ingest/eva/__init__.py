"""Join the three logs of an EVA voice call into one context, and compute metrics from it.

The names below are what scripts may rely on; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riff_ingest.eva.context import MetricContext
    from riff_ingest.eva.history_pipeline import process_history
    from riff_ingest.eva.record import read_record

__all__ = ["MetricContext", "process_history", "read_record"]

_HOMES = {"MetricContext": "context", "process_history": "history_pipeline", "read_record": "record"}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that is its home."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
