"""Find the next row or moment that passes a test, however far away, and filter rows that are loaded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from riff_store.filters.matching import compile_predicate
from riff_store.filters.predicates import And, Or, Predicate, Term, all_of, conjuncts, terms
from riff_store.vocabulary import SAID_FIELDS, split_name
from riff_tui.errors import FilterError
from riff_tui.filters import render, split
from riff_tui.filters.parser import parse
from riff_tui.table import Row, Table
from riff_tui.tui.data.lists import PAGE, PagedRows, all_loaded, is_loaded
from riff_tui.tui.render.styled_lines import match_patterns
from riff_tui.view_query import outlines
from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from textual.worker import Worker

    from riff_tui.tui.host import Host
    from riff_tui.tui.navigation.location import Location
    from riff_tui.tui.widgets.line_table import LineTable
    from riff_tui.tui.widgets.transcript import Transcript


RowTest: TypeAlias = Callable[[Row], bool]

# So many rows are looked at without anybody having to wait for it.
_NEAR = 1_000
_PATIENCE_S = 0.3


class FindTarget(NamedTuple):
    """Describe what to find: its name, the test of a row, and what to do when the cursor is there."""

    name: str
    test: RowTest
    then: Callable[[], object] = lambda: None


class Finder:
    """Move the cursor of a screen to what is to be found; any other key stops a long search."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._worker: Worker[Any] | None = None
        self._index = 0

    @property
    def is_searching(self) -> bool:
        """Return whether rows are still being searched."""
        return self._worker is not None and not self._worker.is_finished

    def stop(self, *, silent: bool = False) -> None:
        """Search no further, and unless it shall be `silent` show how far it went."""
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None
        if not silent:
            self._host.say(f"stopped looking at row {self._index + 1:,}; the cursor stayed where it was")

    def find(self, target: FindTarget, direction: int) -> None:
        """Go to the next (1) or the previous (-1) row that passes, or report that there is none."""
        body = self._host.body
        rows, index = body.table.rows, body.cursor + direction
        end = max(-1, index - _NEAR) if direction < 0 else min(len(rows), index + _NEAR)
        while index != end and 0 <= index < len(rows) and is_loaded(rows, index):
            if target.test(rows[index]):
                self._go_to(index, target)
                return
            index += direction
        if 0 <= index < len(rows):
            self._worker = self._host.run(partial(self._search, target, rows, index, direction), "find", exclusive=True)
        else:
            self._miss(target, direction)

    async def _search(self, target: FindTarget, rows: Sequence[Row], index: int, direction: int) -> None:
        host, said_at = self._host, time.monotonic()
        self._index = index
        while 0 <= self._index < len(rows):
            found = await host.worker.ask(partial(_search_page, rows, self._index, direction, target.test))
            body = host.body
            if body.table.rows is not rows:
                return
            if found is not None:
                self._go_to(found, target)
                return
            page = self._index // PAGE
            self._index = (page + 1) * PAGE if direction > 0 else page * PAGE - 1
            if time.monotonic() - said_at > _PATIENCE_S:
                said_at = time.monotonic()
                host.say(f"looking for {target.name}: row {self._index + 1:,} of {len(rows):,} … Esc stops")
        self._miss(target, direction)

    def _go_to(self, index: int, target: FindTarget) -> None:
        self._host.say("")
        self._host.body.cursor = index
        target.then()

    def _miss(self, target: FindTarget, direction: int) -> None:
        loaded = self._host.loaded
        among = "" if loaded is None or loaded.main.deferred is None else " in what is read so far"
        self._host.say(f"no {target.name} {'below' if direction > 0 else 'above'}{among}", "warn")


