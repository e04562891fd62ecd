"""Find out whether the process that works on a run is still there."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from riff_ingest.runner.files.run_document import Invocation

SILENT_SECONDS = 900.0
"""How long a run on another machine may write nothing until it counts as stopped."""
_CLOCK_SLACK = 5.0


def is_working(invocation: Invocation, now: float, *, described_at: float, written_at: float) -> bool:
    """Return whether the process of an invocation works on its run.

    `described_at` is when the run's description was written, which the process does when it begins, `written_at` when
    it wrote last. A process of another machine cannot be asked, so it is taken to work as long as it writes.
    """
    if invocation.ended is not None or invocation.ended_at is not None:
        return False
    if invocation.host != socket.gethostname():
        return now - written_at < SILENT_SECONDS
    return _is_there(invocation.pid) and not _began_after(invocation.pid, described_at)


def _is_there(pid: int) -> bool:
    if not 0 < pid < 1 << 31:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _began_after(pid: int, moment: float) -> bool:
    """Return whether another process got the number since, as far as the system tells."""
    began = None
    with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        booted = next(
            int(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime ")
        )
        began = booted + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return began is not None and began > moment + _CLOCK_SLACK
