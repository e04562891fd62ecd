"""Define the errors that every package raises, with the exit code that each one ends a command with.

RiffError                  1  foreseen; the message and the hint show what to do next
├── UsageError             2  an option, a filter or a name that makes no sense here
│   ├── FilterError        2  (riff_tui.filters) an expression that makes no sense, and where
│   ├── SideError          2  (riff_store.queries) a side of a comparison that is not there
│   ├── UnknownAspect      2  (riff_store.queries) an aspect that no call was scored for
│   ├── BadPattern         2  (riff_ingest.edits) a pattern that names no files of flows
│   ├── ClientMissing      2  (riff_ingest) a model behind an endpoint, without the package that reaches it
│   ├── Misconfigured      2  (riff_runner.judge) settings of a judge that make no sense
│   └── NoTerminal         2  (riff_tui) the explorer outside of a terminal
├── StoreError             4  a store that cannot be used
│   ├── StoreMissing       4  there is nothing at that place
│   ├── NotAStore          4  what is there is something else, or damaged
│   ├── NewerStore         4  a newer riff-tui wrote it
│   ├── OlderStore         4  it needs migrating, and was opened for reading only
│   ├── StoreBusy          4  another process is writing
│   ├── StoreSilent        4  its server does not answer
│   ├── StoreReadOnly      4  it cannot be written here
│   └── DiskFull           4  there is no room left
├── Interrupted          130  a question that nobody waits for any more
├── OutputError          2,1  what is asked for cannot be written: 2 where the place is why, 1 where a write failed
│   ├── OutputFull         4  for there is no room left
│   └── Unkeepable         2  (riff_runner.judge) a file that verdicts cannot be kept in
├── BrokenInput            1  (riff_ingest.sources) a file, or a line of it, that cannot be read
├── GitProblem             1  (riff_ingest.edits) git cannot answer
│   └── NoHistory          2  there is no repository at that place
├── HttpFault              1  (riff_ingest) a request that brought no whole answer
├── Unanswered, Malformed  1  (riff_runner.judge) a try that brought no answer, or none that is a verdict
├── Refused, RunStopped    1  (riff_runner.judge) a judge, or a run, that cannot go on
├── NoSuchTransition       1  (riff_runner.simulate) an edge that a flow does not have
├── CallProblem            1  (riff_runner.run) a call that cannot be made, and which side is why
│   ├── Unavailable        1  … for now: it is made again
│   ├── CallRefused        1  … at all: an endpoint takes the request for wrong
│   └── EndpointRefused    1  … nor any other: key, quota, unknown model
├── AgentStopped           1  (riff_runner.run) an agent whose own doing ends a call
├── CallerFailed           1  (riff_runner.run) a caller that did not keep to its part
├── ChatError              1  (riff_runner.chat) a chat that is not completed, and why
├── CannotStart, BadLine   1  (riff_runner.processes) a program that cannot play its part
├── ViewFailed             1  (riff_tui) a view of another distribution that fails
├── JudgeStopped           1  (riff_tui) a judge that cannot be asked any further
├── RunRefused           1,2  (riff_tui) a run that an endpoint ended: 2 where no call was complete
├── GateFailed             3  (riff_tui) a candidate that is worse than its baseline
├── Unhealthy              4  (riff_tui) a store in which the doctor found something
├── RunWithoutAnswer       5  (riff_tui) a run of which every call was errored
└── InputSkipped           5  (riff_tui) input that was not taken, under `--strict`

SIGTERM ends a command with 143, the interrupt key with 130, a terminal that is gone with 129, everything unforeseen
with 1. What a signal raises is a `KeyboardInterrupt` each time, which event loops and plug-ins let through.
"""

from __future__ import annotations

import enum
import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
WRONG_PLACE = (
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG,
    errno.ELOOP, errno.EINVAL, errno.EXDEV, errno.ENXIO, errno.ETXTBSY,
)  # fmt: skip
"""What the system answers where another place would do: nothing failed, so the command line is what has to change."""


