"""Run the explorer, the only part that knows Textual."""

from __future__ import annotations

from riff_tui.tui.app import Explorer, StartOptions, print_keys, run_explorer

__all__ = ["Explorer", "StartOptions", "print_keys", "run_explorer"]
