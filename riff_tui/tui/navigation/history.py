"""Remember the ways through the store: the locations one came through, the steps back and forward, folded rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from riff_tui.descent import fixed_fields, narrow
from riff_tui.filters import Filter
from riff_tui.table import Row, Table
from riff_tui.tui.navigation.location import START, Location, Stack, name_term
from riff_tui.view_query import MOST_UNFOLDED, MadeRows, outlines
from riff_tui.view_registry import spec_of

MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class History:
    """Keep the stack of locations that is shown, those before and after it, and the last one of another view."""

    stacks: tuple[Stack, ...] = (START,)
    at: int = 0
    last: Stack | None = None

    @property
    def stack(self) -> Stack:
        """Return the locations from the first screen down to the one that is shown."""
        return self.stacks[self.at]

    @property
    def here(self) -> Location:
        """Return the location that is shown."""
        return self.stack[-1]

    def go(self, stack: Stack) -> History:
        """Step to another stack; the steps ahead are forgotten."""
        if is_same(stack, self.stack):
            return self
        steps = (*self.stacks[: self.at + 1], stack)[-MOST_STEPS:]
        return History(steps, len(steps) - 1, self._last_for(stack))

    def down(self, location: Location) -> History:
        """Step to a location below this one."""
        return self.go((*self.stack, location))

    def up(self) -> History:
        """Step to the location above, if there is one."""
        return self.go(self.stack[:-1]) if len(self.stack) > 1 else self

    def instead(self, location: Location) -> History:
        """Step to a location that takes the place of this one."""
        return self.go((*self.stack[:-1], location))

    def back(self) -> History:
        """Go one step back in time, if there is one."""
        return self._to(max(0, self.at - 1))

    def forward(self) -> History:
        """Go one step forward in time, if there is one."""
        return self._to(min(len(self.stacks) - 1, self.at + 1))

    def sort(self, order: str) -> History:
        """Sort this location, and put the cursor on the first row; `last` has the order and the row before."""
        return replace(self.alter(replace(self.here, sort=order, row="", index=0)), last=self.stack)

    def regroup(self, by: tuple[str, ...]) -> History:
        """Split the rows of this location by other names; `last` keeps how they were split before."""
        here = replace(self.here, by=by, sort=None, row="", index=0)
        return replace(self.alter(here), last=self.stack)

    def unfold(self) -> History:
        """Show the rows of this location that one row represents, or that row again; it is not a step."""
        return self.alter(replace(self.here, unfolded=not self.here.unfolded))

    def to_last(self) -> History:
        """Step to the last location in another view, scope or order, and from there back again."""
        if self.last is None:
            return self
        return replace(self.amend(self.last), last=self.stack) if is_same(self.last, self.stack) else self.go(self.last)

    def alter(self, location: Location) -> History:
        """Put another cursor or order into this location, which is not a step."""
        return self.amend((*self.stack[:-1], location))

    def amend(self, stack: Stack) -> History:
        """Put other cursors or orders into these locations, which is not a step."""
        return replace(self, stacks=(*self.stacks[: self.at], stack, *self.stacks[self.at + 1 :]))

    def ordered(self, kept: Mapping[str, str]) -> History:
        """Sort this location by the order that is kept for its view, unless one was chosen here."""
        here = self.here
        if here.kind == "conversation" or here.sort is not None or here.chosen_order or here.view not in kept:
            return self
        return self.alter(replace(here, sort=kept[here.view]))

    def _to(self, at: int) -> History:
        return replace(self, at=at, last=self._last_for(self.stacks[at]))

    def _last_for(self, stack: Stack) -> Stack | None:
        """Return the last other view once that stack is shown: this one, unless both show the same."""
        here, there = self.here, stack[-1]
        stays = (here.view, here.scope, here.pair, here.sides) == (there.view, there.scope, there.pair, there.sides)
        return self.last if stays else self.stack


def is_same(first: Stack, second: Stack) -> bool:
    """Return whether two stacks have the same locations, whatever their rows and their cursor."""

    def plain(stack: Stack) -> list[Location]:
        return [replace(location, row="", column="", index=0, sort=None, by=(), unfolded=False) for location in stack]

    return plain(first) == plain(second)


def folded_by(location: Location) -> tuple[str, ...]:
    """Return the names by which the rows of a location fold, none if they do not."""
    spec = spec_of(location.view)
    return spec.keys[:1] if spec.regroups and len(spec.keys) > 1 and not location.pair else ()


def is_folded(location: Location) -> bool:
    """Return whether a location shows its rows folded."""
    return bool(location.by) and location.by == folded_by(location)


def may_fold(location: Location) -> tuple[str, ...]:
    """Return the names by which the rows of a location fold, none if somebody said how to distinguish them."""
    by = folded_by(location)
    return () if location.by or set(by) & fixed_fields(location.where.predicate) else by


def wants_folding(location: Location, table: Table) -> bool:
    """Return whether the rows of a location are too many, and nobody said how to distinguish them."""
    by = may_fold(location)
    if not by:
        return False
    # Rows that are read as they come into view are not all read for this.
    is_long = isinstance(table.rows, list | tuple | MadeRows) and len(table.rows) > MOST_UNFOLDED
    return is_long and len({row.record.get(by[0]) for row in outlines(table.rows)}) < len(table.rows)


def with_folding(history: History, table: Table) -> History:
    """Return the history with how the rows that were loaded are distinguished, if that is not the view's own way."""
    here, by = history.here, folded_by(history.here)
    columns = {column.key for column in table.columns}
    folded = bool(by) and not here.by and not columns & set(spec_of(here.view).keys[1:])
    return history.alter(replace(here, by=by)) if folded else history


def fold(history: History, row: Row | None) -> History:
    """Return where the key that folds leads: from a folded row into it, from there back, else to the folded rows."""
    here = history.here
    by = folded_by(here)
    if is_folded(here):
        name = str((row.record.get(by[0]) if row else None) or "")
        scope = narrow(here.scope.predicate, name_term(by[0], name))
        return history.down(Location(here.view, name, Filter.of(scope), here.filter, by=spec_of(here.view).keys))
    above = history.stack[-2:-1]
    return history.up() if above and is_folded(above[0]) else history.regroup(by)


def unfold_all(history: History) -> History:
    """Return every row of this location, or from there the folded ones."""
    here = history.here
    return history.regroup(spec_of(here.view).keys if is_folded(here) else folded_by(here))
