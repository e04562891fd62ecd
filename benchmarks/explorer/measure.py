"""Take every step in one explorer, leave those that take a while, and ask for the dumps that print the same."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.explorer.steps import FIRST, Step, steps
from benchmarks.explorer.walk import Left, NotThere, Waited, Walk, explorer
from benchmarks.processes import riff_tui, take
from benchmarks.scale.stores import Sized
from riff_tui.tui.data.lists import PAGE

FIRST_ROWS_S = 0.5
FILLED_S = 2.0
RESTS_S = 0.5
START = "start: "
_WORTH_LEAVING_S = 0.2


@dataclass(frozen=True, slots=True)
class Seen:
    """Describe what a step took: until its rows are seen and complete, by dumps of the same, and once one left it."""

    step: str
    waited: Waited
    dump: float | None = None
    left: Left | None = None

    @property
    def in_time(self) -> bool | None:
        """Return whether it keeps every budget; `None` of the start, whose budget is among those of the group `ui`."""
        if self.step.startswith(START):
            return None
        rests = self.left.rests if self.left else 0.0
        return self.waited.first <= FIRST_ROWS_S and self.waited.filled <= FILLED_S and rests <= RESTS_S


def waited(sized: Sized) -> Iterator[Seen]:
    """Take every step that leads somewhere once, and report how long it took."""
    with _walking(sized) as (walk, start):
        yield start
        for _, found in _pressed(walk, sized):
            yield found


def seen(sized: Sized) -> Iterator[Seen]:
    """Do the same, with dumps, and once more to leave what takes a while; tell of a step once all of that is known."""
    with _walking(sized) as (walk, start):
        yield replace(start, dump=_dumped(walk, sized.store))
        taken = [(step, replace(found, dump=_dumped(walk, sized.store))) for step, found in _pressed(walk, sized)]
        walk.return_to_first()
        walk.read_anew()
        for step, found in taken:
            yield replace(found, left=_left(walk, step, found.waited))


@contextmanager
def _walking(sized: Sized) -> Iterator[tuple[Walk, Seen]]:
    with TemporaryDirectory(prefix="walk-") as folder, explorer(sized.store, Path(folder)) as (walk, start):
        yield walk, Seen(f"{START}{FIRST}", start)


def _pressed(walk: Walk, sized: Sized) -> Iterator[tuple[Step, Seen]]:
    for step in steps(sized):
        with contextlib.suppress(NotThere):
            yield step, Seen(step.name, walk.press(step))


def _left(walk: Walk, step: Step, waited: Waited) -> Left | None:
    """Leave a step well before its first rows are there, or while they are filled if they come soon."""
    if waited.filled < _WORTH_LEAVING_S:
        return None
    return walk.leave(step, waited.first / 3 if waited.first >= _WORTH_LEAVING_S else waited.filled / 2)


def _dumped(walk: Walk, store: Path) -> float:
    """Return the processor time of whole processes that print what is on the screen; of lists as much as a page has."""
    commands = [shlex.split(command)[1:] for command in walk.dump_commands()]
    return sum(take([*riff_tui(*command, "--store", str(store)), *_limit(command)]).cpu for command in commands)


def _limit(command: list[str]) -> list[str]:
    return ["--limit", str(PAGE)] if command[1:2] == ["conversations"] else []