class ExitCode(enum.IntEnum):
    """Report to the calling process how a command ended."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    GATE_FAILED = 3
    STORE = 4
    SKIPPED = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """End the process as SIGTERM asks."""

    code = ExitCode.TERMINATED


class HungUp(KeyboardInterrupt):
    """End the process whose terminal is gone."""

    code = ExitCode.HUNG_UP


OF_DAMAGE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, MemoryError)
"""What reading may raise of a store whose rows hold what none of ours does."""


class RiffError(Exception):
    """End a command in a way that was foreseen.

    `message` is what is wrong, `hint` what to do next, `code` the exit code of a command that ends so;
    as text the error is the whole sentence. Arguments of a subclass stay in `args`, so that every error
    can be sent to another process.
    """

    code: ExitCode = ExitCode.UNEXPECTED

    def __init__(self, message: str = "", hint: str = "", *, code: ExitCode | None = None) -> None:
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(RiffError):
    """Refuse what makes no sense here."""

    code = ExitCode.USAGE


class StoreError(RiffError):
    """Refuse a store that cannot be used."""

    code = ExitCode.STORE


class StoreMissing(StoreError):
    """Refuse a place if there is no store."""


class NotAStore(StoreError):
    """Refuse what is not a store, or is damaged."""


class NewerStore(StoreError):
    """Refuse a store that a newer version wrote."""


class OlderStore(StoreError):
    """Refuse to read a store of an older schema."""


class StoreBusy(StoreError):
    """Give up on a store that another process locked for too long."""


class StoreSilent(StoreError):
    """Give up on a store whose server does not answer, or no longer."""


class StoreReadOnly(StoreError):
    """Refuse to write a store, or a directory, that is read-only."""


class DiskFull(StoreError):
    """Give up where no room is left for the store."""


class Interrupted(RiffError):
    """Give up on a question that nobody waits for any more."""

    code = ExitCode.INTERRUPTED


class OutputError(RiffError):
    """Give up on an output that cannot be written at the place that was named."""

    code = ExitCode.USAGE


class OutputFull(OutputError):
    """Give up on an output that there is no room for."""

    code = ExitCode.STORE


def meant(name: object, known: Iterable[str]) -> str:
    """Return what to do about a name in a file that nothing has: the one that it is nearly, else all there are."""
    from difflib import get_close_matches

    names = list(known)
    near = get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}"


def how_to_install(extra: str) -> str:
    """Return the command that installs the missing packages of an extra where this program runs.

    It names packages and never riff-tui, unless uv asks where it came from: riff-tui is on no index. What pipx and
    uv installed needs their own commands; any other environment has its pip, or was made by uv without one.
    """
    import shlex
    import sys
    from importlib.util import find_spec
    from pathlib import Path

    packages = shlex.join(_missing_packages(extra))
    prefix, python = Path(sys.prefix), shlex.quote(sys.executable)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject riff-tui {packages}"
    if (prefix / "uv-receipt.toml").exists():
        return _with_uv_tool(prefix / "uv-receipt.toml", packages)
    if find_spec("pip") is None:
        return f"uv pip install --python {python} {packages}"
    return f"{python} -m pip install {packages}"


def _missing_packages(extra: str) -> list[str]:
    import re
    from importlib import metadata

    try:
        needed = metadata.requires("riff-tui") or []
    except metadata.PackageNotFoundError:  # run from its files
        needed = []
    of_extra = [each for each in needed if re.search(rf"""extra\s*==\s*['"]{extra}['"]""", each)]
    packages = sorted(re.split(r"[<>=!~;\s]", each, maxsplit=1)[0] for each in of_extra)
    return [name for name in packages if not any(metadata.distributions(name=name.split("[")[0]))] or packages


def _with_uv_tool(receipt: Path, packages: str) -> str:
    """Return uv's command; it replaces what was added before, so that this is named again."""
    import shlex
    import tomllib

    tool = tomllib.loads(receipt.read_text("utf-8")).get("tool", {})
    [riff_tui, *added] = sorted(tool.get("requirements", []), key=lambda each: each["name"] != "riff-tui")
    source = riff_tui.get("path") or riff_tui.get("directory") or riff_tui.get("url") or "riff-tui"
    names = [each["name"] for each in added if each["name"] not in packages.split()]
    return f"uv tool install {''.join(f'--with {each} ' for each in (*names, *packages.split()))}{shlex.quote(source)}"


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an `OSError` name the file that was to be written, where it names a draft of it or nothing."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
