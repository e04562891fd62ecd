"""Everything that writes, in surroundings of its own: to stores in files and on a server, and commands to files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.file_works import FileWork, file_works
from tests.support.judge_endpoint import serving, well
from tests.support.judged_calls import KEY, KEY_VARIABLE, settings
from tests.support.postgresql_server import Server, programs, running
from tests.support.store_places import InFiles, OnServer, Place
from tests.support.store_works import StoreWork, migration, store_works

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_FOLDERS = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


@dataclass(frozen=True)
class Surroundings:
    """Describe a folder for all that is made, a server if there is one, and commands that write files."""

    folder: Path
    server: Server | None
    file_works: list[FileWork]

    def store_works(self) -> Iterator[tuple[str, Place, list[StoreWork]]]:
        """Yield by engine what is done to stores; call it inside `few_are_many`."""
        folder = _made(self.folder / "in-files")
        yield "SQLite", InFiles(folder), [*store_works(folder), migration(folder)]
        if self.server is not None:
            folder = _made(self.folder / "on-server")
            yield "PostgreSQL", OnServer(self.server, folder), store_works(folder)


@contextmanager
def surroundings(folder: Path, *, server: bool) -> Iterator[Surroundings]:
    """Begin a server where it is wanted and installed, and an endpoint that judges; both end with the block."""
    installed = programs() if server else None
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        for name in _PROXIES:
            patch.delenv(name, raising=False)
        for name in _FOLDERS:
            patch.setenv(name, str(folder / "home"))
        endpoint = stack.enter_context(serving(well))
        patch.setenv(KEY_VARIABLE, KEY)
        patch.setenv("RIFF_TUI_CONFIG", str(settings(folder / "settings.toml", endpoint.url)))
        begun = stack.enter_context(running(installed)) if installed else None
        yield Surroundings(folder, begun, file_works(_made(folder / "inputs")))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
