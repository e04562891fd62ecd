"""The explorer: the only part that knows Textual."""

from __future__ import annotations

from riff_tui.tui.app import Explorer
from riff_tui.tui.opening import Start, run_explorer

__all__ = ["Explorer", "Start", "run_explorer"]
