"""Read the results of a run, in one file or with a file for each simulation, one simulation at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TypeAlias

import msgspec

from riff_ingest.conversation import Conversation
from riff_ingest.json_members import Member, read_members
from riff_ingest.lines import BrokenInput, digest, digest_of_all, read_whole
from riff_ingest.segments import ToolSegments
from riff_ingest.source import text_of
from riff_ingest.sources.tau.calls import conversation_of, has_ticks, judged
from riff_ingest.sources.tau.records import IndexEntry, Info, Run, Simulation, Task, record_of, run_from
from riff_store.facts import JudgedScore, Skipped

Item = Conversation | JudgedScore | Skipped

_NOT_MEASURED = 60.0
"""The duration in seconds of every call of a file in which none was measured."""
_ENOUGH = 64
"""The calls of just that duration after which that is taken for granted."""


class Durations:
    """Keep calls back until one of them shows whether the durations of their file were measured."""

    def __init__(self) -> None:
        self._held: list[Item] = []
        self._waiting = 0
        self._measured: bool | None = None

    def take(self, items: list[Item], measured: bool | None) -> Iterator[Item]:
        """Yield what a simulation became, or what is withheld; `measured` shows for its duration, where it has one."""
        self._held += items
        if self._measured is None:
            self._waiting += measured is not None
            if measured:
                self._measured = True
            elif self._waiting == _ENOUGH:
                self._measured = False
            else:
                return
        yield from self.rest()

    def rest(self) -> Iterator[Item]:
        """Yield what is withheld."""
        held, self._held = self._held, []
        yield from held if self._measured else map(_without_duration, held)


def is_measured(simulation: Simulation) -> bool:
    """Return whether the duration of a simulation cannot be one that represents none."""
    return has_ticks(simulation) or simulation.duration not in (None, 0.0, _NOT_MEASURED)


def _without_duration(item: Item) -> Item:
    if isinstance(item, Conversation) and item.duration_s == _NOT_MEASURED:
        item.duration_s = None
    return item


NOTHING = "it has no simulations"
_SHOWN = 3
TWICE = "trial {trial} of task {task} is there {times} times ({names}), and each counts as a trial"

_INFO, _TIMESTAMP, _TASKS, _INDEX = "info", "timestamp", "tasks", "simulation_index"

_Taken: TypeAlias = tuple[list[Item], bool | None]
"""What a simulation became, and whether its duration was measured; `None` for what is no simulation."""


def read_results(path: Path, segments: ToolSegments) -> Iterator[Item]:
    """Yield the calls of a run with the verdicts on them, and what was left out.

    Raises `BrokenInput` if the file cannot be read any further, after all before it.
    """
    return _Reader(path, segments).items()


def run_at(path: Path) -> Run | None:
    """Return the run that the results at a path are of, `None` if they do not show it."""
    reader = _Reader(path, ToolSegments())
    with suppress(BrokenInput):
        for member in read_members(path, (_INFO, _TIMESTAMP)):
            reader.head(member)
            if reader.seen.issuperset((_INFO, _TIMESTAMP)):
                break
    return reader.run if _INFO in reader.seen else None


class _Reader:
    def __init__(self, path: Path, segments: ToolSegments) -> None:
        self._path = path
        self._segments = segments
        self._lines = count(1)
        self._info, self._timestamp = Info(), b"null"
        self._tasks: dict[str, Task] = {}
        self._index: list[str] = []
        self._run: Run | None = None
        self._notes: list[Item] = []
        self._trials: dict[tuple[str, int], list[str]] = {}
        self.seen: set[str] = set()

    @property
    def run(self) -> Run:
        """Return the run that the results are of, as far as it was read."""
        if self._run is None:
            timestamp = None
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                timestamp = msgspec.json.decode(self._timestamp, type=str)
            self._run = run_from(self._info, timestamp, self._path)
        return self._run

    def items(self) -> Iterator[Item]:
        """Yield everything; durations that represent none are taken out."""
        durations = Durations()
        try:
            for items, measured in self._simulations():
                yield from durations.take(items, measured)
        except BrokenInput:
            yield from durations.rest()
            raise
        yield from durations.rest()
        for (task, trial), names in self._trials.items():
            if len(names) > 1:
                shown = ", ".join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])
                reason = TWICE.format(task=task, trial=trial, times=len(names), names=shown)
                yield Skipped("defect", None, reason, names[0])

    def head(self, member: Member | str) -> None:
        """Take what results have beside their simulations."""
        if isinstance(member, str):
            self._notes.append(Skipped("skipped", None, member))
            return
        self.seen.add(member.key)
        what = member.key if member.place is None else f"{member.key}, number {member.place + 1}"
        try:
            if member.key == _INFO:
                self._info = record_of(member.value, Info, self._misfit(what))
            elif member.key == _TIMESTAMP:
                self._timestamp = member.value
            elif member.key == _TASKS and member.place is not None:
                task = record_of(member.value, Task, self._misfit(what))
                self._tasks[str(task.id)] = task
            elif member.key == _INDEX and member.place is not None:
                self._index.append(str(record_of(member.value, IndexEntry, self._misfit(what)).id))
        except BrokenInput as problem:
            self._notes.append(Skipped("skipped", None, f"{what}: {problem.reason}"))

    def _simulations(self) -> Iterator[_Taken]:
        """Yield what each simulation becomes, and what was left out before and after."""
        are_here = False
        for member in read_members(self._path, (_INFO, _TIMESTAMP), (_TASKS, _INDEX, SIMULATIONS)):
            if isinstance(member, str) or member.key != SIMULATIONS or member.place is None:
                self.head(member)
                continue
            if not are_here and not self.seen.issuperset((_INFO, _TIMESTAMP, _TASKS)):
                self._look_ahead()
            are_here = True
            yield self._noted(), None
            yield self._taken(member.value, f"{SIMULATIONS}, number {(member.place or 0) + 1}")
        yield self._noted(), None
        if not are_here:
            yield from self._files()

    def _look_ahead(self) -> None:
        """Take what results have beside their simulations, if that is after them."""
        notes = self._notes
        self._notes = []  # what is wrong is noted when it is come to
        with suppress(BrokenInput):
            for member in read_members(self._path, (_INFO, _TIMESTAMP), (_TASKS,)):
                self.head(member)
        self._notes = notes

    def _files(self) -> Iterator[_Taken]:
        """Yield what the simulations become that have files of their own."""
        files, seen, listed = simulation_files(self._path), set(), set(self._index)
        if not files:
            yield [Skipped("defect", None, NOTHING)], None
        for file in files:
            name = text_of(file.name).removesuffix(".gz").removesuffix(".json")
            names = {name}
            items, measured = self._file(file, name)
            names.update(item.conversation_id for item in items if isinstance(item, Conversation))
            yield items, measured
            seen |= names
            if measured is not None and listed and listed.isdisjoint(names):
                yield [Skipped("defect", None, f"not in the index: {name}", name)], None
        for missing in [each for each in self._index if each not in seen]:
            yield [Skipped("skipped", None, f"missing simulation {missing}", missing)], None

    def _file(self, file: Path, name: str) -> _Taken:
        """Return what the simulation becomes that has a file of its own, and keep nothing else of it."""
        what = f"{SIMULATIONS}/{text_of(file.name)}"
        try:
            return self._taken(read_whole(file, "line_mib"), what, name)
        except BrokenInput as problem:
            return [Skipped("skipped", None, f"{what}: {problem.reason}", name)], None

    def _taken(self, data: bytes, what: str, name: str | None = None) -> _Taken:
        """Return a simulation with its call and the verdicts on it, or why it is left out."""
        misfits: dict[str, None] = {}
        try:
            simulation = record_of(data, Simulation, misfits.setdefault)
            if simulation.id is None:
                simulation.id = name
            task = self._tasks.get(str(simulation.task_id))
            read = conversation_of(self.run, task, simulation, self._segments)
        except BrokenInput as problem:
            return [Skipped("skipped", None, f"{what}: {problem.reason}", name)], None
        call = read.conversation
        notes = [
            Skipped("defect", None, f"{part} does not fit and is left out", call.conversation_id) for part in misfits
        ]
        notes += [Skipped("mismatch", None, reason, call.conversation_id) for reason in read.mismatches]
        if simulation.trial is not None and call.scenario is not None:
            self._trials.setdefault((call.scenario, simulation.trial), []).append(call.conversation_id)
        return [call, *notes, *judged(read, simulation, self._lines)], is_measured(simulation)

    def _misfit(self, what: str) -> Callable[[str], None]:
        return lambda part: self._notes.append(Skipped("defect", None, f"{what}: {part} does not fit and is left out"))

    def _noted(self) -> list[Item]:
        notes, self._notes = self._notes, []
        return notes


# Find what belongs to the results of a run beside the file itself, and what is there and is not a part of them.
SIMULATIONS, ARTIFACTS, DISCARDED = "simulations", "artifacts", "hallucination_discarded"

_RESULTS = ("results.json", "results.json.gz")
_READ = (".json", ".json.gz")
_DEEPEST = 5
"""The levels below a run's folder at which the files of its calls may lie."""


