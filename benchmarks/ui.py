"""The explorer against its budgets, on a pseudo-terminal of 120 × 36 cells: what it waits for, sends and holds."""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from benchmarks.load import AGENTS, Load, transcript_file
from benchmarks.ours import ingest_file
from benchmarks.processes import riff_tui, take
from benchmarks.ratio import Goal, Ratio, in_turns
from benchmarks.sizes import Sizes
from riff_tui.tui.render.styled_lines import Fuzzy
from tests.support.pty_terminal import Terminal

WIDTH, HEIGHT = 120, 36
MOVES, PAGES, LETTERS = 20, 6, "2137"
LISTED = 10_000
NAMES = 5_000
PREVIEWED = "triage"
"""A state that is named in previews alone."""
HELD = 200
WALK, SETTLED = 500, 200
KEYS = [*"jkhl0123456789gGVYX%TCM#BDFUnNebEvsOL", " ", "\r", "\r", "\r", "\x1b", "\x7f"]
"""Keys that move, sort and lead from view to view, and that write nothing."""
_BUDGET = Goal("<=", 1.0)
_EXPLORE = ("-c", "from riff_tui.cli import main; main()", "ui", "--fresh", "--store")
_BARE = (
    "-c",
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Bare(App):\n"
    "    def compose(self):\n"
    "        yield Static('it is here')\n"
    "Bare().run()\n",
)


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Measure what the explorer promises; the other side of each ratio is the budget."""
    many, wide = folder / "ui.db", folder / "wide.db"
    for store in (many, wide):
        store.unlink(missing_ok=True)
    ingest_file(transcript_file(folder, sizes.many), many, with_text=False)
    ingest_file(_wide_file(folder), wide, with_text=False)
    yield from _start(many, sizes)
    with explorer(wide) as terminal:
        yield from _bytes(terminal)
    with explorer(many) as terminal:
        yield _resting(terminal)
    with explorer(wide) as terminal:
        yield _against("filter keystroke", _keystroke(terminal), 0.050, "s", f"{LISTED:,} rows, median")
    yield _against("a letter typed into a list of names", _fuzzy(), 0.100, "s", f"{NAMES:,} names, the slowest of 5")
    yield from _table(folder)
    with explorer(many) as terminal:
        for keys in ("j\r", "3", "\r", "\r", "0", "4", "G"):
            terminal.press(keys)
        held = _resident(terminal.pid)
    yield _against("resident memory after a walk", held, 120 * 2**20, "B", f"{sizes.many:,} conversations")
    with explorer(many) as terminal:
        yield _held(terminal)
    yield from _random_walk(folder)
    many.unlink()
    wide.unlink()


def _against(what: str, ours: float, budget: float, unit: str, note: str) -> Ratio:
    return Ratio(f"{what} ÷ its budget", ours, budget, unit, _BUDGET, note)


def _start(store: Path, sizes: Sizes) -> Iterator[Ratio]:
    ours, bare = in_turns(
        partial(_until, [*_EXPLORE, str(store)], "flow_"),
        partial(_until, list(_BARE), "it is here"),
        rounds=sizes.rounds * 2,
    )
    note = f"{sizes.many:,} conversations"
    yield _against("start to first rows", ours, 0.6, "s", note)
    beside = "start to first rows ÷ a Textual application that shows a word"
    yield Ratio(beside, ours, bare, "s", Goal("<=", 2.0), note)
    shown = statistics.median(_until([*_EXPLORE, str(store)], PREVIEWED) for _ in range(sizes.rounds))
    yield _against("start to first rows and the preview of the first", shown, 0.6, "s", note)


def _until(arguments: list[str], seen: str) -> float:
    """Seconds from the start of a program until a word of it can be seen."""
    begin = time.perf_counter()
    with Terminal(arguments, width=WIDTH, height=HEIGHT, cold=True) as terminal:
        terminal.wait_for(seen)
        return time.perf_counter() - begin


@contextmanager
def explorer(store: Path) -> Iterator[Terminal]:
    """An explorer with its first rows, as a program that starts again."""
    with Terminal([*_EXPLORE, str(store)], width=WIDTH, height=HEIGHT, cold=True) as terminal:
        terminal.wait_for("? help")
        terminal.take()
        yield terminal


def _bytes(terminal: Terminal) -> Iterator[Ratio]:
    """The dearest move, in the middle of the screen and where it scrolls, and the dearest page, without a preview."""
    terminal.press("p")
    terminal.press("j" * 25)
    moves = max(len(terminal.press("j", quiet=0.1)) for _ in range(MOVES))
    pages = max(len(terminal.press(" ")) for _ in range(PAGES))
    size = f"{WIDTH} × {HEIGHT}"
    yield _against("bytes of a cursor move", moves, 700, "bytes", f"the most of {MOVES}, {size}")
    yield _against("bytes of a page", pages, 9_000, "bytes", f"the most of {PAGES}, {size}")


def _resting(terminal: Terminal) -> Ratio:
    """The dearest move after which the cursor rests, so that the preview follows; it may send what a page may."""
    terminal.wait_for(PREVIEWED)
    moves = max(len(terminal.press("j", quiet=0.5)) for _ in range(MOVES))
    return _against("bytes of a move and the preview that follows", moves, 9_000, "bytes", f"the most of {MOVES}")


def _keystroke(terminal: Terminal) -> float:
    """Seconds from a letter in the filter prompt until it is said how many rows match."""
    terminal.press("/")
    taken = [_answered(terminal, letter) for letter in LETTERS]
    return statistics.median(taken)


def _answered(terminal: Terminal, letter: str) -> float:
    before = _matching(terminal)
    begin = time.perf_counter()
    terminal.send(letter)
    terminal.wait(lambda: _matching(terminal) not in ("", before))
    return time.perf_counter() - begin


def _matching(terminal: Terminal) -> str:
    """How many rows it shows that a filter leaves."""
    found = re.search(r"([0-9,]+) of [0-9,]+ flows match", terminal.text)
    return found[1] if found else ""


def _fuzzy() -> float:
    """Return the seconds of processor time that the slowest letter takes in the list of a picker."""
    parts = ("apartment", "scheduler", "property", "trouble", "ticket", "dental", "clinic", "plumbing")
    fuzzy = Fuzzy([f"{parts[i % 8]}_{parts[i // 8 % 8]}_{parts[i // 64 % 8]}_{i}" for i in range(NAMES)])
    taken = []
    for query in ("p", "pt", "ptc", "ptc4", "dental ti"):
        begin = time.thread_time()
        fuzzy.find(query)
        taken.append(time.thread_time() - begin)
    return max(taken)


def _table(folder: Path) -> Iterator[Ratio]:
    """A table of many rows in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.many_rows"]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    note = f"{found['rows']:,} rows"
    yield _against("rows into a table", found["seconds"], 0.1, "s", note)
    yield _against("memory of a table beside its rows", max(1, found["bytes"]), 80 * 2**20, "B", note)


