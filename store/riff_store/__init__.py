"""Keep the facts of evaluated calls in one SQLite file, and answer questions about them.

The names below are what scripts may rely on; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

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
    from riff_store.metrics import Metric
    from riff_store.scoring import operability
    from riff_tui.library import ask

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
    "open_store": "database",
    "operability": "scoring",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that is its home."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "ask":
        return _ask()
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)


def _ask() -> Callable[..., list[dict[str, Any]]]:
    """Return what answers with the rows of a view, which is of riff-tui: it alone knows views."""
    try:
        from riff_tui.library import ask
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "riff_tui":
            raise
        return _ask_without_views
    return ask


def _ask_without_views(*_: object, **__: object) -> NoReturn:
    from riff_store.errors import RiffError

    raise RiffError("views come with riff-tui, which is not installed", "install its wheel here")
