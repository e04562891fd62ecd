"""Say above the flows where the run stands that is being made, if one is."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riff_store.errors import StoreError
from riff_tui.tui.data.query_worker import QueryWorker

if TYPE_CHECKING:
    from riff_tui.tui.host import Host
    from riff_tui.tui.panes.header import Header
    from riff_tui.watching.growing_run import GrowingRun, HeadLine

SHOWN_ABOVE = "flows"


class RunWatch:
    """Watch the latest run of the store; without a `GrowingRun`, and where none grows, nothing is read.

    Files are read on a thread of their own, which begins with the first run that grows.
    """

    def __init__(self, host: Host, header: Header, growing: GrowingRun | None, *, may_look: Callable[[], bool]) -> None:
        self._host = host
        self._header = header
        self._growing = growing
        self._may_look = may_look
        self._asked_of: object = None
        self._directory: Path | None = None
        self._reader: QueryWorker | None = None
        self._is_looking = False

    def tick(self) -> None:
        """Look at the run where its line can be seen, unless somebody is busy."""
        host, growing = self._host, self._growing
        if growing is None or self._is_looking or host.loaded is None or host.location.view != SHOWN_ABOVE:
            return
        is_known = self._asked_of is host.loaded
        if (is_known and self._directory is None) or not host.worker.idle or not self._may_look():
            return
        host.run(partial(self._look, growing, host.loaded, is_known=is_known), "run watch")

    async def _look(self, growing: GrowingRun, loaded: Any, *, is_known: bool) -> None:
        self._is_looking = True
        try:
            if not is_known:
                self._directory = await self._host.worker.ask(growing.find)
                self._asked_of = loaded
            if self._directory is not None:
                self._reader = self._reader or QueryWorker()
                line = await self._reader.ask(partial(growing.look, self._directory, time.time()))
                self._show(line)
            else:
                self._show(None)
        except StoreError:
            return  # whoever queries the store next says what is wrong with it
        finally:
            self._is_looking = False

    def _show(self, line: HeadLine | None) -> None:
        if line is None:
            # It has ended: only new calls in the store tell of another one.
            self._directory = None
        self._header.show_run(line)
