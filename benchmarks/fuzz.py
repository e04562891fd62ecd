"""Fuzz the targets of tests/support/fuzzing for as long as one likes; what is found is kept in .bench/fuzz.

usage: python -m benchmarks.fuzz TARGET... --seconds N [--plain]

Coverage guides the mutations where atheris is installed (`pip install atheris`), up to the first finding of a target.
Without it, or with `--plain`, they are drawn at random, which finds less, and goes on after each finding.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

KEPT = Path(__file__).parent.parent / ".bench" / "fuzz"
OURS = ("riff_ingest", "riff_store", "riff_tui")
_RUNS = re.compile(r"(?:Done |#)(\d+)(?: runs|\s)")
_FINDING = re.compile(r"^finding: (.*)$", re.MULTILINE)
_MEMORY = Path("/dev/shm")


class Fuzzed(NamedTuple):
    """Describe what came of a target: how often it ran, and each thing that was found once."""

    runs: int
    findings: list[str]


def main() -> int:
    """Fuzz one target after the other, each in a process of its own; return 1 where something was found."""
    asked = _arguments().parse_args()
    guided = not asked.plain and importlib.util.find_spec("atheris") is not None
    if asked.alone:
        (_guided if guided else _plain)(asked.targets[0], asked.seconds, asked.seed)
        return 0
    if not guided and not asked.plain:
        print("atheris is not installed (pip install atheris): mutations are drawn at random", file=sys.stderr)
    names = _names(asked.targets)
    print("| target | runs | found |\n|---|---|---|", flush=True)
    found = 0
    for name in names:
        fuzzed = _in_process(name, asked.seconds / len(names), asked.seed, plain=not guided)
        found += len(fuzzed.findings)
        print(f"| {name} | {fuzzed.runs:,} | {'; '.join(fuzzed.findings) or 'nothing'} |", flush=True)
    return int(found > 0)


def _names(asked: list[str]) -> list[str]:
    from tests.support.fuzzing import TARGETS

    unknown = [name for name in asked if name not in TARGETS and name != "all"]
    if unknown:
        raise SystemExit(f"there is no target {unknown[0]}; there are {', '.join(TARGETS)}, or all of them: all")
    return list(TARGETS) if "all" in asked else asked


def _in_process(name: str, seconds: float, seed: int, *, plain: bool) -> Fuzzed:
    argv = [sys.executable, "-m", "benchmarks.fuzz", name, "--alone", "--seconds", f"{seconds:g}", "--seed", str(seed)]
    done = subprocess.run(
        [*argv, *(["--plain"] if plain else [])], capture_output=True, encoding="utf-8", errors="replace"
    )
    said = done.stdout + done.stderr
    runs = [int(count) for count in _RUNS.findall(said)]
    findings = _FINDING.findall(said)
    if done.returncode and not findings:
        findings = [(said.strip().splitlines() or ["it ended"])[-1][:200]]
    return Fuzzed(runs[-1] if runs else 0, findings)


def _guided(name: str, seconds: float, seed: int) -> None:
    """Let atheris choose what is tried; it ends the process, at the first finding or after the time."""
    import atheris

    with atheris.instrument_imports(include=OURS):
        from tests.support.fuzzing import TARGETS

    target = TARGETS[name]
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder, TemporaryDirectory() as corpus:
        for place, data in enumerate(target.corpus()):
            (Path(corpus) / f"{place}").write_bytes(data)
        work, kept = Path(folder), _kept(name)

        def run(data: bytes) -> None:
            try:
                target.run(data, work)
            except BaseException as error:
                _tell(error)
                raise

        options = [f"-max_total_time={seconds:.0f}", f"-seed={seed}", f"-artifact_prefix={kept}/", "-max_len=65536"]
        atheris.Setup([sys.argv[0], *options, corpus], run)
        atheris.Fuzz()


def _plain(name: str, seconds: float, seed: int) -> None:
    from tests.support.fuzzing import TARGETS
    from tests.support.fuzzing.mutation import mutated

    target, random = TARGETS[name], Random(seed)
    corpus, known, runs = target.corpus(), set[str](), 0
    end = time.monotonic() + seconds
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        while time.monotonic() < end:
            data = mutated(corpus, random)
            runs += 1
            try:
                target.run(data, Path(folder))
            except Exception as error:
                if (place := _place(error)) not in known:
                    known.add(place)
                    (_kept(name) / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
                    _tell(error)
    print(f"Done {runs} runs", flush=True)


def _tell(error: BaseException) -> None:
    print(f"finding: {_place(error)}", flush=True)
    traceback.print_exception(error)


def _place(error: BaseException) -> str:
    """Return what was raised and where, which distinguishes findings."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next((frame for frame in reversed(frames) if any(name in frame.filename for name in OURS)), frames[-1])
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


def _kept(name: str) -> Path:
    path = KEPT / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description="Fuzz readers, filters and wires.")
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="a name of tests/support/fuzzing, or all")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N", help="for all targets together")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what mutations follow from")
    parser.add_argument("--plain", action="store_true", help="draw mutations at random, without atheris")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
