"""Tally the files of a run as they grow."""

from __future__ import annotations

import os
import stat
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import msgspec

from riff_ingest.lenient_json import parse_time
from riff_runner.run.agent_call import RETRIED
from riff_runner.run.files.progress_file import OVER, ProgressLine
from riff_runner.run.files.run_files import transcripts
from riff_runner.run.prices import SpentTokens
from riff_runner.run.run_tally import REQUESTS, TokenSide, TokenTally, count_reason, reason_of
from riff_runner.run.status.run_status import CallCounts, WatchedCall

CHUNK = 1 << 20
MOST_BYTES = 256 * CHUNK
"""How much of a file is read at a time; the rest is read at the next look."""


class PlacedLine(NamedTuple):
    """Describe a line without its end, and where in the file it begins."""

    start: int
    text: bytes


class LineTail:
    """Read the lines that were added to a file; one without an end is left until it has one.

    A file that was replaced or cut is read from its start again, which `restarted` shows for the last look. Lines of
    more than `longest` bytes are passed over. A link, a pipe or a missing file has no lines.
    """

    def __init__(self, path: Path, longest: int, most: int = MOST_BYTES) -> None:
        self.path = path
        self.restarted = False
        self._longest = longest
        self._most = most
        self._file: tuple[int, int] | None = None
        self._at = 0
        self._passing_over = False

    def lines(self) -> Iterator[PlacedLine]:
        """Yield the lines that are new; the look ends where the iterator does."""
        self.restarted = False
        opened = _opened(self.path)
        if opened is None:
            self._begin(None)
            return
        with opened as file:
            found = os.fstat(file.fileno())
            if (found.st_dev, found.st_ino) != self._file or found.st_size < self._at:
                self._begin((found.st_dev, found.st_ino))
            if found.st_size > self._at:
                file.seek(self._at)
                yield from self._new(file)

    def _begin(self, file: tuple[int, int] | None) -> None:
        self.restarted = self._file is not None
        self._file, self._at, self._passing_over = file, 0, False

    def _new(self, file: BinaryIO) -> Iterator[PlacedLine]:
        rest, read = b"", 0
        while piece := file.read(CHUNK):
            read += len(piece)
            *whole, rest = (rest + piece).split(b"\n") if b"\n" in piece else [rest + piece]
            for line in whole:
                start, self._at = self._at, self._at + len(line) + 1
                if not self._passing_over and len(line) <= self._longest:
                    yield PlacedLine(start, line)
                self._passing_over = False
            if len(rest) > self._longest:
                self._at += len(rest)
                self._passing_over, rest = True, b""
            if read >= self._most:
                return


def line_at(path: Path, start: int, longest: int) -> bytes:
    """Return the line of a file that begins at a place, nothing if there is none by now."""
    opened = _opened(path)
    if opened is None:
        return b""
    with opened as file:
        file.seek(start)
        line = file.readline(longest + 1)
    return line[:-1] if line.endswith(b"\n") else b""


def _opened(path: Path) -> BinaryIO | None:
    # A pipe of that name must not keep the reader waiting.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        number = os.open(path, flags)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return os.fdopen(number, "rb", buffering=0)


MOST_FILES = 1000
CallKey: TypeAlias = tuple[str, str]
"""The flow and the conversation id of a call."""


