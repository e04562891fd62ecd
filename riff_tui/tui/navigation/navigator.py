"""The way to another place: asked for on another thread, while the keys of this one go on working."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riff_tui.tui.data.loader import read
from riff_tui.tui.data.reload import read_list
from riff_tui.tui.navigation.load_errors import LoadErrors
from riff_tui.tui.navigation.location import History, noun

if TYPE_CHECKING:
    from riff_tui.tui.data.query_worker import QueryWorker
    from riff_tui.tui.data.result_cache import ResultCache
    from riff_tui.tui.screens.explorer import ExplorerScreen

_GROUP = "visit"
_PATIENCE_S = 0.25


class Navigator:
    """Brings a screen from place to place; a place that is known is arrived at without asking."""

    def __init__(self, screen: ExplorerScreen, asker: QueryWorker, memory: ResultCache) -> None:
        self._screen = screen
        self._asker = asker
        self._memory = memory
        self.setbacks = LoadErrors(screen)

    def set_out(self, trail: History, *, again: bool, other: bool) -> None:
        """Go to another place; what is known holds unless it is to be asked `again`, in `other` data nothing holds."""
        screen = self._screen
        self.setbacks.give_up()
        trail = trail.ordered(screen.explorer.keeper.now.sorts)
        if again:
            self.forget(None if other else trail)
        remembered = self._memory.recall(trail.here)
        if remembered is not None:
            screen.workers.cancel_group(screen, _GROUP)
            if self._memory.is_stale(trail.here):
                screen.follower.doubt()
            screen.arrive(trail, remembered)
        else:
            screen.run_worker(self._travel(trail), group=_GROUP, exclusive=True, exit_on_error=False)

    def forget(self, trail: History | None) -> None:
        """Take what is known for old, but for the list that a conversation came from: n and p go through it."""
        self._memory.forget(trail.stack[-2] if trail and trail.here.kind == "conversation" else None)

    @property
    def is_under_way(self) -> bool:
        """Whether another place is being read."""
        on_its_way = any(worker.group == _GROUP and not worker.is_finished for worker in self._screen.workers)
        return on_its_way or self.setbacks.waits

    def stay(self) -> None:
        """Give up reading another place."""
        self.setbacks.give_up()
        self._screen.workers.cancel_group(self._screen, _GROUP)
        self._screen.say("left it; this is where you were")

    async def _travel(self, trail: History) -> None:
        screen = self._screen
        patience = screen.set_timer(_PATIENCE_S, lambda: screen.say(f"reading {noun(trail.here.view)} …"))
        try:
            reading = await self._asker.ask(lambda: read(screen.show_view, trail.here))
            trail = await self._with_list(trail)
        except Exception as error:  # whatever stops a question is said and stops nothing else
            self.setbacks.meet(error, trail)
        else:
            screen.arrive(trail, reading)
        finally:
            patience.stop()

    async def _with_list(self, trail: History) -> History:
        """Know the list that a conversation lies in, for one can begin at a conversation."""
        stack = trail.stack
        if trail.here.kind != "conversation" or self._memory.recall(stack[-2]) is not None:
            return trail
        found = await self._asker.ask(lambda: read_list(self._screen.show_view, stack))
        if found is None:
            return trail
        self._memory.keep((*stack[:-2], found[0]), found[1])
        return trail.amend((*stack[:-2], found[0], stack[-1]))
