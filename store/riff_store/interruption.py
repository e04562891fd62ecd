"""End from another thread what is read for somebody who does not wait for it any more.

The one who starts a question keeps its `Interruption` and puts it in force on the thread that asks. A store that is
open for reading reports to it which statement runs, so that interrupting ends that statement and none after it; a store
that is open for writing does not, so that nothing is left half written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from riff_store.errors import Interrupted

_in_force: ContextVar[Interruption | None] = ContextVar("interruption", default=None)


class Interruption:
    """End one question, at its next statement or step at the latest."""

    def __init__(self) -> None:
        self.is_asked = False
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None

    def interrupt(self) -> None:
        """End the question from any thread; one that has ended already, and any other, goes on untouched.

        A statement that begins this very moment may not notice: call it again until the question has ended.
        """
        with self._lock:
            self.is_asked = True
            if self._end is not None:
                self._end()

    def check(self) -> None:
        """Raise `Interrupted` if the question is to end."""
        if self.is_asked:
            raise Interrupted("nobody waits for this any more")

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Have what this thread reads inside end with it."""
        before = _in_force.set(self)
        try:
            yield
        finally:
            _in_force.reset(before)

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Call `end` if it is interrupted inside; raise `Interrupted` instead of beginning, or of any error, then."""
        with self._lock:
            self.check()
            self._end = end
        try:
            yield
        except Exception:
            self.check()
            raise
        finally:
            with self._lock:
                self._end = None


def interruption_in_force() -> Interruption | None:
    """Return what may end the question that this thread is answering."""
    return _in_force.get()


def check_interrupted() -> None:
    """Raise `Interrupted` if nobody waits any more for what this thread does; for loops that seldom ask the store."""
    found = _in_force.get()
    if found is not None:
        found.check()
