"""Write notes while keys go on working, one after the other, and show at once what was written."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from riff_store.database import BUSY_SECONDS
from riff_store.errors import StoreBusy, StoreError
from riff_store.write.names import CallNames
from riff_tui.errors import RiffError
from riff_tui.notes.marks import Mark, Spot, Writer
from riff_tui.notes.notebook import Notebook, Receipt
from riff_tui.tui.data.loader import load_again

if TYPE_CHECKING:
    from riff_tui.tui.controllers.loading import Navigator
    from riff_tui.tui.data.backend import Backend
    from riff_tui.tui.host import Host


ATTEMPT_S = 0.05
BETWEEN_ATTEMPTS_S = 0.2


class Done(NamedTuple):
    """Report what came of it: what was written, if anything, and what is to be known of that."""

    receipt: Receipt | None
    remark: str = ""


Attempt = Callable[[bool], Done]
"""Write once, on the thread that queries; whether to keep beside the settings what a busy store does not take."""


class _Job:
    """Do something once, however often and on whichever thread it is attempted."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._done: Done | None = None
        self._lock = threading.Lock()

    @property
    def is_done(self) -> bool:
        return self._done is not None

    def run(self, keep: bool) -> Done:
        with self._lock:
            if self._done is None:
                self._done = self._attempt(keep)
            return self._done


class NoteWriter:
    """Serve the keys that write notes.

    Another process that is writing is waited for between attempts, so that what is read meanwhile is not kept waiting.
    """

    def __init__(self, host: Host, navigator: Navigator, backend: Backend, notebook: Notebook) -> None:
        self.wrote = False
        self.drafts: dict[tuple[CallNames, Spot], str] = {}
        self._host = host
        self._navigator = navigator
        self._backend = backend
        self._notebook = notebook
        self._turn = asyncio.Lock()
        self._pending: list[_Job] = []
        self._told_of: Path | None = None

    def mark(self, call: CallNames, rule: Callable[[Writer], Mark], said: Callable[[Done], None]) -> None:
        """Write on a call what a rule makes of what its author said so far, and report when that is done."""
        notebook = self._notebook

        def attempt(keep: bool) -> Done:
            standing = notebook.standing_on(call.conversation)
            mark = rule(Writer.of(notebook.author, call, notebook.now(), standing))
            if not mark.lines:
                return Done(None, mark.remark)
            return Done(notebook.write(mark.lines, wait=ATTEMPT_S, keep=keep), mark.remark)

        self.do(attempt, said)

    def take_back(self, said: Callable[[Done], None]) -> None:
        """Take back what was written last, and report when that is done."""
        before = self._pending[-1] if self._pending else None

        def attempt(keep: bool) -> Done:
            if before is not None and not before.is_done:
                return Done(None, "nothing was taken back: what was noted last was not written")
            return Done(self._notebook.undo(wait=ATTEMPT_S, keep=keep))

        self.do(attempt, said)

    @property
    def is_writing(self) -> bool:
        """Return whether something is still to be written."""
        return bool(self._pending)

    def do(self, attempt: Attempt, said: Callable[[Done], None]) -> None:
        """Attempt it until it is done, and report then."""
        job = _Job(attempt)
        self._pending.append(job)
        self._host.run(partial(self._do, job, said), "notes")

    def finish(self) -> list[str]:
        """Do what is still to be done, without a screen; return what there is to report."""
        said = []
        for job in self._pending:
            try:
                receipt = job.run(True).receipt
            except (RiffError, OSError) as error:
                said.append(f"A note was not written: {error}")
            else:
                if receipt is not None and receipt.kept_in is not None:
                    said.append(f"A note is kept in {receipt.kept_in}: {receipt.why}")
        self._pending.clear()
        return said

    def kept(self, done: Done) -> list[str]:
        """Return what is to be said of notes that are not in the store, at length the first time; else nothing."""
        receipt = done.receipt
        if receipt is None or receipt.kept_in is None:
            return []
        is_known, self._told_of = receipt.kept_in == self._told_of, receipt.kept_in
        if is_known:
            return ["kept beside the settings"]
        return [f"kept in {receipt.kept_in}, for {receipt.why}; riff-tui notes import takes it from there"]

    async def _do(self, job: _Job, said: Callable[[Done], None]) -> None:
        async with self._turn:
            try:
                done = await self._attempts(job)
            except Exception as error:  # said; what was typed can be written again
                self._host.fail(error)
                return
            finally:
                task = asyncio.current_task()
                # If the explorer ends meanwhile, it is still to be done.
                if task is None or not task.cancelling():
                    self._pending.remove(job)
            if done.receipt is not None:
                self.wrote = True
                if done.receipt.kept_in is not None and self._backend.notes is not None:
                    self._backend.notes.keep(done.receipt.notes)
                await self._show()
            self._host.update_lines()
            said(done)

    async def _attempts(self, job: _Job) -> Done:
        began = time.monotonic()
        while time.monotonic() - began < BUSY_SECONDS:
            try:
                return await self._host.worker.do(lambda: job.run(False))
            except StoreBusy:
                self._host.say("another process is writing the store: the note waits for it; keys go on working")
                await asyncio.sleep(BETWEEN_ATTEMPTS_S)
        return await self._host.worker.do(lambda: job.run(True))

    async def _show(self) -> None:
        """Show the screen with the notes, all in its place; the list that a call came from is read again later."""
        host, watcher = self._host, self._backend.watcher
        location, before = host.location, host.loaded
        self._navigator.outdate(host.history)
        if before is None:
            return
        try:
            if watcher is not None:
                await host.worker.do(watcher.renew)
            loaded = await host.worker.ask(lambda: load_again(host.show_view, location, before))
        except StoreError:
            # It is written; what the screen lacks comes when the store can be read again.
            if watcher is not None:
                watcher.mark_stale()
            return
        if host.location.cache_key == location.cache_key:
            host.renew(loaded)
