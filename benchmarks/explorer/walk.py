"""An explorer on a pseudo-terminal, and how long what is pressed keeps one waiting or goes on once one has left."""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.explorer.steps import FIRST, Step, key_of
from tests.support.pty_terminal import COMMAND, Terminal

WIDTH, HEIGHT = 80, 24
ESCAPE, BACK, REFRESH, COPY_DUMP = "\x1b", key_of("back"), key_of("refresh"), f"{key_of('copy')}d"
RESTED_S = 0.3
"""What sends nothing and keeps no processor busy for so long has answered."""
_SETTLED_S = 0.15
_TICKS = os.sysconf("SC_CLK_TCK")
_MOST_BACK = 6
_GIVES_UP = "stopped; "
_COPIED = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)(?:\x07|\x1b\\)")


class Waited(NamedTuple):
    """Keep the seconds from a key until first rows are seen and until nothing more comes; then those of a processor."""

    first: float
    filled: float
    first_cpu: float
    cpu: float


class Left(NamedTuple):
    """Keep the seconds from Esc until one has left, until no processor is busy with it, and what that took of one."""

    said: float
    rests: float
    cpu: float


class NotThere(Exception):
    """A step that leads nowhere from where it begins: the row has nothing below it."""


class Walk:
    """Press keys and look at the screen."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def press(self, step: Step) -> Waited:
        """Go to where a step begins, take it and see how long that takes; raise `NotThere` if it leads nowhere."""
        self._go(step)
        return self._seen(step)

    def leave(self, step: Step, after: float) -> Left | None:
        """Take a step again and press Esc so many seconds later; nothing if it had answered by then."""
        self._go(step)
        terminal = self._terminal
        terminal.send(step.keys)
        ends = time.perf_counter() + after
        terminal.wait(lambda: time.perf_counter() >= ends)
        begin = time.perf_counter()
        terminal.send(ESCAPE)
        return self._rests(begin)

    def return_to_first(self) -> None:
        """Go back to the first screen, whatever is open."""
        for _ in range(_MOST_BACK):
            if self.place == FIRST:
                return
            self._settle(BACK)
        raise RuntimeError(f"no way back to the first screen; this one is\n{self._terminal.text}")

    def read_anew(self) -> None:
        """Have the explorer keep nothing of what it has read."""
        self._settle(REFRESH)

    def dump_commands(self) -> list[str]:
        """Return the commands that print what is on the screen, as it copies them."""
        copied = _COPIED.findall(self._terminal.press(COPY_DUMP, quiet=_SETTLED_S))
        return base64.b64decode(copied[-1]).decode().splitlines() if copied else []

    @property
    def place(self) -> str:
        """Return the breadcrumb."""
        return re.split(r"\s{2,}", self._terminal.lines[0].strip())[0]

    def _go(self, step: Step) -> None:
        self.return_to_first()
        for keys in step.way:
            self._settle(keys)

    def _settle(self, keys: str) -> None:
        self._terminal.press(keys, quiet=_SETTLED_S)

    def _seen(self, step: Step) -> Waited:
        terminal, before, rows = self._terminal, self.place, self._rows
        first, first_cpu, sent, used = 0.0, 0.0, len(terminal.sent), _processor_time(terminal.pid)
        begin = last = worked = time.perf_counter()
        terminal.send(step.keys)

        def answered() -> bool:
            nonlocal first, first_cpu, last, worked, sent
            now = time.perf_counter()
            if len(terminal.sent) != sent:
                sent, last = len(terminal.sent), now
                is_there = self._rows not in (rows, "") if step.stays else self.place != before
                if is_there and not first:
                    first, first_cpu = now, _processor_time(terminal.pid) - used
            worked = now if terminal.works else worked
            return now - max(last, worked) > RESTED_S

        terminal.wait(answered, step.name)
        if not first:
            raise NotThere(step.name)
        return Waited(first - begin, last - begin, first_cpu, _processor_time(terminal.pid) - used)

    def _rests(self, begin: float) -> Left | None:
        terminal = self._terminal
        said, last, used = 0.0, begin, _processor_time(terminal.pid)
        used_before = used

        def rests() -> bool:
            nonlocal said, last, used
            now, before, used = time.perf_counter(), used, _processor_time(terminal.pid)
            if not said and _GIVES_UP in terminal.lines[-1]:
                said = now
            if terminal.works or used > before:
                last = now
            return now - last > RESTED_S

        terminal.wait(rests, "rest")
        return Left(said - begin, last - begin, used - used_before) if said else None

    @property
    def _rows(self) -> str:
        return "\n".join(self._terminal.lines[1:-1]).strip()


@contextmanager
def explorer(store: Path, folder: Path) -> Iterator[tuple[Walk, Waited]]:
    """Start an explorer of a store, which leaves what it keeps in a folder; with it comes how long that took."""
    keeps = {name: str(folder) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    environ = {**keeps, "RIFF_TUI_STORE": str(store), "TMUX": ""}
    with Terminal([*COMMAND, "--fresh"], width=WIDTH, height=HEIGHT, environ=environ, cold=True) as terminal:
        walk = Walk(terminal)
        yield walk, walk._seen(Step(FIRST, ""))


def _processor_time(pid: int) -> float:
    """Return the seconds in which the threads of a process had a processor, in whole ticks of the clock."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
