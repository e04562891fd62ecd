"""Tell what a file or a directory is, by its content first and by its name where the content says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from riff_ingest.sources import yaml_document
from riff_ingest.sources.lines import BrokenInput, read_start, read_whole
from riff_ingest.sources.registry import sources
from riff_ingest.sources.source import FileHead

EMPTY = "file is empty"
LISTED_KEYS = 5
LONGEST_KEY = 30


class Detected(NamedTuple):
    """Hold the kind of an input, `None` if it is none that can be read, and why."""

    kind: str | None
    reason: str


def detect(path: Path) -> Detected:
    """Return what a file or a directory is taken for, and why; raise `BrokenInput` where it cannot be read at all."""
    if path.is_dir():
        kind = claimed_kind(path)
        return Detected(kind, f"it is a directory of {kind}" if kind else "it is a directory")
    head = FileHead(path, read_start(path))
    for source in sources():
        try:
            reason = source.recognises(head)
        except BrokenInput as problem:
            return Detected(None, problem.reason)
        if reason:
            return Detected(source.kind, reason)
    named = named_kind(path.name)
    if named is not None:
        return Detected(named, "its name says so")
    if not head.start.strip():
        return Detected(None, EMPTY)
    if not head.records and head.misread:
        return Detected(None, head.misread)
    return Detected(None, f"not recognised: {_held(head)}")


def _held(head: FileHead) -> str:
    form = "TOML" if head.document and not head.start.lstrip().startswith(b"{") else "JSON"
    form = "YAML" if head.path.name.endswith(yaml_document.ENDINGS) else form
    known = head.document or next(iter(head.records), {})
    names = [name if len(name) <= LONGEST_KEY else f"{name[:LONGEST_KEY]}…" for name in known]
    if not names:
        return f"{form} without a key that is known"
    more = [f"{len(names) - LISTED_KEYS} more"] if len(names) > LISTED_KEYS else []
    return f"{form} with the keys {', '.join([*names[:LISTED_KEYS], *more])}"


def named_kind(name: str) -> str | None:
    """Return the kind that takes files of this name."""
    return next((source.kind for source in sources() if source.is_named(name)), None)


def may_be_known(path: Path) -> bool:
    """Tell whether the words of some kind stand in a YAML file, which takes long to read."""
    marks = [source.yaml_words for source in sources() if source.yaml_words]
    try:
        text = read_whole(path, "yaml_mib")
    except BrokenInput:
        return False
    return any(all(word in text for word in words) for words in marks)


def claimed_kind(directory: Path) -> str | None:
    """Return the kind that takes this directory as one input."""
    found = (source.kind for source in sources() if source.directory and source.directory.claims(directory))
    return next(found, None)


def set_aside(directory: Path) -> str | None:
    """Return why neither a directory nor anything in it is input, `None` where it may be."""
    reasons = (source.directory.set_aside(directory) for source in sources() if source.directory)
    return next((reason for reason in reasons if reason), None)


def is_company(path: Path) -> bool:
    """Say whether a file was written beside inputs and is none itself."""
    return any(source.is_company(path) for source in sources())


def accompanies(path: Path) -> bool:
    """Say whether a file is read with the directories beside it that are inputs."""
    return any(source.directory.accompanies(path) for source in sources() if source.directory)
