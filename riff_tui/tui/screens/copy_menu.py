"""One key more says what to copy."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from riff_tui.errors import RiffError
from riff_tui.output.sinks import render
from riff_tui.request import Request
from riff_tui.settings import state_directory
from riff_tui.table import Row, Table
from riff_tui.text.glyphs import UNICODE
from riff_tui.text.safe_text import block
from riff_tui.tui.navigation.links import link_to
from riff_tui.tui.render.columns import shown, text_of, visible_columns
from riff_tui.tui.terminal import clipboard
from riff_tui.tui.widgets.bars import BottomLine

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

_CHOICES = (("r", "row"), ("c", "cell"), ("m", "Markdown"), ("d", "dump command"), ("l", "link"), ("Esc", "nothing"))


class CopyMenu(ModalScreen[None], inherit_bindings=False):
    """Asks what to copy, in the bottom line; the place stays in view."""

    DEFAULT_CSS = """
    CopyMenu { background: transparent; }
    CopyMenu BottomLine { dock: bottom; background: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,y", "copy('row')", show=False),
        Binding("c", "copy('cell')", show=False),
        Binding("m", "copy('table')", show=False),
        Binding("d", "copy('dump')", show=False),
        Binding("l", "copy('link')", show=False),
        Binding("escape,q,backspace", "dismiss", show=False),
    ]

    def __init__(self, place: ExplorerScreen) -> None:
        super().__init__()
        self._place = place

    def compose(self) -> ComposeResult:
        yield BottomLine(palette=self._place.explorer.palette, glyphs=self._place.explorer.glyphs)

    def on_mount(self) -> None:
        self.query_one(BottomLine).hint([("copy:", ""), *_CHOICES])

    def action_copy(self, what: str) -> None:
        """Copy it and say where it went."""
        if what == "table" and self._place.history.here.kind == "conversation":
            self.dismiss()
            self._place.run_worker(posted(self._place), group="copy", exit_on_error=False)
            return
        text = self._text(what)
        self.dismiss()
        if text:
            self._place.run_worker(taken(self._place, what, text), group="copy", exit_on_error=False)
        else:
            self._place.say(f"there is no {what} to copy", "warn")

    def _text(self, what: str) -> str:
        reading, row = self._place.loaded, self._place.body.row
        if reading is None:
            return ""
        if what == "link":
            return block(link_to(self._place))
        if what == "dump":
            return "\n".join(block(command) for command in reading.dumps)
        if what == "table":
            return markdown(reading.main)
        if row is None:
            return ""
        if reading.main.view == "conversation":
            return moment(row)
        column = self._place.table.under
        if what == "cell":
            return text_of(column, row, UNICODE) if column else ""
        return line(reading.main, row)


async def taken(place: ExplorerScreen, what: str, text: str) -> None:
    """Copy safe text, and say where it went."""
    send = place.explorer.send
    try:
        told = await place.explorer.worker.ask(lambda: clipboard.copy(text, state_directory(), send))
    except (OSError, RiffError) as error:
        place.fail(error)
    else:
        place.say(f"{what} {told}")


async def posted(place: ExplorerScreen) -> None:
    """Copy a call as it may be posted: what was said in it goes out as redacted as it can be."""
    where = place.history.here.scope.text
    try:
        request = Request(where=where, text=True, redact=True)
        table = await place.explorer.worker.ask(lambda: place.show_view("conversation", request))
    except (OSError, RiffError) as error:
        place.fail(error)
    else:
        await taken(place, "table", markdown(table))


def markdown(table: Table) -> str:
    """The table as the Markdown dump prints it."""
    out = io.StringIO()
    render(table, "markdown", out)
    return out.getvalue()


def line(table: Table, row: Row) -> str:
    """A row as one line of titles and values."""
    columns = visible_columns(table)
    return " · ".join(f"{shown(column.title, UNICODE)} {text_of(column, row, UNICODE)}" for column in columns)


def moment(row: Row) -> str:
    """What was said or what happened, whole."""
    said = row.record.get("text") or row.record.get("detail") or row.record.get("state")
    who = row.record.get("role")
    return block(f"{who}: {said}" if who else str(said or ""))
