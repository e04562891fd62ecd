"""End every command by every signal at many moments of its life, and tabulate how it ended and what it left.

usage: python -m benchmarks.signals [--only NAME,NAME] [--signals INT,TERM,HUP] [--step MS] [--most MS] [--group]

Nobody handles a signal before the interpreter has started; ends of that kind are told with the latest moment of one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.processes import riff_tui
from riff_runner.simulate.suite import simulate
from riff_tui.cli import run
from riff_tui.errors import ExitCode

LONGEST_S = 30.0
"""A command that has not ended so long after it was told to hangs."""
_JUDGE = "import sys, time; sys.stdin.read(); time.sleep(60)"
_AGENT = "import sys, time; sys.stdin.readline(); time.sleep(60)"
_SETTINGS = f'[judges.slow]\nkind = "command"\nargv = ["{sys.executable}", "-c", "{_JUDGE}"]\n'
_AT_ONCE = {"run", "judge"}
"""Commands that let what is under way come to its end; they are told twice."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Describe what commands are given: calls of many flows, the store that they make, and a run that goes on."""

    calls: Path
    store: Path
    settings: Path
    made: Path


@dataclass(slots=True)
class Ends:
    """Count how a command ended by one signal, and what it left."""

    codes: Counter[str] = field(default_factory=Counter)
    latest_raw_ms: int | None = None
    faults: list[str] = field(default_factory=list)


def commands(inputs: Inputs) -> Mapping[str, Sequence[str]]:
    """Return the commands by name; each is run in a new directory."""
    calls, store = str(inputs.calls), str(inputs.store)
    slow = f"command:{sys.executable} -c '{_AGENT}'"
    return {
        "ingest": ("ingest", calls, "--store", "calls.db"),
        "ingest --jobs": ("ingest", calls, "--store", "calls.db", "--jobs", "2"),
        "dump": ("dump", "worklist", "--store", store),
        "export": ("export", "--store", store, "-o", "scores.csv"),
        "copy": ("copy", store, "copied.db"),
        "gate": ("gate", "--store", store, "--baseline", "previous", "--candidate", "latest", "--junit", "gate.xml"),
        "doctor": ("doctor", "--store", store),
        "run": ("run", "--flows", "apartment_viewing", "--agent", slow, "--out", "made"),
        "judge": ("judge", calls, "--judge", "slow", "--out", "scores"),
        "watch": ("watch", "--run", str(inputs.made)),
        "serve": ("serve", "--no-open", "--store", store),
        "ui": ("ui", "--fresh", "--store", store),
    }


def main() -> int:
    """Print a table as it grows; return 1 where a command ended otherwise than by the signal, or left something."""
    chosen = _arguments().parse_args()
    numbers = [signal.Signals[f"SIG{name}"] for name in chosen.signals.split(",")]
    failed = False
    for number in numbers:  # what is ignored here would be in every command, as it is in jobs in the background
        signal.signal(number, signal.SIG_DFL)
    with TemporaryDirectory(prefix="signals-") as folder:
        inputs = _inputs(Path(folder))
        every = commands(inputs)
        print("| command | signal | tried | ended by it | before it had begun | else | faults |")
        print("|---|---|--:|--:|---|---|--:|")
        for name in chosen.only.split(",") if chosen.only else every:
            for number in numbers:
                moments = range(0, chosen.most, chosen.step)
                ends = _swept(Path(folder), inputs, name, every[name], number, moments, group=chosen.group)
                print(_line(name, number, len(moments), ends), flush=True)
                for fault in ends.faults:
                    print(f"  {fault}", file=sys.stderr, flush=True)
                failed = failed or bool(ends.faults)
    return int(failed)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.signals", description=__doc__)
    parser.add_argument("--only", default="", metavar="NAME,NAME")
    parser.add_argument("--signals", default="INT,TERM,HUP")
    parser.add_argument("--step", type=int, default=20, metavar="MS")
    parser.add_argument("--most", type=int, default=1000, metavar="MS")
    parser.add_argument("--group", action="store_true", help="Tell all processes of its group, as a terminal does.")
    return parser


def _inputs(folder: Path) -> Inputs:
    inputs = Inputs(folder / "calls", folder / "calls.db", folder / "settings.toml", folder / "made")
    simulate(inputs.calls, conversations=1600, seed=11)
    inputs.settings.write_text(_SETTINGS, encoding="utf-8")
    code = run(["ingest", str(inputs.calls), "--store", str(inputs.store)])
    assert code == 0, f"the store was not made ({code})"
    # Every line of it is there, and it did not end: whoever watches waits for more.
    made = inputs.made
    run(["run", "--flows", "apartment_viewing", "--agent", f"command:{sys.executable} -c pass", "--out", str(made)])
    document = json.loads((made / "run.json").read_text())
    del document["invocations"][-1]["ended_at"], document["invocations"][-1]["ended"]
    document["invocations"][-1]["pid"] = os.getpid()
    (made / "run.json").write_text(json.dumps(document))
    return inputs


