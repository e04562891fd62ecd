"""Keep the facts of evaluated calls in one SQLite file, and answer questions about them.

The names below are what scripts may rely on; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riff_store.database import Store, open_store
    from riff_store.errors import (
        DiskFull,
        ExitCode,
        NewerStore,
        NotAStore,
        OlderStore,
        OutputError,
        OutputFull,
        RiffError,
        StoreBusy,
        StoreError,
        StoreMissing,
        StoreReadOnly,
        UsageError,
    )
    from riff_store.library import ask
    from riff_store.metrics import Metric
    from riff_store.scoring import operability

__all__ = [
    "DiskFull",
    "ExitCode",
    "Metric",
    "NewerStore",
    "NotAStore",
    "OlderStore",
    "OutputError",
    "OutputFull",
    "RiffError",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreMissing",
    "StoreReadOnly",
    "UsageError",
    "ask",
    "open_store",
    "operability",
]

_HOMES = {
    "Metric": "metrics",
    "Store": "database",
    "ask": "library",
    "open_store": "database",
    "operability": "scoring",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that is its home."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
