"""Run agents against flows: what `riff_runner` exports, under the name by which scripts know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import riff_runner
from riff_runner import __all__ as __all__

if TYPE_CHECKING:
    from riff_runner import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(riff_runner, name)
