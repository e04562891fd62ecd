"""Watch a run while its calls are made: the `watch` command."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

from riff_tui.commands import completion
from riff_tui.commands.options import (
    AsciiOption,
    StoreOption,
    apply_limits,
    flag,
    option,
    printed,
    settings_for,
    time_of,
)
from riff_tui.errors import UsageError, writing
from riff_tui.shapes import COUNT, FLAG, NUMBER, TEXT, TIME, list_of, numbers, or_null, record

if TYPE_CHECKING:
    from riff_runner.run.prices import Cost
    from riff_runner.run.status.run_status import RunStatus
    from riff_tui.output.streams import Output
    from riff_tui.watching.early_verdict import EarlyVerdict


EXAMPLES = (
    "riff-tui watch --run runs/nightly",
    "riff-tui watch --run runs/nightly --baseline nightly-06-21 --store nightly.db",
    "riff-tui watch --run runs/nightly --json --since 2026-06-22T03:10:00Z",
)
LOOK_S = 1.0
_LISTED = 100
_COUNTS = dict.fromkeys(("done", "completed", "errored", "caller_failed", "retried", "running", "retrying"), COUNT)
_SIDE = or_null(record({"model": TEXT, **dict.fromkeys(("input", "output"), or_null(COUNT))}))
_CHECK = record(
    {
        **dict.fromkeys(("flow", "aspect", "check"), TEXT),
        "judge": or_null(TEXT),
        **dict.fromkeys(("n_before", "n"), COUNT),
        **numbers(("before", "after", "change", "p_adjusted")),
        "interval": or_null(list_of(NUMBER)),
    }
)
_CALL = record(
    {
        **dict.fromkeys(("conversation_id", "flow"), TEXT),
        "status": {"enum": ["running", "retrying", "done", "errored", "dropped"]},
        **dict.fromkeys(("state", "why"), or_null(TEXT)),
        "turn": or_null(COUNT),
        "idle_s": or_null(NUMBER),
        "completed": or_null(FLAG),
        "last": or_null(record({"role": TEXT, "text": TEXT})),
    },
    ("last",),
)
JSON = printed(
    {
        "as_of": TIME,
        **dict.fromkeys(("run", "agent", "caller"), TEXT),
        "phase": {"enum": ["running", "ended", "stopped"]},
        **dict.fromkeys(("ending", "currency"), or_null(TEXT)),
        "counts": record({"planned": COUNT, **_COUNTS, "left": COUNT}),
        "reasons": list_of(record({"error": TEXT, "calls": COUNT})),
        **numbers(("rate_per_min", "eta_s", "cost")),
        "tokens": record({"agent": _SIDE, "caller": _SIDE}),
        "flows": list_of(record({"flow": TEXT, **_COUNTS})),
        "calls": list_of(_CALL),
        "truncated": FLAG,
        "early_verdict": or_null(
            record(
                {
                    "so_far": FLAG,
                    "baseline": TEXT,
                    **dict.fromkeys(("min_n", "checks", "too_few"), COUNT),
                    **dict.fromkeys(("worse", "below_floor"), list_of(_CHECK)),
                }
            )
        ),
    }
)


BaselineOption = Annotated[
    str | None, option("--baseline", "RUN", "The run to compare with so far; else the one before it.", completion.runs)
]
SinceOption = Annotated[str | None, option("--since", "T", "List only calls that changed after this time (as_of).")]


def watch(
    run: Annotated[
        str, option("--run", "R", "A run's directory, or the id of a run in the store, or latest.", completion.runs)
    ],
    json: Annotated[bool, flag("--json", "Print JSON: one object, with --follow one a line.")] = False,
    since: SinceOption = None,
    text: Annotated[bool, flag("--text", "Show the last words of calls that are over as well.")] = False,
    baseline: BaselineOption = None,
    follow: Annotated[
        bool | None, flag("--follow/--once", "Go on until the run ends, or look once; else by the terminal.")
    ] = None,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
) -> None:
    """Watch a run while its calls are made.

    Calls that run or are tried again, what came of the others flow by flow, and what a gate would say so far. On a
    terminal it stays up to date until the run ends or q is pressed.
    """
    from riff_tui.output.streams import standard_output
    from riff_tui.settings import store_location

    settings = settings_for(store, ascii=ascii_only)
    apply_limits()
    after = None if since is None else time_of("--since", since) / 1_000_000
    location = store_location(settings)
    watched = _Watched(_directory(run, location), location, baseline, asked=store is not None, text=text, since=after)
    out = standard_output(ascii_only=bool(settings.ascii))
    if json:
        _print_json(watched, out, follow=follow is True)
    elif follow if follow is not None else out.width is not None:
        _follow(watched, out)
    else:
        watched.look()
        _print_lines(watched.lines(out.width, None, ascii_only=out.ascii_only), out)


class _Watched:
    """Look at a run again and again, and print what the last look found."""

    status: RunStatus
    verdict: EarlyVerdict
    cost: Cost | None

    def __init__(
        self, directory: Path, location: str, baseline: str | None, *, asked: bool, text: bool, since: float | None
    ) -> None:
        from riff_runner.run.prices import model_prices
        from riff_runner.run.status.run_reader import RunReader
        from riff_tui import settings
        from riff_tui.watching.early_verdict import EarlyVerdicts

        self._reader = RunReader(directory)
        self._prices = model_prices(settings.prices())
        self._verdicts = EarlyVerdicts(location, baseline, asked=asked)
        self._text = text
        self._since = since

    def look(self) -> bool:
        """Find out where the run is, and return whether it goes on; raises `UsageError` if its files are gone."""
        from riff_runner.run.prices import total_cost

        status = self._reader.read(time.time())
        if status is None:
            raise UsageError(f"{self._reader.directory}: there is no run here any more")
        self.status, self.cost = status, total_cost(status.spent, self._prices)
        self.verdict = self._verdicts.of(status.run_id)
        return status.phase == "running"

    def lines(self, width: int | None, height: int | None, *, ascii_only: bool) -> list[str]:
        """Return what was found as lines for people."""
        from riff_tui.text.glyphs import glyphs
        from riff_tui.watching.report import UNCUT, WatchedRun, report

        calls, _ = self._reader.calls(self.status, _LISTED, self._since)
        listed = [call for call in calls if self._text or self._since is not None or call.status != "done"]
        said = {}
        for call in listed if self._text else ():
            if (words := self._reader.last_words(call)) is not None:
                said[call.flow, call.conversation_id] = words
        run = WatchedRun(self.status, listed, self.verdict, self.cost, said)
        return report(run, width or UNCUT, height, glyphs(ascii_only))

    def json(self) -> str:
        """Return what was found as one line of JSON for programs."""
        import json

        from riff_tui.output.sinks.json import SCHEMA_VERSION
        from riff_tui.text.safe_text import escaped_hidden
        from riff_tui.watching.report import envelope

        since, text = self._since, self._text
        found = envelope(self.status, self._reader, self.verdict, since=since, cost=self.cost, text=text)
        return escaped_hidden(json.dumps({"schema_version": SCHEMA_VERSION, **found}, ensure_ascii=False))


def _directory(run: str, location: str) -> Path:
    from riff_store.database import open_store
    from riff_store.errors import StoreMissing
    from riff_tui.watching.growing_run import directory_in_store, named_directory

    found = named_directory(run)
    if found is not None:
        return found
    try:
        with open_store(location) as store:
            return directory_in_store(store, run)
    except StoreMissing as error:
        raise UsageError(
            f"--run {run}: there is no such directory, and no store to look for a run of that id",
            "name a run's directory, or its store with --store",
        ) from error


def _print_json(watched: _Watched, out: Output, *, follow: bool) -> None:
    before = ""
    while True:
        goes_on = watched.look()
        line = watched.json()
        if _without_time(line) != before:
            before = _without_time(line)
            _print_lines([line], out)
        if not follow or not goes_on:
            return
        time.sleep(LOOK_S)


def _without_time(line: str) -> str:
    """Return what is worth another line when it changes: idle seconds and rates change all the time."""
    return re.sub(r'"(?:as_of|idle_s|rate_per_min|eta_s)": [^,}]*', "", line)


def _follow(watched: _Watched, out: Output) -> None:
    if out.width is None or os.environ.get("TERM", "") in ("", "dumb"):
        _follow_lines(watched, out)
        return
    drawn = LiveLines(out.stream)
    with terminal_keys() as keys, writing("stdout"):
        while True:
            goes_on = watched.look()
            size = os.get_terminal_size(out.stream.fileno())
            drawn.draw(
                watched.lines(size.columns, size.lines - 1, ascii_only=out.ascii_only), (size.columns, size.lines)
            )
            if not goes_on or "q" in keys.wait(LOOK_S):
                return


def _follow_lines(watched: _Watched, out: Output) -> None:
    """Print the head of the run whenever it changed, for a log that nothing can be drawn over in."""
    from riff_tui.text.glyphs import in_ascii
    from riff_tui.watching.growing_run import whole_head_line

    before = ""
    while True:
        goes_on = watched.look()
        line = whole_head_line(watched.status)
        if not goes_on:
            _print_lines(watched.lines(None, None, ascii_only=out.ascii_only), out)
            return
        if line != before:
            before = line
            _print_lines([in_ascii(line) if out.ascii_only else line], out)
        time.sleep(LOOK_S)


def _print_lines(lines: list[str], out: Output) -> None:
    from riff_tui.output.streams import escape_commands, is_build_log

    with writing("stdout"):
        logged = is_build_log(out.stream)
        out.stream.writelines(f"{escape_commands(line) if logged else line}\n" for line in lines)
        out.stream.flush()


_CLEAR_REST = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"
_CLEAR_ALL = "\x1b[2J\x1b[H"


class LiveLines:
    """Draw lines at the end of what a terminal shows; the cursor rests below them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn: list[str] = []
        self._size: tuple[int, int] | None = None

    def draw(self, lines: Sequence[str], size: tuple[int, int]) -> None:
        """Show safe lines that fit a terminal of (columns, rows); one of another size is drawn on again."""
        new = list(lines)
        resized = self._size not in (None, size)
        self._drawn = [] if resized else self._drawn
        text = (_CLEAR_ALL if resized else "") + self._changes(new)
        self._size = size
        self._drawn = new
        if text:
            self._stream.write(text)
            self._stream.flush()

    def _changes(self, new: Sequence[str]) -> str:
        """Return what turns the lines that are drawn into others, from the cursor below them and back there."""
        old = self._drawn
        if new == old:
            return ""
        shared = min(len(old), len(new))
        parts, at = [], len(old)
        for number in range(shared):
            if new[number] != old[number]:
                parts += [_moved(at, number), _rewritten(old[number], new[number])]
                at = number
        parts.append(_moved(at, shared))
        if len(new) > shared:
            parts += [f"\r{line}{_CLEAR_REST}\r\n" for line in new[shared:]]
        elif len(old) > shared:
            parts.append(f"\r{_CLEAR_BELOW}")
        return "".join(parts)


