"""Break promises on purpose in a copy of the project and see whether their tests fail.

The copy has an environment of its own, whose Python and whose `riff-tui` take all code of the project
from the copy, also in programs that tests start and in those to which no variable of the environment is left.
"""

from __future__ import annotations

import ast
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tests.promises.descriptions import Break, Promise

_PACKAGES = (".", "store", "ingest")
_PROGRAM = "#!{python}\nimport sys\nfrom riff_tui.cli import main\nsys.exit(main())\n"
_FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
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
    """A copy of the project's files, in which one function at a time is changed."""

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
        place, names = place_of(self._folder, broken.code)
        path = self._folder / place
        text = path.read_text(encoding="utf-8")
        self._write(path, applied(text, names, broken))
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
        command = [
            str(self._python),
            "-m",
            "pytest",
            "-x",
            "-q",
            "--tb=line",
            "-rfE",
            "-m",
            "",
            "-p",
            "no:cacheprovider",
            *tests,
        ]
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


def place_of(root: Path, code: str) -> tuple[Path, list[str]]:
    """Return the file of a dotted name, from the root of the project, and the names in it that lead to the code.

    Raises:
        ValueError: where no module begins the name.
    """
    names = code.split(".")
    for count in range(len(names) - 1, 0, -1):
        for package in _PACKAGES:
            module = Path(package, *names[:count])
            for file in (module.with_suffix(".py"), module / "__init__.py"):
                if (root / file).is_file():
                    return file, names[count:]
    raise ValueError(f"no module is called {code}")


def applied(text: str, names: Sequence[str], broken: Break) -> str:
    """Return the text of a module in which the code of these names breaks the promise.

    Raises:
        ValueError: where that code is not there, or its fragment stands in it not at all or more than once.
    """
    node = _found(ast.parse(text), names)
    lines = text.splitlines(keepends=True)
    begin, end = _first_line(node) - 1, node.end_lineno
    if broken.returns:
        begin = _first_line(_first_statement(node)) - 1
        indentation = " " * (node.col_offset + 4)
        changed = f"{indentation}return {broken.returns}\n"
    else:
        code = "".join(lines[begin:end])
        ((first, last),) = _places(code, broken.replaces or broken.drops)
        is_statement = re.search(r"\n *$", code[:first]) and re.match(r" *(#.*)?\n", code[last:])
        changed = code[:first] + ("pass" if broken.drops and is_statement else broken.replacement) + code[last:]
    return "".join([*lines[:begin], changed, *lines[end:]])


def _places(code: str, fragment: str) -> list[tuple[int, int]]:
    """Return where a fragment stands in code, however either is laid out."""
    signs = "".join(fragment.split())
    # A formatter puts a comma before what closes, where it breaks lines.
    pattern = r"\s*".join((r",?\s*" if sign in ")]}" else "") + re.escape(sign) for sign in signs)
    ends = [r"\b" if re.match(r"\w", sign) else "" for sign in (signs[0], signs[-1])]
    return [found.span() for found in re.finditer(ends[0] + pattern + ends[1], code)]


def _found(tree: ast.Module, names: Sequence[str]) -> ast.stmt:
    within: ast.AST = tree
    for name in names:
        named = [node for node in _defined(within) if _name_of(node) == name]
        if not named:
            raise ValueError(f"{'.'.join(names)} is not there")
        within = named[-1]  # those before are its overloads
    assert isinstance(within, ast.stmt)
    return within


def _defined(within: ast.AST) -> Iterator[ast.stmt]:
    """Yield the functions, classes and constants of a module, a class or a function, also those below an `if`."""
    for node in ast.iter_child_nodes(within):
        if isinstance(node, _NAMED):
            yield node
        else:
            yield from _defined(node)


def _name_of(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""


def _first_line(node: ast.stmt) -> int:
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    decorators = node.decorator_list if isinstance(node, named) else []
    return min([node.lineno, *(each.lineno for each in decorators)])


def _first_statement(function: ast.stmt) -> ast.stmt:
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    return function.body[bool(ast.get_docstring(function))]
