"""Go from match to match: in the rows of a list, and in what was said in a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riff_tui.filters import parse
from riff_tui.tui.find.finder import Finder, FindTarget
from riff_tui.tui.find.local_filter import moment_test, row_test
from riff_tui.tui.find.match_highlight import match_patterns

if TYPE_CHECKING:
    from riff_tui.tui.host import Host
    from riff_tui.tui.navigation.location import Location
    from riff_tui.tui.panes.transcript import Transcript
    from riff_tui.tui.widgets.line_table import LineTable


class Search:
    """Hold what is searched for: `expression` in conversations, `earlier` ones, and the last filter of a list."""

    def __init__(self, host: Host, finder: Finder, table: LineTable, transcript: Transcript) -> None:
        self.expression = ""
        self.earlier: list[str] = []
        self._host = host
        self._finder = finder
        self._table = table
        self._transcript = transcript
        self._last_filter = ""
        self._from_end = False

    # In a list

    @property
    def filter(self) -> str:
        """Return the filter of this location, else the last one that there was."""
        location = self._host.location
        return location.filter.text or self._last_filter

    def remember(self, expression: str) -> None:
        """Remember a filter that holds, or does no more; an empty one is none."""
        self._last_filter = expression or self._last_filter

    def step(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) row that the last filter matches."""
        test = row_test(self.filter, self._table.table)
        if test is None:
            self._host.say(f"{self.filter} speaks of calls, not of what stands in these rows", "warn")
        else:
            self._finder.find(FindTarget(f"row that matches {self.filter}", test), direction)

    # In a conversation

    def start(self, expression: str) -> None:
        """Go to the first moment that matches, from the cursor on; raise `FilterError` where that makes no sense."""
        transcript = self._transcript
        rows = transcript.table.rows
        test = moment_test(expression, transcript.table)
        matching = [index for index, row in enumerate(rows) if test(row)]
        self.expression = expression
        self.earlier = [*(each for each in self.earlier if each != expression), expression]
        transcript.mark(match_patterns(parse(expression)))
        self._host.update_lines()
        if matching:
            transcript.cursor = next((index for index in matching if index >= transcript.cursor), matching[0])
            many = "moment matches" if len(matching) == 1 else "moments match"
            self._host.say(f"{len(matching)} {many}: n and N go from one to the next, Esc ends it")
        else:
            self._host.say(f"nothing here matches {expression}; n looks in the next conversation, Esc ends it", "warn")

    def step_within(self, direction: int) -> bool:
        """Go to the next or the previous match of this conversation; return whether there is one."""
        found = self._match(self._transcript.cursor, direction) if self.expression else None
        if found is not None:
            self._transcript.cursor = found
        return found is not None

    def begin_at_end(self) -> None:
        """Go to the last match of the conversation that is shown next, instead of the first."""
        self._from_end = True

    def arrived(self, location: Location, *, again: bool) -> None:
        """Mark the matches of the conversation shown; in one that is new, go to the first of them."""
        from_end, self._from_end = self._from_end, False
        self._transcript.mark(match_patterns(parse(self.expression)))
        if self.expression and not again and not location.row:
            found = self._match(len(self._transcript.table.rows), -1) if from_end else self._match(-1, 1)
            self._transcript.cursor = 0 if found is None else found

    def end(self) -> None:
        """Search for nothing any more."""
        self.expression = ""
        self._transcript.mark([])
        self._host.update_lines()

    def _match(self, index: int, direction: int) -> int | None:
        """Return the index of the first match after a row, or before it."""
        table = self._transcript.table
        test = moment_test(self.expression, table)
        way = range(index + direction, len(table.rows) if direction > 0 else -1, direction)
        return next((each for each in way if test(table.rows[each])), None)
