"""A real pseudo-terminal: what an explorer sends there, byte for byte, and what one would see."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

from tests.support import warm_python
from tests.support.screen import Screen

ROOT = Path(__file__).resolve().parents[2]
MOST_PER_MOVE = 700
MOST_PER_PAGE = 9_000
COMMAND = ("-c", "from riff_tui.cli import main; main()", "ui")
_QUIET_S = 0.2
_LONGEST_S = 300.0
_LOOK_S = 0.02
_OUR_SEQUENCES = re.compile(
    rb"\x1b\[r|\x1b\[[0-9;]+[mHr]|\x1b\[K"  # styles, moves, scrolling regions, ends of lines
    rb"|\x1b[DM]"  # line feeds up and down in a region
    rb"|\x1b\[\?[0-9]+(?:;[0-9]+)*[hl]|\x1b\[\?[0-9]+\$p"  # modes
    rb"|\x1b\[[<>][0-9]*u"  # keyboard protocol
    rb"|\x1b\]22;default\x07"  # shape of the pointer
)


class Terminal:
    """Runs a Python program on a pty of a given size, where `cold` with an interpreter that starts again.

    A terminal that is not `sized` does not know how large it is. What it sent is kept, all of it and what came since
    the last `take`.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        width: int = 80,
        height: int = 24,
        environ: Mapping[str, str] | None = None,
        cold: bool = False,
        sized: bool = True,
    ) -> None:
        self.screen = Screen(width, height)
        self._stream = pyte.ByteStream(self.screen)
        self._taken = bytearray()
        self.sent = bytearray()
        self.code: int | None = None
        self._hung_up = False
        surroundings = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": _paths(), **(environ or {})}
        surroundings.pop("COLUMNS", None)
        surroundings.pop("LINES", None)
        self._fd, terminal = pty.openpty()
        if sized:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self._modes = termios.tcgetattr(terminal)
        self.pid = (None if cold else warm_python.start(arguments, surroundings, terminal)) or os.fork()
        if self.pid == 0:
            os.login_tty(terminal)
            os.execve(sys.executable, [sys.executable, *arguments], surroundings)
        os.close(terminal)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if not self._hung_up:
            os.close(self._fd)

    def take(self, *, quiet: float = _QUIET_S) -> bytes:
        """Return what was sent since the last time, once nothing came while the program rested for `quiet` seconds."""
        ends = time.monotonic() + _LONGEST_S
        looks = 0
        while looks * _LOOK_S < quiet:
            looks = 0 if self._read(_LOOK_S) or self.works else looks + 1
            assert time.monotonic() < ends, f"it never rests; the screen is\n{self.text}"
        taken, self._taken = bytes(self._taken), bytearray()
        return taken

    def wait_for(self, text: str) -> None:
        """Read until the text is on the screen."""
        self.wait(lambda: text in self.text, f"{text!r}")

    def wait(self, seen: Callable[[], bool], what: str = "it") -> None:
        """Read until a condition is true."""
        ends = time.monotonic() + _LONGEST_S
        while not seen():
            self._read(0.05)
            assert time.monotonic() < ends, f"{what} never came; the screen is\n{self.text}"

    def send(self, keys: str) -> None:
        """Send keys as a terminal would."""
        os.write(self._fd, keys.encode())

    def press(self, keys: str, *, quiet: float = _QUIET_S) -> bytes:
        """Send keys and take what they cause."""
        self.send(keys)
        return self.take(quiet=quiet)

    def overwrite(self, text: str) -> None:
        """Draw over what it shows, as another program would that has the terminal as well."""
        self._stream.feed(text.encode())

    def resize(self, width: int, height: int) -> None:
        """Make the window another size."""
        self.screen.resize(height, width)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def hang_up(self) -> None:
        """Be gone, as a window that is closed or a line that is cut."""
        self._hung_up = True
        os.close(self._fd)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program alone."""
        os.kill(self.pid, number)

    def end(self) -> int:
        """Wait for the program and give its exit code."""
        ends = time.monotonic() + _LONGEST_S
        while time.monotonic() < ends:
            if self._hung_up:
                time.sleep(_LOOK_S)
            else:
                self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while not self._hung_up and self._read(0.05):
                    pass
                self.code = os.waitstatus_to_exitcode(status)
                return self.code
        raise AssertionError(f"the program did not end; the screen is\n{self.text}")

    def stopped(self) -> bool:
        """Return whether the program is suspended."""
        pid, status = os.waitpid(self.pid, os.WUNTRACED | os.WNOHANG)
        return pid == self.pid and os.WIFSTOPPED(status)

    @property
    def modes(self) -> list[object]:
        """How lines are edited and echoed."""
        return termios.tcgetattr(self._fd)

    @property
    def is_as_before(self) -> bool:
        """Return whether lines are edited and echoed as they were before the program ran."""
        return self.modes == self._modes

    @property
    def lines(self) -> list[str]:
        """The lines that one sees, without blanks at their ends."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        """All that one sees."""
        return "\n".join(self.lines)

    @property
    def works(self) -> bool:
        """Return whether a thread of the program has something to do, also where it waits for a busy processor."""
        folder = f"/proc/{self.pid}/task"
        with contextlib.suppress(OSError):
            for task in os.listdir(folder):
                with open(f"{folder}/{task}/stat", "rb") as file:
                    if file.read().rpartition(b")")[2].split()[0] in (b"R", b"D"):
                        return True
        return False

    def _read(self, patience: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], patience)
        if not ready:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # the other side is closed
            time.sleep(patience)
            return False
        self._taken += data
        self.sent += data
        self._stream.feed(data)
        return bool(data)


def foreign_controls(sent: bytes) -> list[bytes]:
    """Every control character and escape sequence in the bytes that the explorer does not send itself."""
    rest = _OUR_SEQUENCES.sub(b"", sent).decode("utf-8", "surrogateescape")
    found = re.findall("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f][^\x00-\x1f]{0,8}", rest)
    return [each.encode("utf-8", "surrogateescape") for each in found]


def _paths() -> str:
    return os.pathsep.join(str(ROOT / part) for part in (".", "store", "ingest"))


def program(*arguments: str, **options: object) -> Terminal:
    """Run one of the explorers over hand-made tables."""
    return Terminal(["-m", "tests.support.explorer_programs", *arguments], **options)  # type: ignore[arg-type]  # as of Terminal