def _moved(before: int, after: int) -> str:
    if before == after:
        return "\r"
    return f"\r\x1b[{before - after}A" if before > after else f"\r\x1b[{after - before}B"


def _rewritten(old: str, new: str) -> str:
    """Return what is to be sent for a line from its first change on, from column 0."""
    from riff_tui.text.safe_text import cell_width

    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same] and new[same].isascii():
        same += 1
    forward = f"\x1b[{cell_width(new[:same])}C" if same else ""
    return f"{forward}{new[same:]}{_CLEAR_REST}"


class Keys:
    """Wait for keys on a file descriptor, or just wait if there is none."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def wait(self, seconds: float) -> str:
        """Return what was typed, nothing if that took longer."""
        if self._descriptor is None:
            time.sleep(seconds)
            return ""
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if not ready:
            return ""
        typed = os.read(self._descriptor, 64)
        if not typed:
            self._descriptor = None
        return typed.decode("ascii", "replace")


@contextmanager
def terminal_keys() -> Iterator[Keys]:
    """Take single keys from stdin while the block runs, and leave the terminal as it was."""
    try:
        import termios
        import tty

        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        is_ours = os.tcgetpgrp(descriptor) == os.getpgrp()
    except Exception:  # without a terminal there are no keys to wait for
        is_ours = False
    if not is_ours:
        yield Keys(None)
        return
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
