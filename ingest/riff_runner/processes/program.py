"""Kill what programs of others leave behind: run as a program, which reads from stdin what was started and ended.

The first line is what all marks begin with. A line `+ PID MARK` reports that a program was started, which leads a group
and has MARK in its environment; `- PID` that its group was ended. What had left the group by then is found by its mark,
where processes can be looked at (Linux). At the end of stdin the one who started them is gone, and all of them are
ended.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys

VARIABLE = "RIFF_TUI_CALL"
PAUSE_S = 0.5
"""How long ended programs are collected before all processes are looked at."""
_ROUNDS = 20
_PIECE = 65536


def main() -> None:
    """Kill what is left of each program that ended, and at the end of stdin all that is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the process that started it, never before
    running: dict[int, bytes] = {}
    ended: set[bytes] = set()
    token = begun = b""
    while True:
        if not select.select([0], [], [], PAUSE_S if ended else None)[0]:
            kill_marked(ended)
            ended.clear()
            continue
        piece = os.read(0, _PIECE)
        if not piece:
            break
        *lines, begun = (begun + piece).split(b"\n")
        for line in lines:
            match line.split():
                case [begins]:
                    token = begins
                case [b"+", pid, mark]:
                    running[int(pid)] = mark
                case [b"-", pid]:
                    ended.update(filter(None, [running.pop(int(pid), None)]))
    for leader in running:
        with contextlib.suppress(OSError):
            os.killpg(leader, signal.SIGKILL)
    kill_marked({token})


def kill_marked(marks: set[bytes]) -> None:
    """Kill all processes that have one of these marks, or one that begins so, until none is left."""
    for _ in range(_ROUNDS):
        if not sum(_killed(int(name), marks) for name in _processes()):
            return


def _processes() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def _killed(process: int, marks: set[bytes]) -> bool:
    try:
        # Kept as a zombie, so that no other process takes its number in between.
        held = os.pidfd_open(process)
    except (OSError, AttributeError):
        return False
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            mark = _mark(file.read())
        if mark is None or not ({mark, mark.partition(b".")[0]} & marks):
            return False
        signal.pidfd_send_signal(held, signal.SIGKILL)
        return True
    except OSError:
        return False
    finally:
        os.close(held)


def _mark(environ: bytes) -> bytes | None:
    for variable in environ.split(b"\0"):
        if variable.startswith(VARIABLE.encode() + b"="):
            return variable.partition(b"=")[2]
    return None


if __name__ == "__main__":
    main()
    sys.exit()
