"""Bound what one input may cost in memory and time.

Each limit is a setting, `limits.NAME`, and the reason for what it leaves out names it.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from riff_store.statement_limit import STEPS_PER_BYTE

MIB = 1024 * 1024


def _limit(value: int, unit: str, meaning: str, *, highest: int) -> Any:
    return dataclasses.field(default=value, metadata={"unit": unit, "meaning": meaning, "highest": highest})


@dataclasses.dataclass(frozen=True)
class Limits:
    """Hold the limits; the `unit` of each, its `meaning` and the `highest` that it may be are with its field."""

    line_mib: int = _limit(64, "MiB", "a line, a call in a JSON document of many, a member of a zip file", highest=1024)
    document_mib: int = _limit(16, "MiB", "a file that is one JSON or TOML document", highest=1024)
    calls_mib: int = _limit(512, "MiB", "a document that lists the calls of a platform", highest=4096)
    log_mib: int = _limit(256, "MiB", "a file of an EVA run", highest=4096)
    log_lines: int = _limit(500_000, "lines", "a log of an EVA call", highest=100_000_000)
    yaml_mib: int = _limit(1, "MiB", "a YAML file", highest=64)
    yaml_values: int = _limit(50_000, "values", "a YAML file with its aliases written out", highest=10_000_000)
    depth: int = _limit(64, "levels", "lists and objects in each other; what lies deeper is left out", highest=200)
    expansion: int = _limit(200, "times its size", "what a file unpacks to, where that is over 64 MiB", highest=100_000)
    zip_members: int = _limit(200_000, "members", "a zip file", highest=10_000_000)
    zip_list_mib: int = _limit(32, "MiB", "the list of the members of a zip file", highest=1024)
    zstd_window_mib: int = _limit(128, "MiB", "how far back zstd data may refer", highest=2048)
    statement_steps: int = _limit(
        STEPS_PER_BYTE, "steps for each byte of it", "a statement on a store in a file", highest=1_000_000
    )

    def bytes(self, name: str) -> int:
        """Return a limit that is in MiB as bytes."""
        return int(getattr(self, name)) * MIB

    def told(self, name: str) -> str:
        """Return a limit as the reason tells it: its value, and the name of its setting."""
        return f"{getattr(self, name):,} {_units[name]} (limits.{name})"

    def digest(self) -> str:
        """Return what tells these limits of inputs from others, nothing for those that hold where nobody set any."""
        of_inputs = dataclasses.replace(self, statement_steps=STEPS_PER_BYTE)
        return "" if of_inputs == Limits() else hashlib.sha256(repr(of_inputs).encode()).hexdigest()


_units = {field.name: field.metadata["unit"] for field in dataclasses.fields(Limits)}
_in_force = Limits()


def limits() -> Limits:
    """Return the limits that hold in this process."""
    return _in_force


def set_limits(wanted: Limits) -> None:
    """Let these limits hold from here on, in the whole process, whose memory they bound."""
    global _in_force
    _in_force = wanted


@contextmanager
def limited(**changes: int) -> Iterator[Limits]:
    """Let some limits be others for a while."""
    before = _in_force
    set_limits(dataclasses.replace(before, **changes))
    try:
        yield _in_force
    finally:
        set_limits(before)
