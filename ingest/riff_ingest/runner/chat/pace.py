"""Hold back requests to a host that says there are too many."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import nullcontext
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from riff_ingest.runner.chat.protocol import Waiting

GOOD_ANSWERS = 20
"""Answers after which one more request may be under way at once."""


class Pace:
    """Limit how many requests to a host are under way, once it has complained.

    The first complaint halves what is under way. Others of requests that were sent before it complain of the same
    crowd, and change nothing.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self.under_way = 0
        self._cuts = 0
        self._good = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self, waiting: Waiting = nullcontext) -> int:
        """Wait until one more request may be sent, and return what `slow_down` wants to know of it."""
        if self._waiting or not self._has_room:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                with waiting():
                    await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # it was let in and goes away at the same moment
                    self.leave()
                raise
        else:
            self.under_way += 1
        return self._cuts

    def leave(self) -> None:
        """Take note that a request is over."""
        self.under_way -= 1
        self._let_in()

    def slow_down(self, entered: int) -> None:
        """Halve what may be under way, for a request that entered so."""
        if entered == self._cuts:
            self.limit = max(1, self.under_way // 2)
            self._cuts += 1
            self._good = 0

    def answered(self) -> None:
        """Take note of a good answer."""
        if self.limit is None:
            return
        self._good += 1
        if self._good >= GOOD_ANSWERS:
            self._good = 0
            self.limit += 1
            self._let_in()

    @property
    def _has_room(self) -> bool:
        return self.limit is None or self.under_way < self.limit

    def _let_in(self) -> None:
        while self._waiting and self._has_room:
            turn = self._waiting.popleft()
            if not turn.done():
                self.under_way += 1
                turn.set_result(None)


_PACES: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Pace]] = WeakKeyDictionary()


def pace_of(address: str) -> Pace:
    """Return the pace of a host, the same for all who call it from the running loop."""
    host = urlsplit(address).netloc.lower()
    return _PACES.setdefault(asyncio.get_running_loop(), {}).setdefault(host, Pace())
