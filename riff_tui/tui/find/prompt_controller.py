"""What the prompt makes of keys: how many rows would match, what was typed before, how a term goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from riff_tui.errors import describe
from riff_tui.filters import Filter, FilterError, parse
from riff_tui.request import Request
from riff_tui.table import Table
from riff_tui.tui.data.loader import read_rows
from riff_tui.tui.find import completion
from riff_tui.tui.find.local_filter import left_by, said
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.navigation.scope_filters import keep_steps
from riff_tui.tui.render.counts import nouns
from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

FILTER_HINT = "words · flow:dent stall>0.3 !x /re/ a | b · Tab completes · ↑ earlier · Esc"
SEARCH_HINT = "words that were said · !x /re/ a | b · ↑ earlier · Enter finds · Esc"
# What only the store can count is asked for once nothing has been typed for so long.
_PAUSE_S = 0.15


@dataclass(slots=True)
class _Cycle:
    """The possibilities to finish a term with, what stands before and behind it, and which of them stands there.

    The first letters of each are the same, so they are not `told`.
    """

    before: str
    after: str
    offers: Sequence[str]
    same: int
    at: int = 0

    @property
    def text(self) -> str:
        return f"{self.before}{self.offers[self.at]}{self.after}"

    @property
    def told(self) -> list[str]:
        return [offer[self.same :] for offer in self.offers]


class PromptController:
    """Listens to the prompt of a screen: for a filter of its rows, or for what to find in a conversation."""

    def __init__(self, screen: ExplorerScreen) -> None:
        self._screen = screen
        self._cycle: _Cycle | None = None
        self._recalled: tuple[str, int] | None = None
        self._whole: Table | None = None

    @property
    def history(self) -> Sequence[str]:
        """What was entered, the latest last: filters of lists, or searches, of which nothing is kept for longer."""
        if self._screen.history.here.kind == "conversation":
            return self._screen.search.earlier
        return self._screen.explorer.session.state.filters

    def open(self) -> None:
        """Ask for a filter, beginning with the one that holds, or for what to find in a conversation."""
        screen, place = self._screen, self._screen.history.here
        self._cycle = self._recalled = self._whole = None
        if place.kind == "conversation":
            screen.prompt.ask("", SEARCH_HINT)
        else:
            screen.prompt.ask(place.filter.text, FILTER_HINT)

    def close(self) -> None:
        """Close the prompt, whatever was typed."""
        screen = self._screen
        if screen.prompt.is_open:
            screen.workers.cancel_group(screen, "count")
            screen.prompt.close()
            screen.set_focus(screen.body)

    def changed(self, expression: str) -> None:
        """Another text was typed: what it would find is counted."""
        self._cycle = self._recalled = None
        self._try(expression)

    def entered(self, expression: str) -> None:
        """Filter by it, or search for it."""
        screen, expression = self._screen, expression.strip()
        if screen.history.here.kind == "conversation":
            screen.search.search(expression)
            return
        screen.search.remember(expression)
        screen.explorer.session.applied(expression)
        screen.settle()
        screen.visit(screen.history.instead(replace(screen.history.here, filter=Filter(expression))))

    # How many it would be

    def _try(self, expression: str) -> None:
        screen = self._screen
        screen.run_worker(self._count(expression), group="count", exclusive=True, exit_on_error=False)

    async def _count(self, expression: str) -> None:
        screen, place = self._screen, replace(self._screen.history.here, filter=Filter(expression))
        try:
            left, whole, noun = await self._counts(place, expression)
        except FilterError as error:
            screen.navigator.load_errors.meet(error, screen.history.instead(place))
        except Exception as error:  # said under the prompt, where the next key mends it
            screen.prompt.tell(describe(error)[1])
        else:
            screen.prompt.tell(f"{left:,} of {whole:,} {noun} {'matches' if left == 1 else 'match'}")

    async def _counts(self, place: Location, expression: str) -> tuple[int, int, str]:
        screen = self._screen
        if place.kind == "conversation":
            rows = screen.transcript.table.rows
            return sum(map(said(expression, screen.transcript.table), rows)), len(rows), "moments"
        if self._whole is None:
            self._whole = await self._unfiltered(replace(place, filter=Filter(), sort=None))
        left = left_by(expression, self._whole)
        if left is None:
            left = await self._asked(place)
        whole = max(left, len(self._whole.rows))
        return left, whole, nouns(place, whole)

    async def _unfiltered(self, place: Location) -> Table:
        screen = self._screen
        known = screen.known(replace(place, sort=screen.history.here.sort))
        if known is not None:
            return known
        return await screen.explorer.worker.ask(lambda: read_rows(screen.show_view, place))

    async def _asked(self, place: Location) -> int:
        """How many rows the store finds, once nothing more is typed."""
        await asyncio.sleep(_PAUSE_S)
        screen = self._screen
        view, where = spec_of(place.view).rows_of or place.view, place.where
        request = Request(
            where=where.text,
            predicate=where.predicate,
            defer=True,
            sides=place.between,
            aspect=place.aspect or None,
        )
        slow = screen.set_timer(_PAUSE_S, lambda: screen.prompt.tell("counting …"))
        try:
            return len((await screen.explorer.worker.ask(lambda: screen.show_view(view, request))).rows)
        finally:
            slow.stop()

    # What was typed before

    def recall(self, steps: int) -> None:
        """Bring back what was entered before and holds what was typed; after the latest, what was typed."""
        typed, at = self._recalled or (self._screen.prompt.field.value, 0)
        fitting = [each for each in reversed(self.history) if typed.lower() in each.lower() and each != typed]
        if not fitting:
            self._screen.prompt.tell(f"nothing {'like it ' if typed else ''}was entered before")
            return
        place = max(0, min(len(fitting), at - steps))
        self.put(fitting[place - 1] if place else typed)
        self._recalled = (typed, place)

    def look_back(self) -> None:
        """Choose from everything that was entered before."""
        from riff_tui.tui.actions.dialogs import pick_earlier

        pick_earlier(self._screen, list(reversed(self.history)), self.put)

    def put(self, expression: str) -> None:
        """Have an expression in the prompt to be edited."""
        self._cycle = self._recalled = None
        self._screen.prompt.field.set(expression)
        self._try_if_whole(expression)

    # How a term goes on

    def complete(self, steps: int) -> None:
        """Finish what stands before the cursor; again, with the next possibility."""
        field = self._screen.prompt.field
        if self._cycle is not None and field.value == self._cycle.text:
            self._cycle.at = (self._cycle.at + steps) % len(self._cycle.offers)
            self._offer(self._cycle)
            return
        begun = self._begin(field.value, field.typed.at)
        self._screen.run_worker(begun, group="complete", exclusive=True, exit_on_error=False)

    async def _begin(self, text: str, at: int) -> None:
        prompt, want = self._screen.prompt, completion.wanted(text, at)
        offers = await self._offers(want) if want is not None else []
        if (prompt.field.value, prompt.field.typed.at) != (text, at) or not prompt.is_open:
            return
        if want is None or not offers:
            prompt.tell("nothing that is known goes on like this")
            return
        self._cycle = _Cycle(text[: want.start], text[at:], offers, offers[0].index("=") + 1 if want.field else 0)
        self._offer(self._cycle)

    async def _offers(self, want: completion.CompletionTarget) -> list[str]:
        if want.field:
            return completion.names(want, await self._names(want.field))
        keys = [column.key for column in self._screen.body.table.columns]
        named = [key for key in keys if key in completion.NAMED]
        return completion.fields(want, keys) or completion.named(
            want, [(field, await self._names(field)) for field in named]
        )

    async def _names(self, field: str) -> Sequence[str]:
        screen, names = self._screen, self._screen.explorer.names
        where = Filter.of(keep_steps(screen.history.here.scope.predicate, ("flow", "agent"))).text
        return [] if names is None else await screen.explorer.worker.ask(lambda: names.known(field, where))

    def _offer(self, cycle: _Cycle) -> None:
        prompt = self._screen.prompt
        prompt.field.set(cycle.text)
        prompt.field.edit(prompt.field.typed.move(-len(cycle.after)))
        if len(cycle.offers) > 1:
            self._screen.workers.cancel_group(self._screen, "count")
            prompt.offer(cycle.told, cycle.at)
        else:
            self._cycle = None
            self._try_if_whole(cycle.text)

    def _try_if_whole(self, expression: str) -> None:
        """Count what a finished expression finds; a field alone still lacks its value."""
        try:
            parse(expression)
        except FilterError:
            self._screen.prompt.tell("a value is to follow; Tab tells which ones are known")
        else:
            self._try(expression)
