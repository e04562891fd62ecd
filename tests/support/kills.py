"""Kill what is under way in a process that is forked from this one, so that it begins at once, and see what is left."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.support.failing_files import file_faults
from tests.support.failing_statements import FULL_DISK
from tests.support.faults import NEVER, Fault
from tests.support.file_works import FileWork, files
from tests.support.store_places import Place, assert_whole
from tests.support.store_works import StoreWork
from tests.surface.tui import ExitCode


class Killable(Protocol):
    """Describe what can be killed: it is begun again each time, and done again where it was killed."""

    @property
    def name(self) -> str:
        """Return what it is called."""

    @property
    def steps(self) -> int:
        """Return how many statements or writes it takes."""

    def begin(self) -> None:
        """Make what it begins with."""

    def work(self, fault: Fault) -> None:
        """Do it."""

    def check_and_finish(self, what: str) -> None:
        """Check what a kill left, do it again, and check what is there then."""


def forked(work: Callable[[], object]) -> int:
    """Do something in a process of its own, which shows nothing; return its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        gc.disable()
        work()
        code = 0
    finally:
        os._exit(code)


def was_killed(child: int) -> bool:
    """Wait for a process, and report whether it was killed; otherwise it has ended well."""
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    assert ended in (0, -signal.SIGKILL), f"it ended with {ended}"
    return ended != 0


@dataclass(slots=True)
class KilledStoreWork:
    """Kill what is done to a store."""

    place: Place
    of: StoreWork
    whole: Any = None
    steps: int = 0
    location: str = ""

    def __post_init__(self) -> None:
        self.begin()
        fault = Fault(NEVER)
        self.work(fault)
        self.steps, self.whole = fault.steps, self.picture()

    @property
    def name(self) -> str:
        return self.of.name

    def begin(self) -> None:
        self.location = self.place.store(self.of.begin)

    def work(self, fault: Fault) -> None:
        with self.place.faults(fault, FULL_DISK):
            self.of.work(self.location)

    def check_and_finish(self, what: str) -> None:
        assert_whole(self.location, what)
        self.of.work(self.location)
        assert self.picture() == self.whole, what

    def picture(self) -> Any:
        """Return every row that is there."""
        return self.place.picture(self.location, with_keys=self.of.keeps_keys)


@dataclass(slots=True)
class KilledCommand:
    """Kill a command that writes files."""

    parent: Path
    of: FileWork
    whole: dict[str, object] | None = None
    before: dict[str, object] | None = None
    steps: int = 0
    begun: int = 0

    def __post_init__(self) -> None:
        self.begin()
        fault = Fault(NEVER)
        self.work(fault)
        self.steps, self.whole = fault.steps, self._files()

    @property
    def name(self) -> str:
        return self.of.name

    @property
    def folder(self) -> Path:
        return self.parent / f"{self.of.name}-{self.begun}"

    def begin(self) -> None:
        self.begun += 1
        self.of.folder(self.folder)
        self.before = self._files()

    def work(self, fault: Fault) -> None:
        with file_faults(fault, self.folder):
            code, said = self.of.give(self.folder)
        assert code == ExitCode.OK, said

    def check_and_finish(self, what: str) -> None:
        assert self.whole is not None
        assert self.before is not None
        left = self._files()
        for name, content in left.items():
            if name.endswith(".db"):
                assert_whole(str(self.folder / name), what)
            elif not self.of.by_lines:
                assert content in (self.whole.get(name), self.before.get(name)), f"{what}: {name}"
        if self.of.grows:
            return
        self.work(Fault(NEVER))
        assert self._files() == self.whole, what

    def _files(self) -> dict[str, object]:
        found = files(self.folder, by_lines=self.of.by_lines)
        # What has no name of its own yet is not there for anybody.
        return {name: content for name, content in found.items() if not Path(name).name.startswith(".")}


def kill_at_a_step(of: Killable, at: int) -> None:
    """Kill it at a step, counted from 1."""
    of.begin()
    killed = was_killed(forked(lambda: of.work(Fault(at, kills=True))))
    of.check_and_finish(f"{of.name}, killed at step {at}" if killed else f"{of.name}, done")


def kill_after(of: Killable, seconds: float) -> bool:
    """Kill it after some time, and report whether it was still under way then."""
    of.begin()
    child = forked(lambda: of.work(Fault(NEVER)))
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    killed = was_killed(child)
    of.check_and_finish(f"{of.name}, killed after {seconds:.3f} s" if killed else f"{of.name}, done")
    return killed
