"""What the ending of a file's name says about the format that belongs into it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

FORMAT_OF: Mapping[str, str] = MappingProxyType(
    {
        ".txt": "text",
        ".md": "markdown",
        ".markdown": "markdown",
        ".csv": "csv",
        ".json": "json",
        ".jsonl": "jsonl",
        ".svg": "svg",
        ".dot": "dot",
        ".gv": "dot",
        ".mmd": "mermaid",
    }
)
# These are made to be posted: words of callers stay out of them unless they are asked for.
POSTED = frozenset({"markdown", "svg"})


def format_of(path: Path) -> str | None:
    """The format that a file's ending names, if it names one."""
    return FORMAT_OF.get(path.suffix.lower())