def _swept(
    folder: Path,
    inputs: Inputs,
    name: str,
    arguments: Sequence[str],
    number: signal.Signals,
    moments: Sequence[int],
    *,
    group: bool,
) -> Ends:
    ends = Ends()
    for moment in moments:
        work = folder / "work"
        work.mkdir()
        try:
            _try(work, inputs, name, arguments, number, moment, ends, group=group)
        finally:
            shutil.rmtree(work)
    return ends


def _try(
    work: Path,
    inputs: Inputs,
    name: str,
    arguments: Sequence[str],
    number: signal.Signals,
    moment: int,
    ends: Ends,
    *,
    group: bool,
) -> None:
    temporary = work / "temporary"
    temporary.mkdir()
    around = {**os.environ, "TMPDIR": str(temporary), "RIFF_TUI_CONFIG": str(inputs.settings), "TERM": "xterm"}
    around.pop("PYTHONDONTWRITEBYTECODE", None)
    at = f"{name}, {number.name} after {moment} ms"
    with _terminal(name == "ui") as terminal:
        process = subprocess.Popen(
            riff_tui(*arguments), cwd=work, env=around, start_new_session=True, stdin=terminal or subprocess.DEVNULL,
            stdout=terminal or subprocess.DEVNULL, stderr=terminal or (work / "said").open("wb"),
        )  # fmt: skip
        time.sleep(moment / 1000)
        code = _told(process, number, group=group, again=name in _AT_ONCE)
    said = (work / "said").read_bytes().decode() if (work / "said").exists() else ""
    if code is None:
        ends.codes["hangs"] += 1
        ends.faults.append(f"{at}: hangs; {said[-300:]}")
        return
    started = said.startswith("Traceback") and "riff_tui/" not in said  # so the interpreter reports its own start
    if code == -number or (code == 1 and started):
        ends.codes["raw"] += 1
        ends.latest_raw_ms = moment
        return
    ends.codes[str(code)] += 1
    if "Traceback" in said or "Exception ignored" in said or "Warning" in said:
        ends.faults.append(f"{at}: {code}, says {said[-1500:]}")
    if code not in (128 + number, ExitCode.OK, ExitCode.GATE_FAILED):
        ends.faults.append(f"{at}: ends with {code}; {said[-300:]}")
    if left := _processes(str(temporary)):
        ends.faults.append(f"{at}: {code}, leaves {left}")
        for process_id in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
    drafts = [path for path in work.rglob("*") if path.name.startswith(".") or path.is_relative_to(temporary / "x")]
    files = sorted(str(path.relative_to(work)) for path in [*drafts, *temporary.iterdir()])
    if files:
        ends.faults.append(f"{at}: {code}, leaves {files}")


def _told(process: subprocess.Popen[bytes], number: signal.Signals, *, group: bool, again: bool) -> int | None:
    ends_at = time.monotonic() + LONGEST_S
    while time.monotonic() < ends_at:
        with contextlib.suppress(ProcessLookupError):
            if group:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
        try:
            return process.wait(1.0 if again else LONGEST_S)
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.wait()
    return None


@contextlib.contextmanager
def _terminal(wanted: bool) -> Iterator[int | None]:
    """Yield the end of a terminal for a process to be drawn on, which is read and forgotten meanwhile."""
    if not wanted:
        yield None
        return
    import threading

    ours, theirs = pty.openpty()

    def drain() -> None:
        with contextlib.suppress(OSError):
            while os.read(ours, 65536):
                pass

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    try:
        yield theirs
    finally:
        os.close(theirs)
        reader.join(5)
        os.close(ours)


def _processes(mark: str) -> list[int]:
    """Return the processes in whose environment the mark is, once those that are ending had a moment."""
    for _ in range(50):
        found = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark.encode() in environ.read_bytes():
                    found.append(int(environ.parent.name))
        if not found:
            return []
        time.sleep(0.02)
    return found


def _line(name: str, number: signal.Signals, tried: int, ends: Ends) -> str:
    raw, ended = ends.codes.pop("raw", 0), ends.codes.pop(str(128 + number), 0)
    before = f"{raw}, until {ends.latest_raw_ms} ms" if raw else "–"
    others = ", ".join(f"{count} × {code}" for code, count in sorted(ends.codes.items())) or "–"
    return f"| {name} | {number.name} | {tried} | {ended} | {before} | {others} | {len(ends.faults)} |"


if __name__ == "__main__":
    sys.exit(main())
