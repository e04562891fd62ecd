"""End the process as a signal asks: at once while nothing was begun, else in order, and at once when told again."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from riff_store.signals import ENDED_BY, ending_signals, exit_code_of

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_SAME_S = 0.25
"""What comes so soon after the first is the same one: `timeout` tells the process, and then its group."""
_AGAIN_S = 0.01


def end_at_once() -> None:
    """Let a signal end the process without a word, from here on, until that ends by itself."""
    # What is registered first is called last: then the interpreter takes its handlers back, and raw ones would count.
    atexit.register(signal.pthread_sigmask, signal.SIG_BLOCK, ENDED_BY)
    for number in ending_signals():
        signal.signal(number, lambda number, frame: os._exit(exit_code_of(number)))


def end_by(number: int) -> NoReturn:
    """End the command by a signal that an event loop took."""
    if _now is not None:
        _now.number = number
    raise ENDED_BY[number]


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Raise what a first signal ends the block with, whatever is made of that on its way; a second one ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    global _now
    _now = ending = _Ending()
    before = {number: signal.signal(number, ending.raise_first) for number in ending_signals()}
    hook, sys.unraisablehook = sys.unraisablehook, ending.raise_again(sys.unraisablehook)
    try:
        yield
    except BaseException as error:
        ending.end(error)
        raise
    else:
        ending.end(None)
    finally:
        _now = None
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


class _Ending:
    """Know which signal came first, and when."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._came = 0.0

    def raise_first(self, number: int, frame: FrameType | None) -> None:
        if self.number is None:
            self.number, self._came = number, time.monotonic()
            raise ENDED_BY[number]
        if time.monotonic() - self._came > _SAME_S:
            os._exit(exit_code_of(self.number))

    def raise_again(self, hook: Callable[[UnraisableHookArgs], object]) -> Callable[[UnraisableHookArgs], object]:
        """Return a hook that tries again where the signal came during what lets no error through."""

        def lost(told: UnraisableHookArgs) -> None:
            if self.number is None or not isinstance(told.exc_value, KeyboardInterrupt):
                hook(told)
                return
            number, self.number = self.number, None
            again = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()

        return lost

    def end(self, error: BaseException | None) -> None:
        """Raise what the signal ends with where something else came of it, such as an error of an engine."""
        if self.number is not None and not isinstance(error, ENDED_BY[self.number]):
            raise ENDED_BY[self.number] from error


_now: _Ending | None = None
"""What the command that runs is ended by, for those who cannot raise it themselves."""
