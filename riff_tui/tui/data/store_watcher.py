"""A store that others fill, replace or take away while it is looked at."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Literal, TypeAlias

from riff_store.database import Store
from riff_store.errors import StoreBusy, StoreError, StoreReadOnly
from riff_tui import catalog
from riff_tui.request import Request
from riff_tui.table import Table, with_deferred
from riff_tui.tui.render.counts import ago
from riff_tui.views.parts.cells import shell_quoted

StoreChange: TypeAlias = Literal["same", "changed", "busy", "replaced", "gone"]


class StoreWatcher:
    """Asks a store for views and sees whether it still holds what it held when it was last taken in.

    `named` is what a command has to name to find the store, where that is not the default one.
    `show`, `look` and `renew` belong on the one thread that asks the store.
    """

    def __init__(self, store: Store, named: str = "") -> None:
        self._named = named
        self.location = store.location
        self._store = store
        self._written_at: float | None = None
        self._file: tuple[int, int] | None = None
        self._seen: tuple[int, int, int] | None = None
        self._take_in()

    def show(self, view: str, request: Request, /) -> Table:
        """The table of a view, all of it from one state of the store."""
        try:
            return self._show(view, request)
        except StoreReadOnly:
            # A writer was killed: only opening takes back what it left half done.
            self._store.reopen()
            self.distrust()
            return self._show(view, request)

    def look(self) -> StoreChange:
        """What became of the store since it was last taken in; a writer is not waited for."""
        try:
            file = os.stat(self.location)
            if (file.st_dev, file.st_ino) != self._file:
                return "replaced"
            seen = (file.st_mtime_ns, file.st_size, self._store.change_counter(wait=False))
        except OSError:
            return "gone"
        except StoreBusy:
            return "busy"
        except StoreError:
            # What is wrong with it is found when it is taken in.
            return "changed"
        return "same" if seen == self._seen else "changed"

    def renew(self) -> None:
        """Take in what is at the store's place now; raises the store's errors, and then nothing changes."""
        self._store.reopen()
        self._take_in()

    def distrust(self) -> None:
        """Find the store changed when it is looked at next."""
        self._seen = None

    def age(self) -> str:
        """When the store was written before it was last taken in, in words that are true now."""
        return "" if self._written_at is None else f"written {ago(time.time() - self._written_at)}"

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _show(self, view: str, request: Request) -> Table:
        with self._store.snapshot():
            table = catalog.show(self._store, view, request)
        named = f" --store {shell_quoted(self._named)}" if self._named else ""
        return with_deferred(table, lambda found: replace(found, dump=f"{found.dump}{named}"))

    def _take_in(self) -> None:
        # What is written between the two is found changed at the next look, which does no harm.
        file = os.stat(self.location)
        self._file = (file.st_dev, file.st_ino)
        self._written_at = file.st_mtime
        self._seen = (file.st_mtime_ns, file.st_size, self._store.change_counter())