def simulation_files(results: Path) -> list[Path]:
    """Return the files beside results that have a simulation each, by name; none if results have them themselves."""
    folder = results.parent / SIMULATIONS
    if results.name not in _RESULTS or folder.is_symlink() or not folder.is_dir() or lists_simulations(results):
        return []
    try:
        names = sorted(os.listdir(folder), key=os.fsencode)
    except OSError:
        return []
    files = (folder / name for name in names if name.endswith(_READ) and not name.startswith("."))
    return [file for file in files if file.is_file() and not file.is_symlink()]


def lists_simulations(results: Path) -> bool:
    """Return whether results have at least one simulation themselves."""
    try:
        found = next(read_members(results, lists=(SIMULATIONS,)), None)
    except BrokenInput:
        return False
    return isinstance(found, str) or (found is not None and found.place is not None)


def digest_of_results(results: Path) -> tuple[str, int]:
    """Return what represents results with the files of their simulations, and the bytes of all of them.

    Raises `BrokenInput` if the results cannot be read.
    """
    content, size = digest(results)
    files = simulation_files(results)
    return digest_of_all(files, content.encode(), size) if files else (content, size)


def is_of_a_run(path: Path) -> bool:
    """Return whether a file is where a run keeps its simulations, or what was recorded of them."""
    parents = [Path(os.path.abspath(path)).parent]
    while len(parents) < _DEEPEST:
        parents.append(parents[-1].parent)
    if parents[0].name == SIMULATIONS and _has_results(parents[1]):
        return True
    return any(folder.name == ARTIFACTS and _has_results(folder.parent) for folder in parents)


@lru_cache(maxsize=64)
def _has_results(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _RESULTS)
