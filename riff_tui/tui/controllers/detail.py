"""Open, place and fill the pane of details, once the cursor rests on a row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from riff_tui.catalog import Request
from riff_tui.errors import describe
from riff_tui.table import Row, Table
from riff_tui.tui.data.loader import is_voice
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.styled_lines import Line

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.pane import Body


PanePosition: TypeAlias = Literal["right", "below", "full"]

RIGHT_FROM = 120
BELOW_FROM = 30
# Shorter than a pause that one notices, longer than the time between two moves of a key held down.
RESTS_AFTER_S = 0.15
_MAX_WIDTH = 64
_MAX_CONVERSATIONS = 16


def side_for(width: int, height: int) -> PanePosition:
    """Return where the pane stands on a screen of that size."""
    return "right" if width >= RIGHT_FROM else "below" if height >= BELOW_FROM else "full"


class DetailController:
    """Open, place and fill the pane of a screen; of a call, it tells what was said as well."""

    def __init__(self, host: Host, body: Body) -> None:
        self.pane = body.pane
        self._host = host
        self._body = body
        self._open: set[bool] = set()
        self._resting: Timer | None = None
        self._conversations: OrderedDict[str, Table | str] = OrderedDict()
        self._stale: set[str] = set()
        self._worker: Worker[Any] | None = None
        self._asked_for = ""

    @property
    def is_open(self) -> bool:
        """Return whether it was opened: lists and conversations have it open or closed apart."""
        return self._in_conversation in self._open

    @property
    def is_visible(self) -> bool:
        """Return whether it can be seen: of conversations, only a voice call has more to tell of a moment."""
        loaded = self._host.loaded
        return self.is_open and (not self._in_conversation or (loaded is not None and is_voice(loaded.main)))

    @property
    def covers(self) -> bool:
        """Return whether it is shown instead of the table."""
        return self.is_visible and self._side == "full"

    def toggle(self) -> None:
        """Open it or close it."""
        self._open ^= {self._in_conversation}
        self.place()
        self._fill()
        self._host.body.focus()
        self._host.update_lines()

    def place(self) -> None:
        """Put it where the size of the screen has room for it."""
        body, side = self._body, self._side
        for each in ("right", "below", "full"):
            body.set_class(self.is_visible and each == side, f"-{each}")
        at_right = self.is_visible and side == "right"
        self.pane.at_right = at_right
        self.pane.styles.width = min(_MAX_WIDTH, body.app.size.width * 2 // 5) if at_right else "100%"
        body.table.companion = body.transcript.companion = self.pane if at_right else None

    def arrived(self) -> None:
        """Follow rows that are others, or say something else."""
        self._stale = set(self._conversations)
        self._asked_for = ""
        self.place()
        self._fill(keep=True)

    def moved(self) -> None:
        """Follow the cursor once it rests."""
        if self.is_visible:
            self._stop()
            self._resting = self._host.set_timer(RESTS_AFTER_S, self._fill)

    @property
    def _in_conversation(self) -> bool:
        return self._host.location.kind == "conversation"

    @property
    def _side(self) -> PanePosition:
        return side_for(*self._body.app.size)

    def _stop(self) -> None:
        if self._resting is not None:
            self._resting.stop()
            self._resting = None

    def _fill(self, *, keep: bool = False) -> None:
        self._stop()
        loaded, row = self._host.loaded, self._host.body.row
        if not self.is_visible or loaded is None:
            return
        table, conversation = loaded.main, None
        if row is not None and table.view == "conversations" and row.where:
            conversation = self._conversations.get(row.where)
            if conversation is None or row.where in self._stale:
                self._ask_for(row)
        self._draw(table, row, conversation, keep=keep)

    def _draw(self, table: Table, row: Row | None, conversation: Table | str | None, *, keep: bool) -> None:
        from riff_tui.tui.render.details import detail_lines, heading, turn_heading, turn_lines

        pane = self.pane
        glyphs, palette = pane.glyphs, pane.palette

        def make(width: int) -> tuple[str, Sequence[Line]]:
            if row is None or not row.id:
                return "", ()
            if is_voice(table):
                return turn_heading(row, glyphs), turn_lines(table, row, width, glyphs, pane.palette)
            found = conversation if isinstance(conversation, Table) else None
            lines = detail_lines(table, row, width, glyphs, pane.palette, found)
            if isinstance(conversation, str):
                lines += [(), ((f" {shown(conversation, glyphs)}", palette.quiet),)]
            return heading(table, row, glyphs), lines

        pane.show(make, keep=keep)

    def _ask_for(self, row: Row) -> None:
        """Ask for what was said in a call, unless that is being asked for already."""
        if self._worker is None or self._worker.is_finished or self._asked_for != row.where:
            self._asked_for = row.where
            self._worker = self._host.run(partial(self._load, row), "detail", exclusive=True)

    async def _load(self, row: Row) -> None:
        conversation: Table | str
        show_view = self._host.show_view
        try:
            conversation = await self._host.worker.ask(
                lambda: show_view("conversation", Request(where=row.where, text=True))
            )
        except Exception as error:  # said where the words would have stood; the record is there without them
            conversation = describe(error)[1]
        self._conversations[row.where] = conversation
        self._stale.discard(row.where)
        while len(self._conversations) > _MAX_CONVERSATIONS:
            self._conversations.popitem(last=False)
        loaded, at_cursor = self._host.loaded, self._body.table.row
        if loaded is not None and at_cursor is not None and at_cursor.id == row.id and self.is_visible:
            self._draw(loaded.main, at_cursor, conversation, keep=True)
