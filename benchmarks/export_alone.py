"""Export a store in a process of its own; print the seconds that it took and the most memory that it held, in bytes.

usage: python -m benchmarks.export_alone STORE FILE
"""

from __future__ import annotations

import json
import sys
import time

from benchmarks.machine import peak_memory
from riff_tui.cli import main as riff_tui


def main() -> None:
    """Export, then tell."""
    store, out = sys.argv[1:]
    begin = time.perf_counter()
    try:
        riff_tui(["export", "--store", store, "-o", out])
    except SystemExit as end:
        if end.code:
            raise
    print(json.dumps({"seconds": time.perf_counter() - begin, "bytes": peak_memory()}))


if __name__ == "__main__":
    main()
