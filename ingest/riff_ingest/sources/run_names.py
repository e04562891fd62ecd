"""The run that a file belongs to."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = "(root)"


def run_of(path: Path) -> str:
    """The run of what names none: the directory that holds the file."""
    return text_of(os.path.basename(os.path.dirname(os.path.abspath(path)))) or ROOT


def text_of(name: str) -> str:
    """The name of a file as text, with bytes that are none spelled out."""
    return os.fsencode(name).decode(errors="backslashreplace")
