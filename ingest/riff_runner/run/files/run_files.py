"""Keep the calls of a run in files of its directory: one line for each call, there for good once it is written."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import msgspec

from riff_ingest.transcript_writer import encode_line, transcript_document
from riff_runner.run.call import MadeCall
from riff_runner.run.cases.case import CaseKey
from riff_store.errors import OutputError, UsageError

PATTERN = "flow-transcripts-*.jsonl"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


class _Extra(msgspec.Struct):
    agent: str | None = None


class _KeptLine(msgspec.Struct):
    conversation_id: str
    flow: str
    scenario: str = ""
    persona: str = ""
    trial: int = 0
    agent_model: str = ""
    caller: str = ""
    errored: bool = False
    extra: _Extra = msgspec.field(default_factory=_Extra)

    @property
    def key(self) -> CaseKey:
        agent = self.agent_model if self.extra.agent is None else self.extra.agent
        return CaseKey(self.flow, self.scenario, self.persona, self.trial, agent, self.caller)


_decoder = msgspec.json.Decoder(_KeptLine)


def transcript_name(flow: str) -> str:
    """Return the name of the file that has the calls of a flow: the flow's own if that is fit for a file."""
    if _PLAIN.fullmatch(flow):
        return PATTERN.replace("*", flow)
    digest = hashlib.sha256(flow.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", flow)[:70].strip("._-") or "flow"
    return PATTERN.replace("*", f"{stem}-{digest}")


def kept_calls(directory: Path) -> dict[CaseKey, bool]:
    """Return the calls that are in the files of a run, and of each whether it was errored; the last line of one counts.

    A line that is torn or no call is passed over. Raises `OutputError` for a file that cannot be read.
    """
    found: dict[CaseKey, bool] = {}
    for path in transcripts(directory):
        for line in _lines(path):
            try:
                kept = _decoder.decode(line)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                continue
            found[kept.key] = kept.errored
    return found


def transcripts(directory: Path) -> list[Path]:
    """Return the files of transcripts that a directory has, in the order of their names."""
    return sorted(directory.glob(PATTERN)) if directory.is_dir() else []


class RunFiles:
    """Keep the directory of a run for this process alone, and add calls to it.

    `cut` shows how many bytes of an unfinished line were cut off which file, since a process ended while it wrote it.
    With `sync` each line is forced to the disk before the next call is kept. Raises `UsageError` if another process
    uses the directory, `OutputError` and `OSError` if it cannot be written.
    """

    def __init__(self, directory: Path, *, sync: bool = False) -> None:
        self.directory = directory
        self.cut: dict[Path, int] = {}
        self._sync = sync
        self._files: dict[Path, int] = {}
        if directory.is_symlink():
            raise OutputError(f"{directory} is a link, which is never written through", "name the directory itself")
        directory.mkdir(parents=True, exist_ok=True)
        self._held = _held(directory)
        try:
            for path in transcripts(directory):
                self._open(path)
        except BaseException:
            self.close()
            raise

    def keep(self, made: MadeCall) -> None:
        """Add a call: its line is there as a whole for any reader when this returns."""
        document = transcript_document(made.conversation)
        if made.extra:
            document["extra"] = made.extra
        line = encode_line(document)
        descriptor = self._open(self.directory / transcript_name(made.conversation.flow))
        before = os.fstat(descriptor).st_size
        try:
            view = memoryview(line)
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError:
            os.ftruncate(descriptor, before)
            raise
        if self._sync:
            os.fsync(descriptor)

    def close(self) -> None:
        """Bring everything to the disk and give the directory back."""
        try:
            for descriptor in self._files.values():
                os.fsync(descriptor)
        finally:
            for descriptor in self._files.values():
                os.close(descriptor)
            self._files.clear()
            os.close(self._held)

    def __enter__(self) -> RunFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, path: Path) -> int:
        if path not in self._files:
            self._files[path] = _opened(path)
            if cut := _mend(path, self._files[path]):
                self.cut[path] = cut
        return self._files[path]


def _held(directory: Path) -> int:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(
            f"{directory} is being written by another run", "wait for its end, or choose another directory with --out"
        ) from None
    except OSError:  # a file system without locks; then nothing keeps a second run away
        return descriptor
    return descriptor


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | _NO_LINK, 0o600)
    except OSError as error:
        if path.is_symlink():
            raise OutputError(f"{path} is a link, which is never written through") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OutputError(f"{path} is not a plain file")
    return descriptor


def _mend(path: Path, descriptor: int) -> int:
    """End the last line, or cut it off if it is torn, and return how many bytes that took away."""
    size = os.fstat(descriptor).st_size
    if not size or os.pread(descriptor, 1, size - 1) == b"\n":
        return 0
    last = deque(_lines(path), maxlen=1)[0]
    try:
        msgspec.json.decode(last, type=msgspec.Raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        os.ftruncate(descriptor, size - len(last))
        return len(last)
    os.write(descriptor, b"\n")
    return 0


def _lines(path: Path) -> Iterator[bytes]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _NO_LINK)
    except OSError as error:
        raise OutputError(f"{path} cannot be read: {error.strerror or type(error).__name__}") from error
    with open(descriptor, "rb") as file:
        yield from file
