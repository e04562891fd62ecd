"""Answer the keys of the prompt: count what would match, bring back what was entered before, complete terms."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_tui.descent import keep_steps
from riff_tui.errors import FilterError, describe
from riff_tui.filters import Filter
from riff_tui.filters.parser import parse
from riff_tui.table import Table, run_steps
from riff_tui.tui.controllers.search import count_matches, moment_test
from riff_tui.tui.data.lists import PagedRows
from riff_tui.tui.data.loader import load_all_rows
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.render.columns import nouns
from riff_tui.tui.widgets.menu import Menu, MenuItem, MenuRequest
from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from textual.worker import Worker

    from riff_tui.filters.completion import CompletionTarget
    from riff_tui.tui.controllers.loading import Navigator, Opening
    from riff_tui.tui.controllers.search import Search
    from riff_tui.tui.data.backend import NameSource
    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.field import Prompt


FILTER_HINT = "words · flow:dent stall>0.3 !x /re/ a | b · Tab completes · ↑ earlier · Esc"
SEARCH_HINT = "words that were said · !x /re/ a | b · ↑ earlier · Enter finds · Esc"
# What only the store can count is counted once nothing has been typed for so long.
_PAUSE_S = 0.15


@dataclass(slots=True)
class _Cycle:
    """Keep the completions of a term, what is before and behind it, and which of them is there.

    The first letters of each are the same, so they are left out of the `labels`.
    """

    before: str
    after: str
    completions: Sequence[str]
    same: int
    at: int = 0

    @property
    def text(self) -> str:
        return f"{self.before}{self.completions[self.at]}{self.after}"

    @property
    def labels(self) -> list[str]:
        return [each[self.same :] for each in self.completions]


class PromptController:
    """Serve the prompt of a screen: for a filter of its rows, or for what to search for in a conversation."""

    def __init__(
        self,
        host: Host,
        prompt: Prompt,
        *,
        search: Search,
        navigator: Navigator,
        menu: Menu,
        opening: Opening,
        names: NameSource | None,
    ) -> None:
        self._host = host
        self._prompt = prompt
        self._search = search
        self._navigator = navigator
        self._menu = menu
        self._opening = opening
        self._names = names
        self._counting: Worker[Any] | None = None
        self._cycle: _Cycle | None = None
        self._recalled: tuple[str, int] | None = None
        self._whole: Table | None = None
        prompt.handler = self

    @property
    def entered_before(self) -> Sequence[str]:
        """Return what was entered, the latest last: filters of lists, or searches, which are not kept for longer."""
        if self._is_search:
            return self._search.earlier
        session = self._host.session
        return session.state.filters

    def open(self) -> None:
        """Ask for a filter, beginning with the one that has, or for what to search for in a conversation."""
        self._cycle = self._recalled = self._whole = None
        if self._is_search:
            self._prompt.ask("", SEARCH_HINT)
        else:
            location = self._host.location
            self._prompt.ask(location.filter.text, FILTER_HINT)

    def close(self) -> None:
        """Close the prompt, whatever was typed."""
        if self._prompt.is_open:
            self._cancel_count()
            self._prompt.close()
            self._prompt.screen.set_focus(self._host.body)

    def changed(self, expression: str) -> None:
        """Count what another text would find."""
        self._cycle = self._recalled = None
        self._start_count(expression)

    def entered(self, expression: str) -> None:
        """Filter by what was typed, or search for it; without any, go on to the next match."""
        host, expression = self._host, expression.strip()
        if self._is_search:
            self._start_search(expression)
            return
        self._search.remember(expression)
        host.session.add_filter(expression)
        history = host.history
        host.visit(history.instead(replace(history.here, filter=Filter(expression))))

    def _start_search(self, expression: str) -> None:
        if not expression:
            self.close()
            self._search.step_within(1)
            return
        try:
            self._search.start(expression)
        except FilterError as error:
            self._prompt.complain(error)
        else:
            self.close()

    @property
    def _is_search(self) -> bool:
        return self._host.location.kind == "conversation"

    # How many it would be

    def _start_count(self, expression: str) -> None:
        self._counting = self._host.run(partial(self._count, expression), "count", exclusive=True)

    def _cancel_count(self) -> None:
        if self._counting is not None:
            self._counting.cancel()
            self._counting = None

    async def _count(self, expression: str) -> None:
        location = replace(self._host.location, filter=Filter(expression))
        try:
            left, whole, noun = await self._counts(location, expression)
        except FilterError as error:
            if not self._navigator.point_at(error, location):
                self._host.fail(error)
        except Exception as error:  # said under the prompt, where the next key fixes it
            self._prompt.tell(describe(error)[1])
        else:
            self._prompt.tell(f"{left:,} of {whole:,} {noun} {'matches' if left == 1 else 'match'}")

    async def _counts(self, location: Location, expression: str) -> tuple[int, int, str]:
        if location.kind == "conversation":
            table = self._host.body.table
            return sum(map(moment_test(expression, table), table.rows)), len(table.rows), "moments"
        if self._whole is None:
            self._whole = await self._unfiltered(replace(location, filter=Filter()))
        left = count_matches(expression, self._whole)
        if left is None:
            left = await self._count_in_store(location)
        whole = max(left, len(self._whole.rows))
        return left, whole, nouns(location, whole)

    async def _unfiltered(self, location: Location) -> Table:
        cached = self._navigator.cached(location)
        if cached is not None and (cached.deferred is None or isinstance(cached.rows, PagedRows)):
            return cached
        show_view = self._host.show_view
        return await self._host.worker.ask(lambda: load_all_rows(show_view, replace(location, sort=None)))

    async def _count_in_store(self, location: Location) -> int:
        """Return how many rows the store finds, once nothing more is typed."""
        await asyncio.sleep(_PAUSE_S)
        view = spec_of(location.view).screen.rows_of or location.view
        request = location.request._replace(sort=None, defer=spec_of(view).row_kind != "call")
        show_view = self._host.show_view
        slow = self._host.set_timer(_PAUSE_S, lambda: self._prompt.tell("counting …"))

        def count() -> int:
            found = show_view(view, request)
            # Of rows that are in sections only the first ones may be there, and none as long as calls are searched.
            is_part = bool(found.sections) or not len(found.rows)
            whole = run_steps(found.deferred()) if is_part and found.deferred is not None else found
            return len(whole.rows)

        try:
            return await self._host.worker.ask(count)
        finally:
            slow.stop()

    # What was typed before

    def recall(self, steps: int) -> None:
        """Bring back what was entered before and contains what was typed; after the latest, what was typed."""
        typed, at = self._recalled or (self._prompt.field.value, 0)
        fitting = [each for each in reversed(self.entered_before) if typed.lower() in each.lower() and each != typed]
        if not fitting:
            self._prompt.tell(f"nothing {'like it ' if typed else ''}was entered before")
            return
        index = max(0, min(len(fitting), at - steps))
        self._put(fitting[index - 1] if index else typed)
        self._recalled = (typed, index)

    def look_back(self) -> None:
        """Choose from everything that was entered before."""
        earlier = list(reversed(self.entered_before))
        items = [MenuItem(expression) for expression in earlier]
        title = "typed earlier, the latest first"
        self._menu.ask(MenuRequest(title, items, lambda index: self._put(earlier[index]), verb="edit it"))

    def _put(self, expression: str) -> None:
        """Put an expression into the prompt to be edited."""
        self._cycle = self._recalled = None
        self._prompt.field.set(expression)
        self._count_if_whole(expression)

    # How a term goes on

    def complete(self, steps: int) -> None:
        """Complete what is before the cursor; pressed again, with the next possibility."""
        field = self._prompt.field
        if self._cycle is not None and field.value == self._cycle.text:
            self._cycle.at = (self._cycle.at + steps) % len(self._cycle.completions)
            self._offer(self._cycle)
            return
        self._opening.begin(partial(self._begin_cycle, field.value, field.typed.at), "names", self._prompt.tell)

    async def _begin_cycle(self, text: str, at: int) -> None:
        from riff_tui.filters.completion import wanted

        prompt, target = self._prompt, wanted(text, at)
        found = await self._completions(target) if target is not None else []
        if (prompt.field.value, prompt.field.typed.at) != (text, at) or not prompt.is_open:
            return
        if target is None or not found:
            prompt.tell("no known name begins like this")
            return
        same = found[0].index("=") + 1 if target.field else 0
        self._cycle = _Cycle(text[: target.start], text[at:], found, same)
        self._offer(self._cycle)

    async def _completions(self, target: CompletionTarget) -> list[str]:
        from riff_tui.filters import completion

        if target.field:
            return completion.names(target, await self._known(target.field))
        body = self._host.body
        keys = [column.key for column in body.table.columns]
        named = [key for key in keys if key in completion.NAMED]
        return completion.fields(target, keys) or completion.named(
            target, [(field, await self._known(field)) for field in named]
        )

    async def _known(self, field: str) -> Sequence[str]:
        names = self._names
        scope = self._host.location.scope
        where = Filter.of(keep_steps(scope.predicate, ("flow", "agent"))).text
        return [] if names is None else await self._host.worker.ask(lambda: names.known(field, where))

    def _offer(self, cycle: _Cycle) -> None:
        field = self._prompt.field
        field.set(cycle.text)
        field.edit(field.typed.move(-len(cycle.after)))
        if len(cycle.completions) > 1:
            self._cancel_count()
            self._prompt.offer(cycle.labels, cycle.at)
        else:
            self._cycle = None
            self._count_if_whole(cycle.text)

    def _count_if_whole(self, expression: str) -> None:
        """Count what a finished expression finds; a field alone still lacks its value."""
        try:
            parse(expression)
        except FilterError:
            self._prompt.tell("a value is missing; Tab lists the known ones")
        else:
            self._start_count(expression)
