"""Keep verdicts in files: what is in them is not paid for again, and nothing paid for is lost.

Each verdict is one appended line, so that an end of any kind costs at most the line that was being written.
When a run ends its files are put in order, each in one step.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from riff_ingest.source import run_of
from riff_ingest.transcript_writer import encode_line, replace_file
from riff_runner.judge.protocol import ConversationName, Signature
from riff_store.errors import NO_ROOM, OutputError, naming

SYNC_SECONDS = 0.5
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Unkeepable(OutputError):
    """Report a file that verdicts cannot be kept in; the message shows why."""


class _LedgerLine(msgspec.Struct):
    conversation_id: str
    judge: str
    score: float | None
    run_id: str | None = None
    prompt_hash: str | None = None
    model: str | None = None
    flow: str | int | None = None
    agent_model: str | int | None = None
    trial: int | None = None


_decoder = msgspec.json.Decoder(_LedgerLine)


@dataclass(slots=True)
class Known:
    """Describe what one judge has said already, of calls by as much of their names as is there."""

    scored: set[tuple[ConversationName, Signature]] = field(default_factory=set)
    unscored: set[tuple[ConversationName, Signature]] = field(default_factory=set)


class Ledger:
    """Keep the verdicts of one judge; `place` shows which file has a run."""

    def __init__(self, judge: str, place: Callable[[str], Path]) -> None:
        self._judge = judge
        self._place = place
        self._open: dict[Path, _File] = {}
        self._syncing: ThreadPoolExecutor | None = None

    def known(self, runs: Iterable[str]) -> Known:
        """Return what is in the files of these runs; nothing is made or changed. Raises `Unkeepable`."""
        found = Known()
        for path in sorted({self._place(run) for run in runs}):
            for line in _split(_content(path)):
                said = _parse_line(line, path, self._judge)
                if said is not None:
                    (found.unscored if said[1] is None else found.scored).add(said[0])
        return found

    def hold(self, runs: Iterable[str]) -> None:
        """Open the files of these runs for this process alone, and repair what a sudden end left in them."""
        self._syncing = self._syncing or ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger")
        for path in sorted({self._place(run) for run in runs}):
            with naming(path):
                self._open[path] = _File(path, self._syncing)

    def keep(self, run: str, line: dict[str, Any]) -> None:
        """Add a line; it is there for any reader when this returns, and on the disk soon after."""
        path = self._place(run)
        with naming(path):
            self._open[path].append(encode_line(line))

    def close(self) -> None:
        """Put the files in order: by conversation, of several lines on the same thing the best, then the last."""
        try:
            for path in list(self._open):
                with naming(path):
                    self._open.pop(path).close(self._judge)
        finally:
            if self._syncing is not None:
                self._syncing.shutdown()
                self._syncing = None

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _File:
    """Append to a file; another thread puts it on the disk, since a slow one is not to hold up answers."""

    def __init__(self, path: Path, syncing: Executor) -> None:
        self._path = path
        self._syncing = syncing
        self._synced = time.monotonic()
        self._sync: Future[None] | None = None
        if path.parent.is_symlink():
            raise Unkeepable(f"{path.parent} is a link, which is never written through")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = _locked(path)
        try:
            self._mend()
        except BaseException:
            os.close(self._descriptor)
            raise

    def append(self, line: bytes) -> None:
        before = os.fstat(self._descriptor).st_size
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError:
            os.ftruncate(self._descriptor, before)
            raise
        if time.monotonic() - self._synced >= SYNC_SECONDS and (self._sync is None or self._sync.done()):
            self._await_sync()
            self._sync = self._syncing.submit(os.fsync, self._descriptor)
            self._synced = time.monotonic()

    def _await_sync(self) -> None:
        """Raise what the disk said to the last sync."""
        if self._sync is not None:
            sync, self._sync = self._sync, None
            sync.result()

    def close(self, judge: str) -> None:
        try:
            self._await_sync()
            os.fsync(self._descriptor)
            content = _content(self._path)
            if not content:
                self._path.unlink(missing_ok=True)
            elif (ordered := _ordered(content, self._path, judge)) != content:
                replace_file(self._path, ordered)
        finally:
            os.close(self._descriptor)

    def _mend(self) -> None:
        """End the last line, or take it away if it is torn."""
        content = _content(self._path)
        if not content or content.endswith(b"\n"):
            return
        start = content.rfind(b"\n") + 1
        try:
            msgspec.json.decode(content[start:], type=msgspec.Raw)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            os.ftruncate(self._descriptor, start)
        else:
            self.append(b"\n")


def _locked(path: Path) -> int:
    """Open a file that no other process is judging into; one that was replaced in between is opened again."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | _NO_LINK, 0o600)
        except OSError as error:
            if error.errno in NO_ROOM:
                raise
            raise Unkeepable(f"{path} cannot be written: {error.strerror or type(error).__name__}") from error
        try:
            _refuse_special(descriptor, path)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise Unkeepable(f"{path} is being written by another run of this judge; wait for its end") from error
        except Unkeepable:
            os.close(descriptor)
            raise
        except FileNotFoundError:
            pass
        os.close(descriptor)


def _refuse_special(descriptor: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise Unkeepable(f"{path} is not a plain file")


def _content(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _NO_LINK)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Unkeepable(f"{path} cannot be read: {error.strerror or type(error).__name__}") from error
    with open(descriptor, "rb") as file:
        _refuse_special(descriptor, path)
        return file.read()


def _split(content: bytes) -> list[bytes]:
    return [line for line in content.split(b"\n") if line.strip()]


def _parse_line(line: bytes, path: Path, judge: str) -> tuple[tuple[ConversationName, Signature], float | None] | None:
    """Return which call under which signature a line of this judge is about, and its score.

    `None` for any other line.
    """
    try:
        said = _decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if said.judge != judge or (said.score is not None and not 0 <= said.score <= 10):
        return None
    run = said.run_id or run_of(path)
    name = ConversationName(run, said.conversation_id, _text(said.flow), _text(said.agent_model), said.trial)
    return (name, Signature(said.model, said.prompt_hash)), said.score


def _ordered(content: bytes, path: Path, judge: str) -> bytes:
    best: dict[tuple[ConversationName, Signature], tuple[bool, bytes]] = {}
    others: list[bytes] = []
    for line in _split(content):
        said = _parse_line(line, path, judge)
        if said is None:
            others.append(line)
            continue
        key, is_scored = said[0], said[1] is not None
        if is_scored or not best.get(key, (False,))[0]:
            best[key] = is_scored, line
    ranked = sorted(best, key=_place)
    return b"".join(line + b"\n" for line in [*(best[key][1] for key in ranked), *others])


def _place(key: tuple[ConversationName, Signature]) -> tuple[str | int, ...]:
    name, signature = key
    trial = -1 if name.trial is None else name.trial
    return *name.id, name.flow or "", name.agent or "", trial, signature.prompt_hash or "", signature.model or ""


def _text(value: str | int | None) -> str | None:
    return None if value in (None, "") else str(value)
