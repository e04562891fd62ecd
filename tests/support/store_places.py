"""Places of stores, in files and on a server, where statements fail and all that a store has can be compared."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.support.earlier_schema import stepped
from tests.support.facts import contents
from tests.support.failing_statements import FULL_DISK, postgresql_faults, sqlite_faults
from tests.support.faults import NEVER, Fault
from tests.support.postgresql_server import Server
from tests.support.store_works import StoreWork
from tests.surface.store import OlderStore, RiffError, StoreMissing, copy_store, examine, open_store


class Place(Protocol):
    """Make stores, let their statements fail, and picture all that is in one."""

    def faults(self, fault: Fault, message: str) -> AbstractContextManager[None]:
        """Let a statement fail while the block runs."""

    def store(self, begin: Path | None) -> str:
        """Return where a store is with all that a file has, or if none is."""

    def picture(self, location: str, *, with_keys: bool) -> Any:
        """Return every row of a store."""


class InFiles:
    """Make stores in a folder."""

    def __init__(self, folder: Path) -> None:
        self._paths = (folder / f"store-{number}" / "calls.db" for number in itertools.count())

    faults = staticmethod(sqlite_faults)

    def store(self, begin: Path | None) -> str:
        path = next(self._paths)
        path.parent.mkdir()
        if begin is not None:
            shutil.copy(begin, path)
        return str(path)

    def picture(self, location: str, *, with_keys: bool) -> Any:
        if not with_keys:
            return contents(Path(location))
        with closing(sqlite3.connect(location)) as connection:
            return list(connection.iterdump())


class OnServer:
    """Make stores on a server; one that begins with what a file has lies where the last such one was."""

    def __init__(self, server: Server, folder: Path) -> None:
        self._server = server
        self._copies = (folder / f"copy-{number}.db" for number in itertools.count())
        self._address = server.store()

    faults = staticmethod(postgresql_faults)

    def store(self, begin: Path | None) -> str:
        if begin is None:
            return self._server.store()
        with open_store(begin) as source, open_store(self._address, write=True, create=True) as target:
            copy_store(source, target, replace=True)
        return self._address

    def picture(self, location: str, *, with_keys: bool) -> Any:
        # Keys of a server are not given twice, whatever became of the rows that were to have them.
        copy = next(self._copies)
        with open_store(location) as source, open_store(copy, write=True, create=True) as target:
            copy_store(source, target)
        return contents(copy)


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """Describe how many statements a work takes, and what it leaves."""

    statements: int
    left: Any


def undisturbed(place: Place, work: StoreWork) -> Undisturbed:
    """Do a work without a fault."""
    location, fault = place.store(work.begin), Fault(NEVER)
    with place.faults(fault, FULL_DISK):
        work.work(location)
    return Undisturbed(fault.steps, place.picture(location, with_keys=work.keeps_keys))


def fail_once(place: Place, work: StoreWork, whole: Undisturbed, fault: Fault, message: str = FULL_DISK) -> None:
    """Let a statement of a work fail: that is said in a sentence, the store is whole, and a second try completes it."""
    what = f"{work.name}, statement {fault.at} of {whole.statements}{' and all after it' * fault.lasting}: {message}"
    location, failed = place.store(work.begin), False
    try:
        with place.faults(fault, message):
            work.work(location)
    except RiffError:
        failed = True
    assert failed, what
    assert_whole(location, what)
    work.work(location)
    assert place.picture(location, with_keys=work.keeps_keys) == whole.left, what


def assert_whole(location: str, what: str) -> None:
    """Check that a store, if there is one, opens and that the doctor finds nothing in it."""
    with stepped(), suppress(StoreMissing, OlderStore), open_store(location) as store:
        assert examine(store).wrong == [], what


def spread(statements: int, tries: int, offset: float) -> Iterator[int]:
    """Yield so many of the statements of a work, evenly spread; the offset, from 0 to 1, says which."""
    step = max(1.0, statements / tries)
    yield from sorted({min(statements, 1 + int((offset + number) * step)) for number in range(min(tries, statements))})
