"""List the formats that a table can be printed in."""

from __future__ import annotations

import enum
from pathlib import Path


class Format(enum.StrEnum):
    """Name a format, with the endings of its files.

    The last word of a member shows what is special about it: `graph`s need a figure that is one, and what is `posted`
    keeps the words of callers out unless they are asked for, and those of `one view` it alone has.
    """

    endings: tuple[str, ...]
    is_graph: bool
    is_posted: bool
    is_of_one_view: bool

    def __new__(cls, name: str, endings: tuple[str, ...] = (), special: str = "") -> Format:
        """Make a member of what is behind its name."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.endings = endings
        made.is_graph, made.is_posted = special == "graph", special == "posted"
        made.is_of_one_view = special == "one view"
        return made

    TEXT = "text", (".txt",)
    MARKDOWN = "markdown", (".md", ".markdown"), "posted"
    JSON = "json", (".json",)
    JSONL = "jsonl", (".jsonl",)
    CSV = "csv", (".csv",)
    SVG = "svg", (".svg",), "posted"
    DOT = "dot", (".dot", ".gv"), "graph"
    MERMAID = "mermaid", (".mmd",), "graph"
    QUARANTINE = "quarantine", (), "one view"


FORMATS = tuple(format for format in Format if not (format.is_graph or format.is_of_one_view))


def format_of(path: Path) -> Format | None:
    """Return the format that the ending of a file's name represents, if it represents one."""
    ending = path.suffix.lower()
    return next((format for format in Format if ending in format.endings), None)
