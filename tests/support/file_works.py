"""Commands that write files, each of which is given again where it failed."""

from __future__ import annotations

import contextlib
import errno
import io
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import tiny_store, two_runs
from tests.support.earlier_schema import earlier_store, stepped
from tests.support.failing_files import file_faults
from tests.support.faults import NEVER, Fault
from tests.support.judged_calls import call, write_calls
from tests.surface.store import NO_ROOM
from tests.surface.tui import SUMMARY_VARIABLE, ExitCode, run

OLD = "what stood there before\n"
_OF_THE_MOMENT = ("run.json", "progress.jsonl")
_TIME = "2026-06-22T03:00:00Z"
_AGENT = """
def books(call, text):
    machine = call.machine
    state = call.flow.states[machine.state]
    for slot in state.required_slots:
        fact = call.case.facts.get(slot)
        machine.collect(slot, fact.value if fact else "none")
    way = state.forward
    machine.commit_transition(way if isinstance(way, str) else next(iter(way.values())))
    return f"Let us go on with {machine.state}."
"""


@dataclass(frozen=True)
class FileWork:
    """Describe a command that writes into the folder that it is run in.

    `whole` are files that are there before and are written again, whole or not at all; `grows` one that is only added
    to. `by_lines` are files of lines that are kept one by one: each of them is whole, in an order of its own.
    """

    name: str
    command: str
    whole: tuple[str, ...] = ()
    grows: str = ""
    by_lines: bool = False
    begin: Callable[[Path], object] = lambda folder: None

    def folder(self, place: Path) -> Path:
        """Make the folder that the command is run in."""
        place.mkdir()
        for name in (*self.whole, *filter(None, [self.grows])):
            (place / name).write_text(OLD, "utf-8")
        self.begin(place)
        return place

    def give(self, folder: Path) -> tuple[int, list[str]]:
        """Run the command; return its exit code and what it said on stderr."""
        said = io.StringIO()
        words = [word.replace("FOLDER", str(folder)) for word in shlex.split(self.command)]
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(said),
            pytest.MonkeyPatch.context() as patch,
            stepped(),
        ):
            if self.grows:
                patch.setenv(SUMMARY_VARIABLE, str(folder / self.grows))
            code = run(words)
        return code, said.getvalue().splitlines()


def file_works(inputs: Path) -> list[FileWork]:
    """Make what commands read in a folder, and return them; `judge` asks the endpoint of the settings."""
    tiny, two = tiny_store.build(_made(inputs / "tiny")), two_runs.build(inputs / "two.db")
    calls = write_calls(inputs / "calls" / "run-1", [call(number) for number in range(4)]).parent
    (inputs / "agent.py").write_text(_AGENT, "utf-8")
    passes = f"--baseline night-1 --candidate night-2 --max-drop success_rate=1 --max-drop completion=9 --store {two}"
    agent = f"--agent python:{inputs}/agent.py:books --flows apartment_viewing --trials 1 --scenarios all"
    one_call = "--where 'run=run-1 conversation=c-0004'"
    return [
        FileWork("dump", f"dump flows -o FOLDER/flows.csv --format csv --store {tiny}", ("flows.csv",)),
        FileWork("export", f"export -o FOLDER/calls.jsonl --store {tiny}", ("calls.jsonl",)),
        FileWork("parquet", f"export -o FOLDER/calls.parquet --store {tiny}", ("calls.parquet",)),
        FileWork("gate", f"gate --junit FOLDER/j.xml --summary-md FOLDER/m.md {passes}", ("j.xml", "m.md")),
        FileWork("step summary", f"gate --github {passes}", grows="summary.md"),
        FileWork("case", f"case -o FOLDER/case.toml {one_call} --store {tiny}", ("case.toml",)),
        FileWork("notes", f"notes export -o FOLDER/notes.csv --store {tiny}", ("notes.csv",)),
        FileWork("simulate", "simulate --out FOLDER --conversations 2 --run night --flows dental_clinic"),
        FileWork("run", f"run --out FOLDER/run --resume --clock {_TIME} {agent} --run-id night", by_lines=True),
        FileWork("judge", f"judge {calls} --judge played --out FOLDER --judged-at {_TIME}", by_lines=True),
        FileWork("ingest", f"ingest {calls} --store FOLDER/calls.db"),
        FileWork("copy", f"copy {tiny} FOLDER/copy.db"),
        FileWork("migrate", "doctor --migrate --store FOLDER/old.db", begin=lambda at: earlier_store(at / "old.db")),
    ]


def undisturbed_files(work: FileWork, folder: Path) -> tuple[int, dict[str, object]]:
    """Run a command without a fault; return how many writes it takes, and what is in the folder then."""
    fault = Fault(NEVER)
    work.folder(folder)
    with file_faults(fault, folder):
        code, said = work.give(folder)
    assert code == ExitCode.OK, said
    return fault.steps, files(folder, by_lines=work.by_lines)


def fail_write(work: FileWork, folder: Path, whole: dict[str, object], fault: Fault, number: int) -> None:
    """Let a write of a command fail, or be short, and check what is left of it."""
    what = f"{work.name}, write {fault.at}{' and all after it' * fault.lasting}: {errno.errorcode.get(number, 'short')}"
    assert_survived(work, folder, whole, file_faults(fault, folder, number), what, full=number in NO_ROOM)


def assert_survived(
    work: FileWork,
    folder: Path,
    whole: dict[str, object],
    fault: AbstractContextManager[None],
    what: str,
    *,
    full: bool,
) -> None:
    """Check that one sentence names a file and the reason, that nothing is there by half, and a second try is whole.

    A command that ends well in spite of a fault has to have written everything.
    """
    before = files(work.folder(folder), by_lines=work.by_lines)
    with fault:
        code, said = work.give(folder)
    found = files(folder, by_lines=work.by_lines)
    if code == ExitCode.OK:
        assert found == whole, what
        return
    (error,) = [line for line in said if line.startswith("riff-tui: error: ")]
    assert str(folder) in error, f"{what}: {error}"
    if full:
        assert (code, "disk full" in error) == (ExitCode.STORE, True), f"{what}: {error}"
    for name, content in found.items():
        some = isinstance(content, frozenset) and content <= whole[name]  # type: ignore[operator]  # sets as well
        assert some or content in (whole.get(name), before.get(name)), f"{what}: {name}"
    assert work.give(folder)[0] == ExitCode.OK, what
    assert files(folder, by_lines=work.by_lines) == whole, what


def files(folder: Path, *, by_lines: bool = False) -> dict[str, object]:
    """Return what is in the files of a folder, without what shows how and when they were made."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in _OF_THE_MOMENT]
    # What SQLite has not begun to use, or needs no more, tells nothing of the store beside it.
    paths = [path for path in paths if not path.name.endswith("-journal")]
    return {str(path.relative_to(folder)): _content(path, by_lines=by_lines) for path in paths}


def _content(path: Path, *, by_lines: bool) -> object:
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as connection:
            return list(connection.iterdump())
    return frozenset(path.read_bytes().splitlines(keepends=True)) if by_lines else path.read_bytes()


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
