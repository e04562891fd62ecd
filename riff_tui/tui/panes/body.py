"""What stands between the line above and the line below: rows or a transcript, and a pane that tells more of a row."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from riff_tui.text.glyphs import Glyphs
from riff_tui.tui.panes.pane import Pane
from riff_tui.tui.panes.transcript import Transcript
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.widgets.line_table import LineTable


class Body(Vertical):
    """A class `-right`, `-below` or `-full` says where the pane stands, none of them that it is closed.

    With `-conversation` the transcript stands in the place of the rows.
    """

    DEFAULT_CSS = """
    Body { height: 1fr; }
    Body.-right { layout: horizontal; }
    Body.-right LineTable, Body.-right Transcript { width: 1fr; }
    Body.-right Pane { display: block; height: 1fr; }
    Body.-below Pane { display: block; height: 1fr; }
    Body.-full Pane { display: block; height: 1fr; }
    Body.-full LineTable { display: none; }
    Body Transcript { display: none; }
    Body.-conversation Transcript { display: block; }
    Body.-conversation LineTable { display: none; }
    Body.-full.-conversation Transcript { display: none; }
    """

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__(id="body")
        self._palette, self._glyphs = palette, glyphs

    def compose(self) -> ComposeResult:
        yield LineTable(palette=self._palette, glyphs=self._glyphs, id="table")
        yield Transcript(palette=self._palette, glyphs=self._glyphs, id="transcript")
        yield Pane(palette=self._palette, glyphs=self._glyphs, id="pane")
