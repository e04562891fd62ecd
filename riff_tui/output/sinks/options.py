"""Define what a sink takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TextIO

from riff_tui.table import Table
from riff_tui.text.glyphs import Glyphs, glyphs, in_ascii
from riff_tui.text.safe_text import one_line


@dataclass(frozen=True, slots=True)
class Options:
    """Describe how to print; a format ignores what means nothing to it."""

    width: int | None = None
    ascii_only: bool = False
    color: bool = False
    csv_raw: bool = False

    @property
    def glyphs(self) -> Glyphs:
        """Return the signs to print with."""
        return glyphs(self.ascii_only)

    def line(self, text: str) -> str:
        """Return any text as safe text on one line, in ASCII where wanted."""
        safe = one_line(text)
        return in_ascii(safe) if self.ascii_only else safe


class Sink(Protocol):
    """Write one format."""

    def __call__(self, table: Table, out: TextIO, options: Options) -> None:
        """Print the table to `out`."""
        ...
