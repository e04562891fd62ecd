"""Break promises on purpose in a copy of the project and see whether their tests fail.

The copy has an environment of its own, whose Python and whose `riff-tui` take all code of the project
from the copy, also in programs that tests start and in those to which no variable of the environment is left.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tests.promises.descriptions import Break, Promise

_PACKAGES = (".", "store", "ingest")
_PROGRAM = "#!{python}\nimport sys\nfrom riff_tui.cli import main\nsys.exit(main())\n"
_FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)
_TESTS_FAILED = 1  # pytest's exit code where tests ran and some failed


@dataclass(frozen=True)
class Outcome:
    """What became of one break: the test that failed, or else why none counts."""

    promise: Promise
    broken: Break
    caught_by: str
    told: str
    seconds: float


class Copy:
    """A copy of the project's files, in which one line at a time is changed."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._folder = folder.resolve()
        for name in _files(root):
            place = self._folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, place)
        self._python = self._environment()
        self._ages = itertools.count(1)

    def _environment(self) -> Path:
        """Make an environment that has the installed packages of this one and the code of the copy."""
        home = self._folder / ".venv"
        venv.EnvBuilder(with_pip=False, symlinks=True).create(home)
        (packages,) = home.glob("lib/python*/site-packages")
        installed = [entry for entry in sys.path if entry.endswith("-packages")]
        code = [str(self._folder / name) for name in _PACKAGES]
        (packages / "copy.pth").write_text("\n".join([*code, *installed]) + "\n", encoding="utf-8")
        program = home / "bin" / "riff-tui"
        program.write_text(_PROGRAM.format(python=home / "bin" / "python"), encoding="utf-8")
        program.chmod(0o755)
        return home / "bin" / "python"

    def outcome(self, promise: Promise, broken: Break, limit: float) -> Outcome:
        """Break a promise, run its tests for at most so many seconds, and put back what was there."""
        path = self._folder / broken.place
        text = path.read_text(encoding="utf-8")
        self._write(path, applied(text, broken))
        begun = time.monotonic()
        try:
            code, printed = self._tests(promise.tests_of(broken), limit)
        finally:
            self._write(path, text)
        failed = _FAILED.search(printed)
        caught_by = failed[1] if failed and code == _TESTS_FAILED else ""
        told = f"exit code {code}: {printed.strip().rpartition(chr(10))[2]}"
        return Outcome(promise, broken, caught_by, told, time.monotonic() - begun)

    def _write(self, path: Path, text: str) -> None:
        """Write a file with a time of its own, so that no bytecode of another text is taken for its."""
        path.write_text(text, encoding="utf-8")
        age = 10**9 + next(self._ages)
        os.utime(path, (age, age))

    def _tests(self, tests: tuple[str, ...], limit: float) -> tuple[int, str]:
        command = [str(self._python), "-m", "pytest", "-x", "-q", "--tb=line", "-rfE", "-p", "no:cacheprovider", *tests]
        # What a broken promise leaves running holds on to its output, so that is a file and no pipe.
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            code = self._ended(command, output, limit)
            output.seek(0)
            return code, output.read()

    def _ended(self, command: Sequence[str], output: TextIO, limit: float) -> int:
        """Run a command and end all of its group with it; return its exit code."""
        running = subprocess.Popen(
            command,
            cwd=self._folder,
            env=self._surroundings(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            return running.wait(limit)
        except subprocess.TimeoutExpired:
            output.write(f"\ntook longer than {limit:.0f} s")
            return -signal.SIGKILL
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()

    def _surroundings(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        kept["HYPOTHESIS_PROFILE"] = "first-failure"
        return {**kept, "PATH": f"{self._python.parent}{os.pathsep}{kept.get('PATH', '')}"}


def _files(root: Path) -> list[str]:
    """Return what is or could be committed, as it stands now."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    return [name for name in names if (root / name).is_file()]


def places(text: str, broken: Break) -> list[int]:
    """Return the numbers of the lines, from 0, that a break names."""
    return [number for number, line in enumerate(text.split("\n")) if line.strip() == broken.line]


def applied(text: str, broken: Break) -> str:
    """Return the text of a file with the line in it that breaks the promise.

    Raises:
        ValueError: where the line stands there not at all or more than once.
    """
    (number,) = places(text, broken)
    lines = text.split("\n")
    indentation = lines[number][: -len(broken.line)]
    lines[number] = indentation + broken.instead
    return "\n".join(lines)