class TranscriptTally:
    """Count the calls that are over; of several lines of a call the last one counts, and each for what it spent.

    Calls of another agent or caller than the run has by now are those of earlier ones, and not counted.
    """

    def __init__(self, directory: Path, agent: str, caller: str) -> None:
        self.agent, self.caller = agent, caller
        self._directory = directory
        self._begin()

    @property
    def paths(self) -> list[Path]:
        """Return the files that were read."""
        return list(self._tails)

    def spent(self, side: TokenSide, model: str) -> SpentTokens | None:
        """Return the tokens of the `agent` or the `caller`, `None` if no model was asked."""
        tokens = self._tokens.get(side)
        return None if tokens is None else SpentTokens(model, tokens.input, tokens.output)

    def read(self) -> None:
        """Count what was added since the last look, or everything where files are not what they were."""
        if not self._read_new():
            self._begin()
            self._read_new()

    def _begin(self) -> None:
        self.finished: dict[CallKey, FinishedCall] = {}
        self.flows: dict[str, CallCounts] = {}
        self.reasons: Counter[str] = Counter()
        self._tails: dict[Path, LineTail] = {}
        self._tokens: dict[TokenSide, TokenTally] = {}

    def _read_new(self) -> bool:
        """Return whether the files are those that were read before, with more at their ends."""
        try:
            paths = transcripts(self._directory)[:MOST_FILES]
        except OSError:
            paths = []
        if not set(self._tails) <= set(paths):
            return False
        for path in paths:
            tail = self._tails.setdefault(path, LineTail(path, LONGEST_LINE))
            for start, line in tail.lines():
                if tail.restarted:
                    return False
                call = finished_call(line, CallPlace(path, start))
                if call is not None and (call.agent in (None, self.agent) and call.caller in (None, self.caller)):
                    self._take(call)
            if tail.restarted:
                return False
        return True

    def _take(self, call: FinishedCall) -> None:
        for side, requests in call.requests.items():
            self._tokens.setdefault(side, TokenTally()).add(requests)
        call.requests.clear()
        counts = self.flows.get(call.flow, CallCounts())
        before = self.finished.get(call.key)
        if before is not None:
            counts = counts.plus(counted(before), -1)
            if before.errored:
                count_reason(self.reasons, reason_of(before.error), -1)
        if call.errored:
            count_reason(self.reasons, reason_of(call.error))
        self.finished[call.key] = call
        self.flows[call.flow] = counts.plus(counted(call))


def counted(call: FinishedCall) -> CallCounts:
    """Return the counts of one call."""
    return CallCounts(
        done=1,
        completed=int(call.completed is True and not call.errored),
        errored=int(call.errored),
        caller_failed=int(call.caller_failed),
        retried=int(call.retried),
    )


RECENT_SECONDS = 300.0
RECENT_CALLS = 5
"""The rate is that of the last minutes, or of all that was seen where fewer calls than these ended in them."""
_MOST_TIMES = 4096
_MOST_CALLS = 100_000
_LONGEST_LINE = 64 * 1024

_decoder = msgspec.json.Decoder(ProgressLine)


class ProgressTally:
    """Follow the calls that are under way; of several lines of a call the last one counts."""

    def __init__(self, path: Path) -> None:
        self.under_way: dict[CallKey, WatchedCall] = {}
        self.ended_at: dict[CallKey, float] = {}
        self._tail = LineTail(path, _LONGEST_LINE)
        self._ends: deque[float] = deque(maxlen=_MOST_TIMES)
        self._seen_from: float | None = None

    def read(self) -> None:
        """Follow what was added since the last look; a file that was written again contains all that is under way."""
        known, is_new = self.under_way, False
        for _, text in self._tail.lines():
            if self._tail.restarted and not is_new:
                is_new, self.under_way = True, {}
            try:
                line = _decoder.decode(text)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                continue
            self._follow(_watched(line), known)
        if self._tail.restarted and not is_new:
            self.under_way = {}

    def rate_per_min(self, now: float) -> float | None:
        """Return how many calls end in a minute, `None` if none was seen to end."""
        if not self._ends or self._seen_from is None:
            return None
        begun = self._ends[0] if len(self._ends) == _MOST_TIMES else self._seen_from
        recent = sum(now - end <= RECENT_SECONDS for end in self._ends)
        seen = now - begun
        count, over = (recent, min(RECENT_SECONDS, seen)) if recent >= RECENT_CALLS else (len(self._ends), seen)
        return count / over * 60.0 if over > 0 else None

    def _follow(self, call: WatchedCall, known: dict[CallKey, WatchedCall]) -> None:
        key = (call.flow, call.conversation_id)
        if self._seen_from is None:
            self._seen_from = call.changed_at
        if call.status in OVER:
            self.under_way.pop(key, None)
            if call.changed_at is not None and len(self.ended_at) < _MOST_CALLS:
                self.ended_at[key] = call.changed_at
                self._ends.append(call.changed_at)
        elif key in self.under_way or len(self.under_way) < _MOST_CALLS:
            before = known.get(key)
            # A line that repeats the same is of a file that was written again, and not a sign of life.
            is_same = before is not None and replace(before, changed_at=call.changed_at) == call
            self.under_way[key] = before if is_same and before is not None else call