def _held(terminal: Terminal) -> Ratio:
    """The processor time that a key takes that is kept down in a list of calls."""
    terminal.press("4")
    before = used(terminal.pid)
    for _ in range(HELD):
        terminal.press("j", quiet=0.02)
    terminal.take()
    taken = (used(terminal.pid) - before) / HELD
    return _against("processor time of a held key in conversations", taken, 0.005, "s", f"the mean of {HELD}")


def _random_walk(folder: Path) -> Iterator[Ratio]:
    """What is kept after random keys on the demo, and by how much more than after the first of them."""
    made = folder / "demo"
    take(riff_tui("demo", "--out", str(made)))
    draw, held = random.Random(1), []
    with explorer(made / "demo.db") as terminal:
        for number in range(WALK):
            terminal.press(draw.choice(KEYS), quiet=0.02)
            if number + 1 in (SETTLED, WALK):
                terminal.take()
                held.append(_resident(terminal.pid))
    first, last = held
    note = f"{WALK} keys on the demo"
    yield _against("resident memory after random keys", last, 90 * 2**20, "B", note)
    yield Ratio(f"the same ÷ after {SETTLED} keys", last, first, "B", Goal("<=", 1.02), note)


def used(process: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def _wide_file(folder: Path) -> Path:
    """A call for each row of a flow matrix that has many."""
    path = folder / "flow-transcripts-wide.jsonl"
    if not path.exists():
        with path.open("wb") as out:
            for number, line in enumerate(Load(2).lines(LISTED)):
                call = msgspec.json.decode(line)
                call |= {"flow": f"flow_{number // len(AGENTS):04}", "agent_model": AGENTS[number % len(AGENTS)]}
                out.write(msgspec.json.encode(call | {"errored": False}) + b"\n")
    return path
