"""Run a command and report what it took: seconds, processor time and the most memory that it held.

usage: python -m benchmarks.measured REPORT COMMAND...

It runs in a small process of its own, since what a process has at most begins with what its parent held.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def main() -> int:
    """Run the command with the streams as they are, and write the report as JSON."""
    report, *command = sys.argv[1:]
    begin = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - begin
    kilo = 1 if sys.platform == "darwin" else 1024
    found = {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * kilo}
    Path(report).write_text(json.dumps(found), encoding="utf-8")
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    raise SystemExit(main())
