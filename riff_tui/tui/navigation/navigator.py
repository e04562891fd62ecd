"""The way to another place: asked for on another thread, while the keys of this one go on working."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riff_tui.tui.data.loader import read
from riff_tui.tui.data.reload import read_list
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.load_errors import LoadErrors
from riff_tui.tui.navigation.location import noun

if TYPE_CHECKING:
    from riff_tui.tui.data.query_worker import QueryWorker
    from riff_tui.tui.data.result_cache import ResultCache
    from riff_tui.tui.screens.explorer import ExplorerScreen

_GROUP = "visit"
_PATIENCE_S = 0.25


class Navigator:
    """Brings a screen from place to place; a place that is known is arrived at without asking."""

    def __init__(self, screen: ExplorerScreen, worker: QueryWorker, memory: ResultCache) -> None:
        self._screen = screen
        self._worker = worker
        self._memory = memory
        self.load_errors = LoadErrors(screen)

    def set_out(self, history: History, *, again: bool, other: bool) -> None:
        """Go to another place; what is known holds unless it is to be asked `again`, in `other` data nothing holds."""
        screen = self._screen
        self.load_errors.give_up()
        history = history.ordered(screen.explorer.session.state.sorts)
        if again:
            self.forget(None if other else history)
        remembered = self._memory.recall(history.here)
        if remembered is not None:
            screen.workers.cancel_group(screen, _GROUP)
            if self._memory.is_stale(history.here):
                screen.refresher.doubt()
            screen.arrive(history, remembered)
        else:
            screen.run_worker(self._travel(history), group=_GROUP, exclusive=True, exit_on_error=False)

    def forget(self, history: History | None) -> None:
        """Take what is known for old, but for the list that a conversation came from: n and p go through it."""
        self._memory.forget(history.stack[-2] if history and history.here.kind == "conversation" else None)

    @property
    def is_under_way(self) -> bool:
        """Whether another place is being read."""
        on_its_way = any(worker.group == _GROUP and not worker.is_finished for worker in self._screen.workers)
        return on_its_way or self.load_errors.waits

    def stay(self) -> None:
        """Give up reading another place."""
        self.load_errors.give_up()
        self._screen.workers.cancel_group(self._screen, _GROUP)
        self._screen.say("left it; this is where you were")

    async def _travel(self, history: History) -> None:
        screen = self._screen
        patience = screen.set_timer(_PATIENCE_S, lambda: screen.say(f"reading {noun(history.here.view)} …"))
        try:
            reading = await self._worker.ask(lambda: read(screen.show_view, history.here))
            history = await self._with_list(history)
        except Exception as error:  # whatever stops a question is said and stops nothing else
            self.load_errors.meet(error, history)
        else:
            screen.arrive(history, reading)
        finally:
            patience.stop()

    async def _with_list(self, history: History) -> History:
        """Know the list that a conversation lies in, for one can begin at a conversation."""
        stack = history.stack
        if history.here.kind != "conversation" or self._memory.recall(stack[-2]) is not None:
            return history
        found = await self._worker.ask(lambda: read_list(self._screen.show_view, stack))
        if found is None:
            return history
        self._memory.keep((*stack[:-2], found[0]), found[1])
        return history.amend((*stack[:-2], found[0], stack[-1]))
