"""Whole processes, and what each of them took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory


@dataclass(frozen=True, slots=True)
class Taken:
    """Keep what a process printed, the seconds until it ended, its processor time and the most bytes that it held."""

    output: str
    seconds: float
    cpu: float
    peak: int


def riff_tui(*arguments: str) -> list[str]:
    """The command as it is installed beside this Python."""
    return [str(Path(sys.executable).parent / "riff-tui"), *arguments]


def take(command: Sequence[str], given: str = "") -> Taken:
    """Run a command to its end with some input; `subprocess.CalledProcessError` where it fails.

    It may keep its bytecode, as installed commands do; without it compiling would be measured.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with TemporaryDirectory(prefix="taken-") as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.measured", str(report), *command],
            input=given, capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        return Taken(done.stdout, **json.loads(report.read_text(encoding="utf-8")))
