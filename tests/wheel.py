"""Install a wheel and use it far from its files: `make dist` runs `python -m tests.wheel WHEEL`.

Each way to install that this machine has (a venv with pip, pipx, uv) gets its own empty folder. There the version, the
demo, a dump and the explorer in a terminal are tried, and whether the command that is named for a missing package
installs it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import riff_tui
from tests.support.pty_terminal import Terminal

CONSTRAINTS = Path(__file__).resolve().parent.parent / "constraints.txt"
_NAMED = re.compile(r"not installed; (.+)$", re.MULTILINE)
_STORE = Path("demo", "demo.db")


def with_pip(wheel: Path) -> Path:
    """Install into a venv."""
    _run(sys.executable, "-m", "venv", "venv")
    _run("venv/bin/python", "-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS, wheel)
    return Path("venv/bin/riff-tui")


def with_pipx(wheel: Path) -> Path:
    """Install as a program of pipx."""
    _run("pipx", "install", "--python", sys.executable, wheel)
    return Path("bin/riff-tui")


def with_uv_tool(wheel: Path) -> Path:
    """Install as a tool of uv."""
    _run("uv", "tool", "install", "--quiet", "--python", sys.executable, wheel)
    return Path("bin/riff-tui")


def with_uv_pip(wheel: Path) -> Path:
    """Install into a venv of uv, which has no pip."""
    _run("uv", "venv", "--quiet", "--python", sys.executable, "venv")
    _run("uv", "pip", "install", "--quiet", "--python", "venv/bin/python", wheel)
    return Path("venv/bin/riff-tui")


def ways() -> Iterator[Callable[[Path], Path]]:
    """Yield what installs a wheel, for each program that this machine has for it."""
    yield with_pip
    if shutil.which("pipx"):
        yield with_pipx
    if shutil.which("uv"):
        yield with_uv_tool
        yield with_uv_pip


def check_version(program: Path) -> None:
    """Check that the version is that of the files."""
    assert _run(program, "--version") == f"riff-tui {riff_tui.__version__}\n"


def check_use(program: Path) -> None:
    """Check that the demo, a dump of its store and the explorer work."""
    printed = _run(program, "demo", "--conversations", "400")
    assert "Fix first" in printed, printed
    assert "dog_grooming" in _run(program, "dump", "flows", "--store", _STORE)
    started = ["-c", "import os, sys; os.execv(sys.argv[1], sys.argv[1:])", str(program), "ui", "--store", str(_STORE)]
    with Terminal(started, environ={"PYTHONPATH": ""}, cold=True) as terminal:
        terminal.wait_for("dog_grooming")
        terminal.send("Q")
        assert terminal.end() == 0


def check_missing_package(program: Path) -> None:
    """Check that the command that is named for a missing package installs it."""
    asked = [str(program), "mcp", "--store", str(_STORE)]
    ended = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    named = _NAMED.search(ended.stderr)
    assert named, ended.stderr
    _run(*shlex.split(named[1]))
    subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def main() -> None:
    """Check one wheel."""
    [wheel] = [Path(name).resolve() for name in sys.argv[1:]]
    for install in ways():
        with tempfile.TemporaryDirectory(prefix="riff-tui-wheel-") as folder:
            os.chdir(folder)
            os.environ |= {
                "PIPX_HOME": f"{folder}/pipx", "PIPX_BIN_DIR": f"{folder}/bin", "PIPX_MAN_DIR": f"{folder}/man",
                "UV_TOOL_DIR": f"{folder}/uv", "UV_TOOL_BIN_DIR": f"{folder}/bin", "XDG_DATA_HOME": f"{folder}/data",
                "XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config",
            }  # fmt: skip
            program = install(wheel).absolute()
            for check in (check_version, check_use, check_missing_package):
                check(program)
            os.chdir("/")
        print(f"{wheel.name} works where it was installed {install.__name__.replace('_', ' ')}")


def _run(*command: str | Path) -> str:
    named = [str(part) for part in command]
    ended = subprocess.run(named, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{shlex.join(named)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


if __name__ == "__main__":
    main()
