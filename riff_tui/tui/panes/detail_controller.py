"""The detail pane: where it stands, which row it follows, and that it waits until the cursor rests."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from textual.timer import Timer

from riff_tui.errors import describe
from riff_tui.request import Request
from riff_tui.table import Row, Table
from riff_tui.tui.panes.body import Body
from riff_tui.tui.panes.pane import Pane
from riff_tui.tui.panes.transcript import Transcript
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.detail_lines import detail_lines, heading
from riff_tui.tui.render.styled_lines import Line
from riff_tui.tui.render.turn_lines import heading as turn_heading
from riff_tui.tui.render.turn_lines import is_voice, turn_lines
from riff_tui.tui.widgets.line_table import LineTable

if TYPE_CHECKING:
    from riff_tui.tui.data.loader import ShowView
    from riff_tui.tui.screens.explorer import ExplorerScreen

PanePosition: TypeAlias = Literal["right", "below", "full"]

RIGHT_FROM = 120
BELOW_FROM = 30
# Shorter than a pause that one notices, longer than the time between two moves of a key held down.
RESTS_AFTER_S = 0.15
_WIDEST = 64
_MOST_TOLD = 16


def side_for(width: int, height: int) -> PanePosition:
    """Where the pane stands on a screen of that size."""
    return "right" if width >= RIGHT_FROM else "below" if height >= BELOW_FROM else "full"


class DetailController:
    """Opens, places and fills the pane of a screen; `show` is asked for what was said in a call."""

    def __init__(self, screen: ExplorerScreen, show: ShowView) -> None:
        self._open: set[bool] = set()
        self._screen = screen
        self._show = show
        self._resting: Timer | None = None
        self._told: OrderedDict[str, Table | str] = OrderedDict()
        self._doubted: set[str] = set()

    @property
    def is_open(self) -> bool:
        """Whether it was opened beside what is shown: a list and a conversation have it open or closed apart."""
        return self._in_call in self._open

    @property
    def is_visible(self) -> bool:
        """Whether it can be seen: of conversations, only a voice call has more to tell of a moment."""
        reading = self._screen.loaded
        return self.is_open and (not self._in_call or (reading is not None and is_voice(reading.main)))

    @property
    def covers(self) -> bool:
        """Whether it stands in the place of the table."""
        return self.is_visible and self._side == "full"

    def toggle(self) -> None:
        """Open it or close it."""
        self._open ^= {self._in_call}
        self.place()
        self._fill()
        self._screen.body.focus()
        self._screen.tell()

    def place(self) -> None:
        """Put it where the size of the screen has room for it."""
        screen, side = self._screen, self._side
        for each in ("right", "below", "full"):
            screen.query_one(Body).set_class(self.is_visible and each == side, f"-{each}")
        at_right = self.is_visible and side == "right"
        self.pane.beside = at_right
        self.pane.styles.width = min(_WIDEST, screen.app.size.width * 2 // 5) if at_right else "100%"
        for body in (screen.query_one(LineTable), screen.query_one(Transcript)):
            body.companion = self.pane if at_right else None

    def arrived(self) -> None:
        """The rows are others now, or say something else."""
        self._doubted = set(self._told)
        self.place()
        self._fill(keep=True)

    def moved(self) -> None:
        """The cursor moved: what it is on is told when it stays there."""
        if self.is_visible:
            self._stop()
            self._resting = self._screen.set_timer(RESTS_AFTER_S, self._fill)

    def turn(self, lines: int) -> None:
        """Scroll it."""
        self.pane.turn(lines)

    def page(self, pages: int) -> None:
        """Scroll it by whole pages."""
        self.pane.page(pages)

    @property
    def pane(self) -> Pane:
        """The widget."""
        return self._screen.query_one(Pane)

    @property
    def _in_call(self) -> bool:
        return self._screen.history.here.kind == "conversation"

    @property
    def _side(self) -> PanePosition:
        return side_for(*self._screen.app.size)

    def _stop(self) -> None:
        if self._resting is not None:
            self._resting.stop()
            self._resting = None

    def _fill(self, *, keep: bool = False) -> None:
        self._stop()
        reading, row = self._screen.loaded, self._screen.body.row
        if not self.is_visible or reading is None:
            return
        table, told = reading.main, None
        if row is not None and table.view == "conversations" and row.where:
            told = self._told.get(row.where)
            if told is None or row.where in self._doubted:
                self._screen.run_worker(self._ask(row), group="detail", exclusive=True, exit_on_error=False)
        self._draw(table, row, told, keep=keep)

    def _draw(self, table: Table, row: Row | None, told: Table | str | None, *, keep: bool) -> None:
        glyphs, palette = self.pane.glyphs, self.pane.palette

        def make(width: int) -> tuple[str, Sequence[Line]]:
            if row is None or not row.id:
                return "", ()
            if is_voice(table):
                return turn_heading(row, glyphs), turn_lines(table, row, width, glyphs, self.pane.palette)
            found = told if isinstance(told, Table) else None
            lines = detail_lines(table, row, width, glyphs, self.pane.palette, found)
            if isinstance(told, str):
                lines += [(), ((f" {shown(told, glyphs)}", palette.faint),)]
            return heading(table, row, glyphs), lines

        self.pane.show(make, keep=keep)

    async def _ask(self, row: Row) -> None:
        told: Table | str
        try:
            told = await self._screen.explorer.worker.ask(
                lambda: self._show("conversation", Request(where=row.where, text=True))
            )
        except Exception as error:  # said where the words would have stood; the record is there without them
            told = describe(error)[1]
        self._told[row.where] = told
        self._doubted.discard(row.where)
        while len(self._told) > _MOST_TOLD:
            self._told.popitem(last=False)
        reading, now = self._screen.loaded, self._screen.table.row
        if reading is not None and now is not None and now.id == row.id and self.is_visible:
            self._draw(reading.main, now, told, keep=True)
