"""A dump as a whole process, beside sqlite-utils printing the same cells from its own environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.load import transcript_file
from benchmarks.ours import ingest_file
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes

PEER = Path(__file__).parent.parent / ".bench" / "peers" / "bin" / "sqlite-utils"

_CELLS = """
SELECT flow.name AS flow, agent.name AS agent, aspect.name AS aspect, judge.name AS judge, total.n AS n,
       total.total / 1e9 / total.n AS mean
FROM aspect_total AS total
JOIN flow ON flow.id = total.flow_id JOIN agent ON agent.id = total.agent_id
JOIN aspect ON aspect.id = total.aspect_id JOIN judge ON judge.id = total.judge_id
ORDER BY flow, agent, aspect, judge
"""


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Both print every (flow, agent) cell of the same store as CSV; our JSON has intervals and more besides."""
    store = folder / "dump.db"
    store.unlink(missing_ok=True)
    ingest_file(transcript_file(folder, sizes.few), store, with_text=False)
    program = str(Path(sys.executable).parent / "riff-tui")
    ours = [program, "dump", "flows", "--format", "csv", "--store", str(store)]
    theirs = [str(PEER), "query", str(store), _CELLS, "--csv"]
    bare = [sys.executable, "-c", "pass"]
    commands = [ours, theirs, bare, [program, "--version"], [program, "--help"]]
    dump, query, python, version, help_page = in_turns(
        *(partial(_seconds, command) for command in commands), rounds=sizes.rounds * 3
    )
    note = "whole processes"
    yield Ratio("dump flows ÷ sqlite-utils query of the same cells", dump, query, "s", Goal("<=", 0.8), note)
    nothing = "÷ a Python that does nothing"
    yield Ratio(f"dump flows {nothing}", dump, python, "s", Goal("<=", 9.0), note)
    for asked, taken in (("--version", version), ("--help", help_page)):
        yield Ratio(f"{asked} {nothing}", taken, python, "s", Goal("<=", 6.0), note)
    store.unlink()


def _seconds(command: Sequence[str]) -> float:
    """How long a command takes that may keep its bytecode, as installed ones do; without it compiling is measured."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with timed() as watch:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return watch.seconds
