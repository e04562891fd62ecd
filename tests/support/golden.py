"""Printing a table into a string, and comparing that with what is kept under tests/golden."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from tests.surface.tui import Table
from tests.surface.tui import sinks_render as render

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def printed(table: Table, format: str, **options: Any) -> str:
    """Return what a sink writes."""
    out = io.StringIO(newline="")
    render(table, format, out, **options)
    return out.getvalue()


def assert_golden(text: str, name: str) -> None:
    """The text is what the golden file reports; with RIFF_UPDATE_GOLDEN=1 in the environment it becomes that."""
    path = GOLDEN / name
    if os.environ.get("RIFF_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
    assert path.read_bytes().decode("utf-8") == text
