"""Lay out what stands between the top line and the bottom line: rows or a transcript, and the pane of details."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from riff_tui.tui.panes.pane import Pane
from riff_tui.tui.panes.transcript import Transcript
from riff_tui.tui.widgets.line_table import LineTable


class Body(Vertical):
    """Lay out the rows and the pane: `-right`, `-below` or `-full` says where the pane stands, none that it is closed.

    With `-conversation` the transcript is shown instead of the rows.
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

    def __init__(self, table: LineTable, transcript: Transcript, pane: Pane) -> None:
        super().__init__(id="body")
        self.table = table
        self.transcript = transcript
        self.pane = pane

    def compose(self) -> ComposeResult:
        yield self.table
        yield self.transcript
        yield self.pane
