"""What grows beside calls: flows, agents, runs, states, judges, personas, turns, files; whole processes, by their CPU.

The other side is the same question of a store in which nothing grew, or a budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.load import RUNS, Load, Shape, run_name, score_lines, transcript_file
from benchmarks.ours import ingest_paths
from benchmarks.processes import riff_tui, take
from benchmarks.ratio import Goal, Job, Ratio, in_turns
from benchmarks.sizes import Sizes
from benchmarks.ui import explorer, used

GROWN = {
    "flows": Shape(flows=2_000),
    "agents": Shape(agents=500),
    "runs": Shape(runs=10_000),
    "states": Shape(states=500),
    "judges": Shape(judges=30),
    "personas": Shape(personas=2_000),
}
PAGE = ("--limit", "20")
ASKED: dict[str, Sequence[tuple[Sequence[str], float | None]]] = {
    "flows": [
        (("dump", "worklist"), None), (("dump", "flows", *PAGE), None), (("dump", "segments", *PAGE), None),
        (("dump", "states", "--where", "flow=flow_07"), None), (("dump", "coverage", *PAGE), None),
    ],
    "agents": [(("dump", "worklist"), None), (("dump", "flows", *PAGE), None)],
    "runs": [
        (("dump", "conversation", "--where", "conversation=c-0000007"), 0.4), (("dump", "runs", *PAGE), 0.3),
        (("dump", "timeline", *PAGE), 0.3), (("dump", "states", "--by", "run", *PAGE), 2.0),
        (("dump", "repeats", "--by", "run", *PAGE), 2.0), (("doctor",), 20.0), (("doctor", "--quick"), 2.0),
    ],
    "states": [(("dump", "worklist"), 0.6), (("dump", "states", *PAGE), None)],
    "judges": [(("dump", "judges"), 0.7), (("dump", "agreement"), 0.7)],
    "personas": [(("dump", "flows", "--where", "persona=chatty"), None)],
}  # fmt: skip
"""What is asked of each store, with the seconds that it may take; else it is held against the store without growth."""
TO_START, TO_SORT = 1.0, 0.15
LONG, PEAK = Shape(exchanges=300), 150 * 2**20
FILES = 1_000


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios for what grows, of stores of twice `sizes.few` calls."""
    calls = 2 * sizes.few
    plain = _store(folder, "plain", Shape(), calls)
    for name, shape in GROWN.items():
        store, size = _store(folder, name, shape, calls), getattr(shape, name)
        for asked, budget in ASKED[name]:
            jobs: list[Job] = [partial(_cpu, store, asked)]
            jobs += [] if budget else [partial(_cpu, plain, asked)]
            ours, *others = in_turns(*jobs, rounds=min(3, sizes.rounds))
            against = "its budget" if budget else f"the same with {getattr(Shape(), name):,}"
            what = f"`{' '.join(asked)}`, {size:,} {name} ÷ {against}"
            yield Ratio(what, ours, budget or others[0], "s", Goal("<=", 1.0) if budget else None)
        if name in ("flows", "agents"):
            yield from _explored(store, f"{size:,} {name}")
        store.unlink()
    yield _long_calls(folder, sizes.few // 100)
    yield _many_files(folder, sizes)
    plain.unlink()


def _store(folder: Path, name: str, shape: Shape, calls: int) -> Path:
    """A store of so many calls of a shape and, where judges grow, of what each of them says."""
    store = folder / f"grown-{name}.db"
    store.unlink(missing_ok=True)
    paths = [transcript_file(folder, calls, shape=shape)]
    if name == "judges":
        paths.append(folder / "grown-scores.jsonl")
        with paths[1].open("wb") as out:
            for night in range(RUNS):
                out.writelines(line + b"\n" for line in score_lines(night, calls // RUNS, shape.judges))
    ingest_paths(paths, store, with_text=False)
    return store


def _cpu(store: Path, asked: Sequence[str]) -> float:
    return take(riff_tui(*asked, "--store", str(store))).cpu


def _explored(store: Path, note: str) -> Iterator[Ratio]:
    """The explorer's processor time until it is at rest with its first rows, and for one sort of them."""
    with explorer(store) as terminal:
        terminal.take(quiet=2.0)
        started = used(terminal.pid)
        terminal.press("s", quiet=2.0)
        sorted_by = used(terminal.pid) - started
    budget = Goal("<=", 1.0)
    yield Ratio(f"start of the explorer, {note} ÷ its budget", started, TO_START, "s", budget)
    yield Ratio(f"one sort in the explorer, {note} ÷ its budget", max(sorted_by, 0.01), TO_SORT, "s", budget)


def _long_calls(folder: Path, calls: int) -> Ratio:
    """The most memory that an ingest of long calls holds."""
    store = folder / "long.db"
    store.unlink(missing_ok=True)
    found = take(riff_tui("ingest", "--jobs", "1", "--store", str(store), str(transcript_file(folder, calls, 1, LONG))))
    store.unlink()
    return Ratio("peak memory of an ingest of long calls ÷ its bound", found.peak, PEAK, "B", Goal("<=", 1.0))


def _many_files(folder: Path, sizes: Sizes) -> Ratio:
    """What many small files cost beside one file of the same calls."""
    many = folder / "many-files"
    lines = list(Load(1).lines(2 * FILES))
    for at in range(FILES):
        path = many / run_name(at) / "flow-transcripts.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in lines[2 * at : 2 * at + 2]))
    one = transcript_file(folder, 2 * FILES)
    apart, together = in_turns(
        partial(_ingested, folder, many), partial(_ingested, folder, one), rounds=min(3, sizes.rounds)
    )
    return Ratio(
        f"ingest of {FILES:,} files ÷ one of the same calls", apart, together, "s", note=f"{2 * FILES:,} calls"
    )


def _ingested(folder: Path, path: Path) -> float:
    store = folder / "files.db"
    store.unlink(missing_ok=True)
    return take(riff_tui("ingest", "--jobs", "1", "--no-text", "--store", str(store), str(path))).cpu