def _search_page(rows: Sequence[Row], index: int, direction: int, test: RowTest) -> int | None:
    """Return the index of the first row of a page that passes, from `index` on; its page is loaded then."""
    first = index // PAGE * PAGE
    stop = min(first + PAGE, len(rows))
    page = rows.read(first, stop) if isinstance(rows, PagedRows) else rows[first:stop]
    way = range(index, stop) if direction > 0 else range(index, first - 1, -1)
    found = next((each for each in way if test(page[each - first])), None)
    if found is not None and isinstance(rows, PagedRows) and not rows.has(found):
        rows.load(found // PAGE)
    return found


class Search:
    """Keep what is searched for: `expression` in conversations, `earlier` ones, and the last filter of a list."""

    def __init__(self, host: Host, finder: Finder, table: LineTable, transcript: Transcript) -> None:
        self.expression = ""
        self.earlier: list[str] = []
        self._host = host
        self._finder = finder
        self._table = table
        self._transcript = transcript
        self._last_filter = ""
        self._from_end = False
        self._is_of_list = False

    # In a list

    @property
    def filter(self) -> str:
        """Return the filter of this location, else the last one that there was."""
        location = self._host.location
        return location.filter.text or self._last_filter

    def remember(self, expression: str) -> None:
        """Remember a filter that has, or does no more; an empty one is none."""
        self._last_filter = expression or self._last_filter

    def step(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) row that the last filter matches."""
        test = row_test(self.filter, self._table.table)
        if test is None:
            self._host.say(f"{self.filter} filters calls; this list has none", "warn")
        else:
            self._finder.find(FindTarget(f"row that matches {self.filter}", test), direction)

    # In a conversation

    def start(self, expression: str) -> None:
        """Go to the first moment that matches, from the cursor on; raise `FilterError` if that makes no sense."""
        transcript = self._transcript
        rows = transcript.table.rows
        test = moment_test(expression, transcript.table)
        matching = [index for index, row in enumerate(rows) if test(row)]
        self.expression, self._is_of_list = expression, False
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
        """Mark the matches of the conversation shown; in one that is new, go to the first of them.

        If nothing was typed to search for, that is what the list was filtered by that was said.
        """
        from_end, self._from_end = self._from_end, False
        if not again and (self._is_of_list or not self.expression):
            stack = self._host.history.stack
            self.expression = said_in_filter(stack[-2].where.predicate) if len(stack) > 1 else ""
            self._is_of_list = bool(self.expression)
        self._transcript.mark(match_patterns(parse(self.expression)))
        if self.expression and not again and not location.row:
            found = self._match(len(self._transcript.table.rows), -1) if from_end else self._match(-1, 1)
            if found is not None or not self._is_of_list:
                self._transcript.cursor = found or 0

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


# Rows that are looked through within one keystroke.
MOST = 20_000


def count_matches(expression: str, table: Table) -> int | None:
    """Return how many of a location's rows a filter would leave, `None` if only the store can count them.

    The rows are those that the location has without anything typed. Raises `FilterError`.
    """
    predicate = parse(expression)
    if predicate is None:
        return len(table.rows)
    fields = spec_of(table.view).row_fields
    if not fields or len(table.rows) > MOST or not all_loaded(table.rows):
        return None
    if any(term.field == "judge" for term in terms(predicate)):
        return None
    calls, rows = split(predicate, fields)
    if calls is not None or rows is None:
        return None
    holds = compile_predicate(rows, _names(table))
    return sum(holds(row.record) for row in outlines(table.rows))


def row_test(expression: str, table: Table) -> RowTest | None:
    """Return a test of rows for the part of a filter that speaks of them, `None` if no part of it does."""
    keys = {key for column in table.columns for key in (column.key, *column.path[:1])}
    named = (
        (part, {split_name(term.field)[0] for term in terms(part) if term.field is not None})
        for part in conjuncts(parse(expression))
    )
    predicate = all_of([part for part, fields in named if fields <= keys])
    if predicate is None:
        return None
    holds = compile_predicate(predicate, _names(table))
    return lambda row: holds(row.record)


def moment_test(expression: str, table: Table) -> RowTest:
    """Return a test of the moments of a conversation; a bare word is searched for in all of a moment.

    Raises `FilterError`, also for a field that moments do not have.
    """
    calls, moments = split(parse(expression), {*(column.key for column in table.columns), *SAID_FIELDS})
    for term in terms(calls):
        raise FilterError(f"a conversation has no {term.field}", term.position)
    if moments is None:
        return lambda row: False
    holds = compile_predicate(moments, [column.key for column in table.columns if column.kind in ("name", "text")])
    return lambda row: holds({**row.record, **_said(row.record)})


def _said(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a filter of what was said finds in a moment, nothing if it is not a turn."""
    if record.get("kind") != "turn":
        return {}
    return {name: record.get("text") for name, role in SAID_FIELDS.items() if role in (None, record.get("role"))}


def said_in_filter(predicate: Predicate | None) -> str:
    """Return an expression for the moments by which a filter of what was said finds a call."""
    found = dict.fromkeys(_heard(predicate))
    return render(Or(tuple(found)) if len(found) > 1 else next(iter(found), None))


def _heard(predicate: Predicate | None) -> Iterator[Predicate]:
    match predicate:
        case Term(field, "contains" | "matches" | "=") if field in SAID_FIELDS:
            yield predicate
        case And(parts) | Or(parts):
            for part in parts:
                yield from _heard(part)


def _names(table: Table) -> Sequence[str]:
    return [column.key for column in table.columns if column.kind == "name"]
