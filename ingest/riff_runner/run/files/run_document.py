"""Describe what a run directory reports of its run in `run.json`, and read and write that file."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from riff_ingest.lines import limits
from riff_ingest.sources.transcripts import RUN_FILE
from riff_ingest.transcript_writer import replace_file
from riff_store.errors import UsageError, naming

if TYPE_CHECKING:
    from riff_runner.run.targets import Target
SCHEMA = "riff.run/1"
HIDDEN = "(hidden)"
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)

InvocationEnd: TypeAlias = Literal["done", "interrupted", "refused", "failed"]


class RunSide(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Describe the agent, the caller or the tools of a run; `base_url` is without user, password and query.

    `target` is the module and the name of an object of Python, `sha256` that of the file in which it is, or which a
    command runs.
    """

    kind: str
    name: str
    model: str | None = None
    base_url: str | None = None
    command: tuple[str, ...] | None = None
    target: str | None = None
    sha256: str | None = None


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Describe what a run was asked to do; keys and passwords are not in it.

    `scenarios` and `personas` are the names that were asked for, or `all`; no persona means one per scenario.
    `tools` is of which kind they are, `answered_by` what a command that answers them is.
    """

    agent: RunSide
    caller: RunSide
    tools: str = "stubbed"
    answered_by: RunSide | msgspec.UnsetType = msgspec.UNSET
    flows: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ("all",)
    personas: tuple[str, ...] = ()
    trials: int = 1
    seed: int = 0
    concurrency: int = 4
    limits: dict[str, float] = {}
    clock: str = "synthetic"
    streamed: bool = False


class RunFlowFile(msgspec.Struct, frozen=True, kw_only=True):
    """Name the file of a flow and the SHA-256 of its bytes."""

    source: str
    sha256: str


class Invocation(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Describe one process that worked on the run; `calls` of them ended in it, of which `errored` had no result.

    `ended` is missing while it works, and where it ended without a chance to report it.
    """

    started_at: str
    pid: int
    host: str
    calls: int = 0
    errored: int = 0
    ended_at: str | None = None
    ended: InvocationEnd | None = None


class RunDocument(msgspec.Struct, kw_only=True):
    """Represent `run.json`; `planned` is how many calls the run has when it is complete."""

    run_id: str
    created_at: str
    settings: RunSettings
    planned: int
    schema: str = SCHEMA
    label: str | None = None
    commit: str | None = None
    branch: str | None = None
    flows: dict[str, RunFlowFile] = {}
    versions: dict[str, str] = {}
    invocations: list[Invocation] = []


def side_of(target: Target, name: str) -> RunSide:
    """Return how a run describes a part that an option named, without what looks like a secret in its command.

    The object of Python that it names has to be imported.
    """
    command = tuple(_without_secrets(target.command)) or None
    file = _file_of_module(target.module) if target.module else _file_of_command(target.command)
    return RunSide(
        kind=target.kind,
        name=name,
        model=target.model,
        base_url=target.url,
        command=command,
        target=f"{target.module}:{target.attribute}" if target.module else None,
        sha256=None if file is None else _digest(file),
    )


def _file_of_module(module: str) -> str | None:
    return module if module.endswith(".py") else getattr(sys.modules.get(module), "__file__", None)


def _file_of_command(argv: Sequence[str]) -> str | None:
    """Return the file that a command runs: a script, also where the command begins with what interprets it."""
    words = [word for word in argv if not word.startswith("-") and os.path.isfile(word)]
    return next(filter(_is_text, words), next(iter(words), None))


def _is_text(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"\0" not in file.read(1024)
    except OSError:
        return False


def _digest(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _without_secrets(argv: Iterable[str]) -> Iterator[str]:
    hides = False
    for word in argv:
        name, equals, _ = word.partition("=")
        yield HIDDEN if hides else f"{name}={HIDDEN}" if equals and _SECRET.search(name) else word
        hides = not equals and word.startswith("-") and _SECRET.search(word) is not None


_decoder = msgspec.json.Decoder(RunDocument)


def read_run(directory: Path) -> RunDocument | None:
    """Return what `run.json` of a directory contains, `None` if there is none; raises `UsageError` for another file."""
    path = directory / RUN_FILE
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or type(error).__name__}") from error
    with open(descriptor, "rb") as file:
        try:
            content = file.read(limits().bytes("document_mib") + 1)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or type(error).__name__}") from error
    if len(content) > limits().bytes("document_mib"):
        raise UsageError(
            f"{path} is larger than {limits().told('document_mib')}", "choose another directory with --out"
        )
    try:
        document = _decoder.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} does not describe a run: {error}", "choose another directory with --out") from error
    if document.schema != SCHEMA:
        raise UsageError(f"{path} has the schema {document.schema!r}, and this riff-tui reads {SCHEMA}")
    return document


def write_run(directory: Path, document: RunDocument) -> None:
    """Put `run.json` in place in one step, readable by its owner only; raises `OSError`."""
    path = directory / RUN_FILE
    members = {name: value for name, value in msgspec.to_builtins(document).items() if value is not None}
    told = {"schema": document.schema, **members}  # first, for the one who reads the file
    with naming(path):
        replace_file(path, msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n")
