"""Open a log of Inspect AI in either of its forms: a zip file with a member for each sample, or one JSON document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from riff_ingest.inspect_log.archive import Archive
from riff_ingest.sources.json_members import Member, read_members
from riff_ingest.sources.json_parts import object_of, objects_of, text_of
from riff_ingest.sources.lenient_json import loads
from riff_ingest.sources.lines import BrokenInput

HEADER, JOURNAL = "header.json", "_journal/start.json"
SUMMARIES, JOURNAL_SUMMARIES = "summaries.json", "_journal/summaries/"
SAMPLES, PARTS = "samples", ("eval", "results", "status")
MOST_EPOCHS = 2**53

CHUNKED = "its sample is kept in chunks, which are not read"
MISSING = "the log lists its sample and does not have it"
NO_HEADER = "it is no log of Inspect AI: it has neither header.json nor _journal/start.json"
UNFINISHED = "the log has no end: its run is going on, or broke off; what it has is read"

_ENDINGS = {"started": UNFINISHED, "error": "its run ended with an error", "cancelled": "its run was cancelled"}
_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>[0-9]{1,9})(?P<rest>\.json|/.+)", re.DOTALL)


Key: TypeAlias = tuple[str, int]
"""The id of a sample, and its epoch."""


Survey: TypeAlias = Callable[[bytes], None]
"""Is called with each sample of a log, before any is read."""


class SamplePart(NamedTuple):
    """Hold a sample as it lies in a log; `key` is what the log calls it without a look inside."""

    key: Key | None
    data: bytes = b""
    problem: str | None = None


class Log(Protocol):
    """Describe an open log: its parts but for the samples, and what is wrong with it.

    `samples` yields them one by one, after a survey of them all when the log is opened; `listed` returns those of
    which the log says that it has them.
    """

    header: dict[str, Any]
    notes: list[str]

    def samples(self) -> Iterator[SamplePart]: ...
    def listed(self) -> list[Key]: ...


class ArchiveLog:
    """Read a log that is a zip file; a run that goes on, or broke off, has its header in the journal."""

    def __init__(self, archive: Archive, survey: Survey) -> None:
        self._archive = archive
        self.notes: list[str] = []
        self.header = self._header()
        self.notes += notes_on(self.header)
        for part in self.samples():
            if part.problem is None:
                survey(part.data)

    def samples(self) -> Iterator[SamplePart]:
        """Yield the samples, epoch by epoch in the order of the dataset; what cannot be read comes with the reason."""
        whole: dict[Key, str] = {}
        chunked: dict[Key, None] = {}
        for name in self._archive.names:
            if found := _SAMPLE.fullmatch(name):
                key = found["id"], int(found["epoch"])
                if found["rest"] == ".json":
                    whole[key] = name
                else:
                    chunked[key] = None
        for key in sorted({**chunked, **whole}, key=_Places(self.header)):
            if key not in whole:
                yield SamplePart(key, problem=CHUNKED)
                continue
            try:
                yield SamplePart(key, self._archive.read(whole[key]))
            except BrokenInput as problem:
                yield SamplePart(key, problem=f"its sample cannot be read: {problem.reason}")

    def listed(self) -> list[Key]:
        """Return the samples that the summaries name: those of the journal, where the run has no end."""
        names = self._archive.names
        wanted = [SUMMARIES] if SUMMARIES in names else [name for name in names if name.startswith(JOURNAL_SUMMARIES)]
        found: list[Key] = []
        for name in wanted:
            with suppress(BrokenInput):  # the samples themselves are there
                summaries = objects_of(loads(self._archive.read(name), what=name))
                found += [key for each in summaries if (key := key_of(each.get("id"), each.get("epoch")))]
        return found

    def _header(self) -> dict[str, Any]:
        problem = None
        for name in (HEADER, JOURNAL):
            if name in self._archive.names:
                try:
                    header = loads(self._archive.read(name), what=name)
                    if isinstance(header, dict) and isinstance(header.get("eval"), dict):
                        break
                    problem = problem or BrokenInput(f"{name} does not describe a run")
                except BrokenInput as broken:
                    problem = problem or BrokenInput(f"{name} cannot be read: {broken.reason}")
        else:
            raise problem or BrokenInput(NO_HEADER)
        if problem is not None:
            self.notes.append(problem.reason)
        elif name == JOURNAL:
            self.notes.append(UNFINISHED)
        return header


class DocumentLog:
    """Read a log that is one JSON document, of any size; one that is cut off has its samples up to there."""

    def __init__(self, path: Path, survey: Survey) -> None:
        self._path = path
        self.notes: list[str] = []
        self.header = self._header(survey)
        if not isinstance(self.header.get("eval"), dict):
            raise BrokenInput("it is no log of Inspect AI: it does not describe a run")
        self.notes += notes_on(self.header)

    def samples(self) -> Iterator[SamplePart]:
        """Yield the samples in their order; raise `BrokenInput` where the file cannot be read any further."""
        for member in read_members(self._path, lists=(SAMPLES,)):
            if isinstance(member, str):
                yield SamplePart(None, problem=member)
            elif member.place is not None:
                yield SamplePart(None, member.value)

    def listed(self) -> list[Key]:
        """Return none: a document has no list of its samples beside them."""
        return []

    def _header(self, survey: Survey) -> dict[str, Any]:
        """Return the parts that say what the run was; raise `BrokenInput` where the first cannot be reached."""
        found: dict[str, Any] = {}
        try:
            for member in read_members(self._path, PARTS, (SAMPLES,)):
                if isinstance(member, Member) and member.key == SAMPLES:
                    survey(member.value)
                elif isinstance(member, Member):
                    found[member.key] = loads(member.value, what=member.key)
        except BrokenInput:
            if PARTS[0] not in found:
                raise
        return found


def notes_on(header: Mapping[str, Any]) -> list[str]:
    """Return what has to be known of a run that did not end well."""
    ending = _ENDINGS.get(text_of(header.get("status")) or "")
    return [] if ending is None else [ending]


def key_of(name: Any, epoch: Any) -> Key | None:
    """Return how a sample is told from others: its id, which may be a number, and its epoch, from 1; `None` without."""
    known = isinstance(epoch, int) and not isinstance(epoch, bool) and 1 <= epoch <= MOST_EPOCHS
    named = text_of(name)
    return None if named is None else (named, epoch if known else 1)


class _Places:
    """Order samples by epoch, then as the dataset has them, others by their names."""

    def __init__(self, header: dict[str, Any]) -> None:
        listed = object_of(object_of(header.get("eval")).get("dataset")).get("sample_ids")
        names = listed if isinstance(listed, list) else []
        self._places = {str(name): place for place, name in enumerate(names)}

    def __call__(self, key: Key) -> tuple[int, int, str]:
        return key[1], self._places.get(key[0], len(self._places)), key[0]
