"""A PostgreSQL server of the tests' own, in a temporary folder, that runs without privileges and keeps nothing."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.surface.store import copy_store, open_store

OWNER = "owner"
_UNPRIVILEGED = ("postgres", "nobody")
_SETTINGS = {
    "listen_addresses": "", "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off",
    "shared_buffers": "32MB", "max_connections": "60",
}  # fmt: skip


def programs() -> Path | None:
    """Return the folder of the server's programs, `None` if it is not installed."""
    named = shutil.which("postgres")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    found = [*installed[-1:], *([Path(named).resolve()] if named else [])]
    return found[0].parent if found else None


class Server:
    """Name stores on a server: each in a schema of its own."""

    def __init__(self, folder: Path, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self.folder = folder
        self._start = start
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._process = self._start()

    def stop(self) -> None:
        """End the server; who is connected loses the connection."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)

    def store(self, *, user: str = OWNER, password: str = "", schema: str | None = None) -> str:
        """Return the address of a store that nobody has used yet, or of the one in a schema."""
        secret = f":{password}" if password else ""
        named = schema or f"store_{next(self._numbers)}"
        return f"postgresql://{user}{secret}@/postgres?host={self.folder}&schema={named}"

    def copy_of(self, path: Path) -> str:
        """Return the address of a store with all that is in a file."""
        address = self.store()
        with open_store(path) as source, open_store(address, write=True, create=True) as target:
            copy_store(source, target)
        return address

    def run(self, sql: str) -> list[tuple[object, ...]]:
        """Run a statement as the owner of everything; return the rows that it gives."""
        import psycopg

        with psycopg.connect(host=str(self.folder), user=OWNER, dbname="postgres", autocommit=True) as connection:
            found = connection.execute(sql)
            return list(found.fetchall()) if found.description else []


@contextmanager
def running(bin: Path) -> Iterator[Server]:
    """Start a server, and stop it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="riff-pg-"))
    server: Server | None = None
    try:
        owner = _unprivileged()
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        start = _Starter(folder, owner)
        made = ("--no-sync", "--username", OWNER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
        start(bin / "initdb", "--pgdata", str(folder / "data"), *made).wait(120)
        # Of the roles that tests make, those named so have to show a password.
        access = "local all guarded scram-sha-256\nlocal all all trust\n"
        (folder / "data" / "pg_hba.conf").write_text(access, "utf-8")
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]

        def started() -> subprocess.Popen[bytes]:
            process = start(bin / "postgres", "-D", str(folder / "data"), "-k", str(folder), *settings)
            _wait_for(bin, folder, process)
            return process

        server = Server(folder, started)
        server.start()
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


class _Starter:
    def __init__(self, folder: Path, owner: pwd.struct_passwd | None) -> None:
        self._folder = folder
        self._owner = owner

    def __call__(self, *command: object) -> subprocess.Popen[bytes]:
        with open(self._folder / "log", "ab") as log:
            return subprocess.Popen(
                [str(part) for part in command],
                cwd=self._folder,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=None if self._owner is None else self._owner.pw_uid,
                group=None if self._owner is None else self._owner.pw_gid,
                extra_groups=None if self._owner is None else [],
            )


def _unprivileged() -> pwd.struct_passwd | None:
    """Return who runs the server, `None` for the user of the tests: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return next(names[name] for name in _UNPRIVILEGED if name in names)


def _wait_for(bin: Path, folder: Path, process: subprocess.Popen[bytes]) -> None:
    asked = [str(bin / "pg_isready"), "--quiet", "--host", str(folder)]
    for _ in range(600):
        if subprocess.run(asked, check=False).returncode == 0:
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError((folder / "log").read_text("utf-8"))
