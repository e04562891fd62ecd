"""Open, place and fill the pane of details, once the cursor rests on a row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from riff_tui.catalog import Request
from riff_tui.descent import keep_steps
from riff_tui.errors import describe
from riff_tui.filters import Filter
from riff_tui.table import Row, Table
from riff_tui.tui.data.loader import is_voice
from riff_tui.tui.navigation.location import Location, descend
from riff_tui.tui.navigation.stacks import begins_at
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.styled_lines import Line

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.pane import Body


PanePosition: TypeAlias = Literal["right", "below", "full"]

RIGHT_FROM = 110
"""From so many columns on the pane stands beside a list, unless it was hidden."""
# Shorter than a pause that one notices, longer than the time between two moves of a key held down.
RESTS_AFTER_S = 0.08
# A record without its preview would be drawn twice, the second time in other lines, so for a moment it is waited for.
WAITS_S = 0.25
_MAX_WIDTH = 64
_BELOW_LINES = 9
_TALL = 30
_MAX_PREVIEWS = 16


class DetailController:
    """Place and fill the pane of a screen: what Enter would open, and then all of the row."""

    def __init__(self, host: Host, body: Body) -> None:
        self.pane = body.pane
        self._host = host
        self._body = body
        self._is_open_in_calls = False
        self._opened: PanePosition | None = None
        self._size = (0, 0)
        """The size of the screen that it was placed on last."""
        self._resting: Timer | None = None
        self._previews: OrderedDict[str, Table | str] = OrderedDict()
        self._stale: set[str] = set()
        self._worker: Worker[Any] | None = None
        self._asked_for = ""

    @property
    def is_visible(self) -> bool:
        """Return whether it can be seen: of conversations, only a voice call has more on a moment."""
        loaded = self._host.loaded
        if self._in_conversation:
            return self._is_open_in_calls and loaded is not None and is_voice(loaded.main)
        return self._side is not None

    @property
    def covers(self) -> bool:
        """Return whether it is shown instead of the table."""
        return self.is_visible and self._side == "full"

    @property
    def is_in_the_way(self) -> bool:
        """Return whether it was opened over or below what one walks, and so is closed before one leaves that."""
        return self.is_visible and (self._in_conversation or self._side != "right")

    def toggle(self) -> None:
        """Open it or close it; if it has no room beside a list, below that, then instead of it, then not at all."""
        if self._in_conversation:
            self._is_open_in_calls = not self._is_open_in_calls
        elif self._is_wide:
            self._host.session.set_preview(not self._host.session.shows_preview)
        else:
            following: dict[PanePosition | None, PanePosition | None] = {None: "below", "below": "full"}
            self._opened = following.get(self._opened)
        self._show()

    def close(self) -> None:
        """Close it, however far it was opened."""
        if self._in_conversation:
            self._is_open_in_calls = False
        elif self._is_wide:
            self._host.session.set_preview(False)
        self._opened = None
        self._show()

    def _show(self) -> None:
        self.place()
        self._fill(keep=True, waits=True)
        self._host.body.focus()
        self._host.update_lines()

    def place(self) -> None:
        """Put it where the size of the screen has room for it."""
        body, self._size = self._body, (self._body.app.size.width, self._body.app.size.height)
        side = self._side if self.is_visible else None
        for each in ("right", "below", "full"):
            body.set_class(each == side, f"-{each}")
        at_right, (width, height) = side == "right", self._size
        self.pane.at_right = at_right
        self.pane.styles.width = min(_MAX_WIDTH, width * 2 // 5) if at_right else "100%"
        self.pane.styles.height = _BELOW_LINES if side == "below" and height < _TALL else "1fr"
        body.table.companion = body.transcript.companion = self.pane if at_right else None

    def arrived(self) -> None:
        """Follow rows that are others, or that changed."""
        self._stale = set(self._previews)
        self._asked_for = ""
        self.place()
        self._fill(keep=True, waits=True)

    def moved(self) -> None:
        """Follow the cursor once it rests."""
        if self.is_visible:
            self._stop()
            self._resting = self._host.set_timer(RESTS_AFTER_S, partial(self._fill, waits=True))

    @property
    def _in_conversation(self) -> bool:
        return self._host.location.kind == "conversation"

    @property
    def _is_wide(self) -> bool:
        return self._size[0] >= RIGHT_FROM

    @property
    def _side(self) -> PanePosition | None:
        """Return where it is, `None` if it is closed."""
        if self._in_conversation:
            return "right" if self._is_wide else "below" if self._size[1] >= _TALL else "full"
        if self._is_wide:
            return "right" if self._host.session.shows_preview else None
        return self._opened

    def _stop(self) -> None:
        if self._resting is not None:
            self._resting.stop()
            self._resting = None

    def _fill(self, *, keep: bool = False, waits: bool = False) -> None:
        self._stop()
        loaded, row = self._host.loaded, self._host.body.row
        if not self.is_visible or loaded is None:
            return
        preview = wanted = None
        if row is not None and not self._in_conversation:
            wanted = request_for(self._host.location, loaded.main, row)
        if row is not None and wanted is not None:
            preview = self._previews.get(wanted.key)
            if preview is None or wanted.key in self._stale:
                self._ask_for(wanted, row)
                if preview is None and waits:
                    if keep:
                        # What it shows is of another place.
                        self.pane.show(lambda width: ("", ()))
                    self._resting = self._host.set_timer(WAITS_S, self._fill)
                    return
        self._draw(loaded.main, row, preview, keep=keep)

    def _draw(self, table: Table, row: Row | None, preview: Table | str | None, *, keep: bool) -> None:
        from riff_tui.tui.render.details import detail_lines, heading, turn_heading, turn_lines

        pane = self.pane
        glyphs, palette = pane.glyphs, pane.palette

        def make(width: int) -> tuple[str, Sequence[Line]]:
            if row is None or not row.id:
                return "", ()
            if is_voice(table):
                return turn_heading(row, glyphs), turn_lines(table, row, width, glyphs, pane.palette)
            found = None if isinstance(preview, str) else preview
            if found is not None and found.view == "conversation":
                location = self._host.location
                found = found._replace(begin=begins_at(found, location.where.predicate))
            lines = detail_lines(table, row, width, glyphs, pane.palette, found)
            if isinstance(preview, str):
                lines += [(), ((f" {shown(preview, glyphs)}", palette.quiet),)]
            return heading(table, row, glyphs), lines

        pane.show(make, keep=keep)

    def _ask_for(self, wanted: Wanted, row: Row) -> None:
        """Ask for what a row leads to, unless that is being asked for already."""
        if self._worker is None or self._worker.is_finished or self._asked_for != wanted.key:
            self._asked_for = wanted.key
            self._worker = self._host.run(partial(self._load, wanted, row), "detail", exclusive=True)

    async def _load(self, wanted: Wanted, row: Row) -> None:
        preview: Table | str
        show_view = self._host.show_view
        try:
            preview = await self._host.worker.ask(lambda: show_view(wanted.view, wanted.request))
        except Exception as error:  # shown where it would have been; the record is there without it
            preview = describe(error)[1]
        self._previews[wanted.key] = preview
        self._stale.discard(wanted.key)
        while len(self._previews) > _MAX_PREVIEWS:
            self._previews.popitem(last=False)
        loaded, at_cursor = self._host.loaded, self._body.table.row
        if loaded is not None and at_cursor is not None and at_cursor.id == row.id and self.is_visible:
            self._stop()
            self._draw(loaded.main, at_cursor, preview, keep=True)


class Wanted(NamedTuple):
    """Describe the view that a preview is made of, and what is asked of it."""

    view: str
    request: Request

    @property
    def key(self) -> str:
        """Return what distinguishes it from the previews of other rows."""
        return f"{self.view} {self.request.where}"


_PREVIEWED = {"conversation": "conversation", "neighbors": "neighbors", "segments": "funnel", "states": "funnel"}
"""What is shown of what Enter would open: of a flow its funnel, of a state its graph, of a call what was said."""


def request_for(location: Location, table: Table, row: Row) -> Wanted | None:
    """Return what to ask for the preview of a row, `None` if it leads to nothing that a pane could show."""
    below = descend(location, table, row) if row.where or row.leads else None
    view = _PREVIEWED.get(below.view, "") if below is not None and not below.sides and not below.pair else ""
    if below is None or not view:
        return None
    # A funnel is of a flow whole: a phase or a state would leave of it the calls that came there.
    scope = Filter.of(keep_steps(below.scope.predicate, ("flow", "agent", "run"))) if view == "funnel" else below.scope
    is_call = view == "conversation"
    return Wanted(view, Request(where=scope.text, predicate=scope.predicate, text=is_call, defer=not is_call))