def _watched(line: ProgressLine) -> WatchedCall:
    return WatchedCall(
        conversation_id=line.conversation_id[:LONGEST_NAME],
        flow=line.flow[:LONGEST_NAME],
        status=line.status,
        state=None if line.state is None else line.state[:LONGEST_NAME],
        turn=line.turn,
        changed_at=seconds(line.t),
        why=None if line.why is None else line.why[:LONGEST_WHY],
    )


LONGEST_LINE = 64 * 1024 * 1024
LONGEST_NAME = 200
LONGEST_WHY = 300


class CallPlace(NamedTuple):
    """Describe where a call's line is."""

    path: Path
    start: int


class FinishedCall(NamedTuple):
    """Describe what came of a call, and the requests of either side in which a model was asked."""

    conversation_id: str
    flow: str
    place: CallPlace
    completed: bool | None
    errored: bool
    caller_failed: bool
    retried: bool
    error: str | None
    began_at: float | None
    agent: str | None
    caller: str | None
    requests: dict[TokenSide, list[dict[str, Any]]]

    @property
    def key(self) -> tuple[str, str]:
        """Return what distinguishes the call from others of its run."""
        return self.flow, self.conversation_id


class _Line(msgspec.Struct):
    """Take of a transcript's line what shows what came of the call; all else is passed over unread."""

    conversation_id: Any = None
    flow: Any = None
    completed: Any = None
    errored: Any = None
    error: Any = None
    started_at: Any = None
    caller: Any = None
    caller_ok: Any = None
    errors: Any = None
    extra: Any = None


_call_decoder = msgspec.json.Decoder(_Line)


def finished_call(line: bytes, place: CallPlace) -> FinishedCall | None:
    """Return what came of the call that a line has, `None` if it has none."""
    try:
        found = _call_decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if not isinstance(found.conversation_id, str) or not isinstance(found.flow, str):
        return None
    extra = found.extra if isinstance(found.extra, dict) else {}
    error = _text(found.error, LONGEST_WHY)
    caller_failed = found.caller_ok is False
    return FinishedCall(
        conversation_id=found.conversation_id[:LONGEST_NAME],
        flow=found.flow[:LONGEST_NAME],
        place=place,
        completed=found.completed if isinstance(found.completed, bool) else None,
        errored=found.errored is True or caller_failed,
        caller_failed=caller_failed,
        retried="attempts" in extra or any(each.get("kind") == RETRIED for each in _objects(found.errors)),
        error=error,
        began_at=seconds(found.started_at),
        agent=_text(extra.get("agent"), LONGEST_NAME),
        caller=_text(found.caller, LONGEST_NAME),
        requests={side: told for side, name in REQUESTS.items() if (told := _objects(extra.get(name)))},
    )


def last_words(line: bytes) -> tuple[str, str] | None:
    """Return who spoke last in the call of a line, and what they said; `None` if nobody spoke."""
    try:
        turns = _spoken.decode(line).turns
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    said = _objects(turns)
    role, text = (said[-1].get("role"), said[-1].get("text")) if said else (None, None)
    return (role, text) if isinstance(role, str) and isinstance(text, str) else None


class _Spoken(msgspec.Struct):
    turns: Any = None


_spoken = msgspec.json.Decoder(_Spoken)


def seconds(time: object) -> float | None:
    """Return a time of RFC 3339 as seconds since the epoch, `None` for what is none."""
    if not isinstance(time, str):
        return None
    try:
        found = parse_time(time)
    except (OverflowError, ValueError):
        return None
    return None if found is None else found / 1_000_000


def _objects(values: object) -> list[dict[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _text(value: object, longest: int) -> str | None:
    return value[:longest] if isinstance(value, str) else None
