"""A Python that has imported the explorer already and is forked for each program that is run on a terminal.

Run as `python -m tests.support.warm_python DESCRIPTOR` it serves the socket of that number; importing it gives
`start`, which asks such a server.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import importlib
import io
import json
import os
import runpy
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_MOST_OF_A_REQUEST = 1 << 20
_BECOME_SUBREAPER = 36  # prctl(2)
_IMPORTED = (
    "riff_tui.cli",
    "riff_tui.command_line",
    "riff_tui.commands.ui",
    "riff_tui.tui.app",
    "riff_tui.cases",
    "riff_tui.output.streams",
    "riff_tui.views.conversations",
    "riff_tui.views.flows",
    "riff_tui.views.states",
    "riff_ingest.sources.annotations",
    "riff_store.engines.sqlite",
    "tests.support.voice_tables",
    "textual.drivers.linux_driver",
    "textual.layouts.factory",
    "textual.layouts.horizontal",
    "textual.layouts.stream",
    "textual.pilot",
    "textual.scrollbar",
    "tomllib",
)
"""What the explorers here import, also later than at their start."""
_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG")


def start(arguments: Sequence[str], environ: Mapping[str, str], terminal: int) -> int | None:
    """Return the process, a child of this one, that runs what Python would with these arguments on a terminal.

    None where only a Python that starts again can: what it reads at its start differs, or this is not Linux.
    """
    if sys.platform != "linux" or _for_the_interpreter(environ) != _for_the_interpreter(os.environ):
        return None
    server = _server()
    request = {"arguments": list(arguments), "environ": dict(environ), "directory": os.getcwd()}
    # The process in between ends at once, and its child becomes one of the nearest process that asked for those.
    _adopt_orphans(True)
    try:
        socket.send_fds(server, [json.dumps(request).encode()], [terminal])
        answer = server.recv(64)
    finally:
        _adopt_orphans(False)
    assert answer, "the server of warm programs has ended"
    return int(answer)


def _for_the_interpreter(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(_OF_THE_INTERPRETER) and name != "PYTHONPATH"
    }  # fmt: skip


def _adopt_orphans(adopted: bool) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_BECOME_SUBREAPER, int(adopted), 0, 0, 0)


@functools.cache
def _server() -> socket.socket:
    """Start the server of this process; it ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in (".", "store", "ingest"))},
        )  # fmt: skip

    def end() -> None:
        ours.close()
        process.kill()
        process.wait()

    atexit.register(end)
    return ours


def _serve(asked: socket.socket) -> tuple[Mapping[str, Any], int] | None:
    """Answer until nobody asks any more; in a process that is to run a program, return the request and its terminal."""
    while True:
        request, terminals, _, _ = socket.recv_fds(asked, _MOST_OF_A_REQUEST, 1)
        if not request:
            return None
        told, tells = os.pipe()
        between = os.fork()
        if between == 0:
            process = os.fork()
            if process == 0:
                for each in (asked.fileno(), told, tells):
                    os.close(each)
                return json.loads(request), terminals[0]
            os.write(tells, str(process).encode())
            os._exit(0)
        os.close(terminals[0])
        os.close(tells)
        # Before the answer, so that whoever asked is the parent by then.
        os.waitpid(between, 0)
        asked.send(os.read(told, 64))
        os.close(told)


def _settle(request: Mapping[str, Any], terminal: int) -> None:
    os.login_tty(terminal)
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environ"])
    # As an interpreter does at its start; what the server itself has there may be a file and not a terminal.
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _written_to(1, "strict")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _written_to(2, "backslashreplace")  # type: ignore[misc]


def _written_to(descriptor: int, errors: str) -> io.TextIOWrapper:
    if os.environ.get("PYTHONUNBUFFERED"):
        return io.TextIOWrapper(io.FileIO(descriptor, "w", closefd=False), errors=errors, write_through=True)
    return open(descriptor, "w", errors=errors, closefd=False)


def _run(arguments: Sequence[str]) -> None:
    option, program, *rest = arguments
    sys.argv = [option, *rest]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})


def _main() -> None:
    for name in _IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    asked = _serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        _settle(*asked)
        _run(asked[0]["arguments"])


if __name__ == "__main__":
    _main()
