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
    ours = [str(Path(sys.executable).parent / "riff-tui"), "dump", "flows", "--format", "csv", "--store", str(store)]
    theirs = [str(PEER), "query", str(store), _CELLS, "--csv"]
    bare = [sys.executable, "-c", "pass"]
    dump, query, python = in_turns(
        partial(_seconds, ours), partial(_seconds, theirs), partial(_seconds, bare), rounds=sizes.rounds * 3
    )
    yield Ratio(
        "dump flows ÷ sqlite-utils query of the same cells", dump, query, "s", Goal("<=", 1.0), "whole processes"
    )
    yield Ratio("dump flows ÷ a Python that does nothing", dump, python, "s", note="whole processes")
    store.unlink()


def _seconds(command: Sequence[str]) -> float:
    """How long a command takes that may keep its bytecode, as installed ones do; without it compiling is measured."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with timed() as watch:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return watch.seconds
