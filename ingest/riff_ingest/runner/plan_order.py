"""Hand calls on as they end, or in the order in which they were planned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from riff_ingest.runner.call import MadeCall


class PlanOrder:
    """Hold back what ended before an earlier call did, at most `bound` calls; with `None` nothing is held back."""

    def __init__(self, keep: Callable[[MadeCall], None], bound: int | None) -> None:
        self._keep = keep
        self._bound = bound
        self._held: dict[int, MadeCall | None] = {}
        self._next = 0
        self._room = asyncio.Event()
        self._room.set()

    async def room(self) -> None:
        """Wait until another call may begin."""
        await self._room.wait()

    def take(self, place: int, made: MadeCall | None) -> None:
        """Take the call of a place in the plan, `None` where nothing came of it, and hand on what is due."""
        if self._bound is None:
            self._hand_on(made)
            return
        self._held[place] = made
        while self._next in self._held:
            self._next += 1
            self._hand_on(self._held.pop(self._next - 1))
        if len(self._held) < self._bound:
            self._room.set()
        else:
            self._room.clear()

    def release(self) -> None:
        """Hand on all that is left, in the order of the plan."""
        for place in sorted(self._held):
            self._hand_on(self._held.pop(place))

    def _hand_on(self, made: MadeCall | None) -> None:
        if made is not None:
            self._keep(made)
