"""What the figures were measured on, without naming the machine."""

from __future__ import annotations

import os
import platform
import sqlite3
from datetime import UTC, datetime
from importlib.metadata import version


def facts() -> list[tuple[str, str]]:
    """Label and value of everything that a reader needs to judge the results."""
    return [
        ("cores", str(os.cpu_count())),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
        *((name, version(name)) for name in ("riff-tui", "peewee", "msgspec", "orjson", "duckdb")),
    ]


def in_short() -> str:
    """The same in half a line."""
    return f"{os.cpu_count()} cores with Python {platform.python_version()} and SQLite {sqlite3.sqlite_version}"


def today() -> str:
    """The date."""
    return datetime.now(UTC).date().isoformat()


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes.

    Linux counts it from the process's start in `VmHWM`; its `ru_maxrss` would include what the
    parent held when it forked.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except FileNotFoundError:
        import resource  # there on every POSIX system, where /proc is Linux's own

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if platform.system() == "Darwin" else peak * 1024
