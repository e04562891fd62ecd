"""The way from match to match: in the rows of a list, and in what was said in a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riff_tui.filters import FilterError, parse
from riff_tui.tui.find.find_target import FindTarget
from riff_tui.tui.find.local_filter import finds, said
from riff_tui.tui.find.match_highlight import needles

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen


class Search:
    """Knows what is looked for; `sought` is what is searched for in conversations, `earlier` what ever was."""

    def __init__(self, screen: ExplorerScreen) -> None:
        self.sought = ""
        self.earlier: list[str] = []
        self._last = ""
        self._screen = screen
        self._from_end = False

    # In a list

    @property
    def words(self) -> str:
        """The filter of this place, else the last one that there was."""
        return self._screen.history.here.filter.text or self._last

    def remember(self, expression: str) -> None:
        """A filter holds, or does no more; an empty one is none."""
        self._last = expression or self._last

    def step(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) row that the last filter matches."""
        screen = self._screen
        test = finds(self.words, screen.table.table)
        if test is None:
            screen.say(f"{self.words} speaks of calls, not of what stands in these rows", "warn")
        else:
            screen.finder.go(FindTarget(f"row that matches {self.words}", test), direction)

    # In a conversation

    def search(self, expression: str) -> None:
        """Go to the first moment that matches, from the cursor on; with nothing to look for, on to the next match."""
        screen, table = self._screen, self._screen.transcript.table
        if not expression:
            screen.prompt_controller.close()
            self.within(1)
            return
        try:
            test = said(expression, table)
        except FilterError as error:
            screen.prompt.complain(error)
            return
        matching = [place for place, row in enumerate(table.rows) if test(row)]
        self.sought = expression
        self.earlier = [*(each for each in self.earlier if each != expression), expression]
        screen.transcript.mark(needles(parse(expression)))
        screen.prompt_controller.close()
        screen.tell()
        if matching:
            cursor = screen.transcript.cursor
            screen.transcript.cursor = next((place for place in matching if place >= cursor), matching[0])
            many = "moment matches" if len(matching) == 1 else "moments match"
            screen.say(f"{len(matching)} {many}: n and N go from one to the next, Esc ends it")
        else:
            screen.say(f"nothing here matches {expression}; n looks in the next conversation, Esc ends it", "warn")

    def within(self, direction: int) -> bool:
        """Go to the next or the previous match of this conversation; False where there is none."""
        found = self._match(self._screen.transcript.cursor, direction) if self.sought else None
        if found is not None:
            self._screen.transcript.cursor = found
        return found is not None

    def arrive_at_end(self) -> None:
        """In the conversation that is shown next, the last match comes first."""
        self._from_end = True

    def arrived(self, *, again: bool) -> None:
        """A conversation is shown: what is searched for stands out, and a new one begins where it is found."""
        screen, from_end, self._from_end = self._screen, self._from_end, False
        screen.transcript.mark(needles(parse(self.sought)))
        if self.sought and not again and not screen.history.here.row:
            found = self._match(len(screen.transcript.table.rows), -1) if from_end else self._match(-1, 1)
            screen.transcript.cursor = 0 if found is None else found

    def end(self) -> None:
        """Search for nothing any more."""
        self.sought = ""
        self._screen.transcript.mark([])
        self._screen.tell()

    def _match(self, index: int, direction: int) -> int | None:
        """The first match after a row, or before it."""
        table = self._screen.transcript.table
        test = said(self.sought, table)
        way = range(index + direction, len(table.rows) if direction > 0 else -1, direction)
        return next((place for place in way if test(table.rows[place])), None)
