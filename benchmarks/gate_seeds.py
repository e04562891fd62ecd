"""How often the gate cries wolf, and how often it finds a planted regression: simulate, ingest and gate, seed by seed.

usage: python -m benchmarks.gate_seeds [--seeds N] [--conversations N] [--weaken FLOW=SHARE]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from riff_tui.cli import run
from riff_tui.errors import ExitCode


def main() -> int:
    """Gate one pair of runs per seed through the commands themselves, and report how it went."""
    asked = _arguments().parse_args()
    passed, exact = 0, 0
    with TemporaryDirectory(prefix="gate-") as folder:
        for seed in range(asked.seeds):
            code, said = _gated(Path(folder) / str(seed), seed, asked.conversations, asked.weaken)
            passed += code == ExitCode.OK
            exact += code == ExitCode.GATE_FAILED and _named(said) == {(asked.weaken or "").partition("=")[0]}
            if code == ExitCode.GATE_FAILED:
                print(f"seed {seed}: {said}", file=sys.stderr)
            elif code != ExitCode.OK:
                raise SystemExit(f"seed {seed}: exit {code}: {said}")
    print(f"{asked.seeds} pairs of runs of {asked.conversations} calls, weakened by {asked.weaken or 'nothing'}:")
    print(f"{passed} passed, {asked.seeds - passed} failed, {exact} of these for the weakened flow alone")
    return 0


def _gated(folder: Path, seed: int, conversations: int, weaken: str | None) -> tuple[int, str]:
    """The exit code of the gate on two runs with seeds of their own, and what it said on stderr."""
    files, store = str(folder / "runs"), str(folder / "gate.db")
    sized = ("--out", files, "--conversations", str(conversations))
    _quietly("simulate", *sized, "--run", "baseline", "--seed", str(2 * seed))
    _quietly(
        "simulate", *sized, "--run", "candidate", "--seed", str(2 * seed + 1), *(("--weaken", weaken) if weaken else ())
    )
    _quietly("ingest", files, "--no-text", "--store", store)
    return _quietly("gate", "--baseline", "baseline", "--candidate", "candidate", "--store", store)


def _quietly(*arguments: str) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = run(arguments)
    return code, said.getvalue().strip()


def _named(said: str) -> set[str]:
    """The flows that the last line names."""
    told = said.partition("gate failed: ")[2].rpartition("; ")[0]
    return {part.partition(" (")[0] for part in told.split("; ")}


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate_seeds", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--conversations", type=int, default=640, help="of each run")
    parser.add_argument("--weaken", metavar="FLOW=SHARE")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
