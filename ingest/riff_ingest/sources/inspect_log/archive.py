"""Read members of a zip file as a log of Inspect AI has them: stored, deflate or zstd, each below a limit.

Nothing is written to disk, so names of members mean nothing to the file system.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeAlias

import zstandard

from riff_ingest.json_members import Member, read_members
from riff_ingest.lenient_json import loads, object_of, objects_of, text_of
from riff_ingest.lines import FREE_EXPANSION, BrokenInput, limits, read_start, unreadable

START = b"PK\x03\x04"
_LISTED = b"PK\x01\x02"

STORED, DEFLATE, ZSTD = 0, 8, 93
_HEADER = 30
_LENGTHS = struct.Struct("<HH")
_LENGTHS_AT = 26
_NEEDS_MORE = "too much memory"
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_NOT_A_ZIP = (
    zipfile.BadZipFile,
    NotImplementedError,
    ValueError,
    struct.error,
    EOFError,
    IndexError,
    OverflowError,
)

# Read what a log reports of its run as a whole: which task, which model, from which commit.
_COMPARES_TEXT = frozenset({"match", "includes", "pattern", "answer", "exact", "f1", "choice", "math"})
"""Scorers of Inspect AI that ask no model."""
_OF_NUMBERS = frozenset({"accuracy", "mean", "stderr", "std", "var", "bootstrap_stderr", "grouped"})
"""Metrics of Inspect AI that make numbers of letters."""
_GRADER = "grader"
_DIRTY = "-dirty"


class Archive:
    """Read a zip file by the names of its members; of several of one name the last counts.

    Raises `BrokenInput` if the file cannot be opened, is not a zip file, or was cut off before the list of its members.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = _CappedFile(path)
        except (OSError, ValueError) as error:
            raise unreadable(error) from error
        try:
            self._members = _members(self._file)
            self._size = self._file.seek(0, io.SEEK_END)
        except BaseException:
            self._file.close()
            raise
        self._counted: set[str] = set()
        self._unpacked = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the members, each once, in the order of the list."""
        return tuple(self._members)

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self, name: str) -> bytes:
        """Return what a member has; raise `BrokenInput` with the reason if that cannot be had."""
        info = self._members[name]
        if info.flag_bits & _ENCRYPTED:
            raise BrokenInput("the member is encrypted")
        if info.compress_type not in (STORED, DEFLATE, ZSTD):
            raise BrokenInput(f"the member is packed with method {info.compress_type}, which is not read")
        if max(info.file_size, info.compress_size) > limits().bytes("line_mib"):
            raise BrokenInput(f"the member is larger than {limits().told('line_mib')}")
        self._count(info)
        try:
            data = _unpack(self._packed(info), info)
        except (OSError, ValueError) as error:
            raise unreadable(error) from error
        if len(data) != info.file_size:
            raise BrokenInput("the member does not have the size in the list of members")
        if zlib.crc32(data) != info.CRC:
            raise BrokenInput("the member is damaged: checksum mismatch")
        return data

    def _count(self, info: zipfile.ZipInfo) -> None:
        """Refuse to go on where the members unpack to far more than the file."""
        if info.filename not in self._counted:
            self._counted.add(info.filename)
            self._unpacked += info.file_size
        if self._unpacked > FREE_EXPANSION and self._unpacked > self._size * limits().expansion:
            raise BrokenInput(f"the members of the file unpack to more than {limits().told('expansion')}")

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        """Return the bytes of a member as they are in the file, behind its own header."""
        self._file.seek(info.header_offset)
        header = self._file.read(_HEADER)
        if len(header) < _HEADER or not header.startswith(START):
            raise BrokenInput("the member is not where the list of members has it")
        name, extra = _LENGTHS.unpack_from(header, _LENGTHS_AT)
        self._file.seek(info.header_offset + _HEADER + name + extra)
        packed = self._file.read(info.compress_size)
        if len(packed) < info.compress_size:
            raise BrokenInput("the member is cut off")
        return packed


class _CappedFile(io.FileIO):
    """Read a file in pieces that are bounded: the list of the members comes as one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self.cap = limits().bytes("zip_list_mib")

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self.cap:
            raise BrokenInput(f"its list of members is larger than {limits().told('zip_list_mib')}")
        data = super().read(-1 if size is None else size) or b""
        if data.count(_LISTED) > limits().zip_members:  # counted here, since each that is listed costs more memory
            raise BrokenInput(f"it has more than {limits().told('zip_members')}")
        return data


def _members(file: _CappedFile) -> dict[str, zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(file) as opened:
            infos = opened.infolist()
    except _NOT_A_ZIP as error:
        raise BrokenInput("it is not a zip file, or was cut off before its list of members") from error
    except OSError as error:
        raise unreadable(error) from error
    file.cap = limits().bytes("line_mib")
    return {info.filename: info for info in infos}


def _unpack(packed: bytes, info: zipfile.ZipInfo) -> bytes:
    """Return what a member has, one byte more than its size at most."""
    most = info.file_size + 1
    try:
        if info.compress_type == STORED:
            return packed
        if info.compress_type == DEFLATE:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
        engine = zstandard.ZstdDecompressor(max_window_size=limits().bytes("zstd_window_mib"))
        with engine.stream_reader(io.BytesIO(packed), read_across_frames=True) as reader:
            return reader.read(most)
    except (zlib.error, zstandard.ZstdError) as error:
        if _NEEDS_MORE in str(error):
            reach = limits().told("zstd_window_mib")
            raise BrokenInput(f"the member has a zstd window over {reach}") from error
        raise BrokenInput("the member is damaged and cannot be unpacked") from error


# Open a log of Inspect AI in either of its forms: a zip file with a member for each sample, or one JSON document.
HEADER, JOURNAL = "header.json", "_journal/start.json"
SUMMARIES, JOURNAL_SUMMARIES = "summaries.json", "_journal/summaries/"
SAMPLES, PARTS = "samples", ("eval", "results", "status")
MOST_EPOCHS = 2**53

CHUNKED = "its sample is kept in chunks, which are not read"
MISSING = "the log lists its sample and does not have it"
NO_HEADER = "it is not a log of Inspect AI: it has neither header.json nor _journal/start.json"
UNFINISHED = "the log has no end: its run continues or was interrupted; what it has is read"

_ENDINGS = {"started": UNFINISHED, "error": "its run ended with an error", "cancelled": "its run was cancelled"}
_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>[0-9]{1,9})(?P<rest>\.json|/.+)", re.DOTALL)


Key: TypeAlias = tuple[str, int]
"""The id of a sample, and its epoch."""


Survey: TypeAlias = Callable[[bytes], None]
"""Is called with each sample of a log, before any is read."""


class SamplePart(NamedTuple):
    """Describe a sample as it is in a log; `key` is what the log calls it without a look inside."""

    key: Key | None
    data: bytes = b""
    problem: str | None = None


class Log(Protocol):
    """Describe an open log: its parts but for the samples, and what is wrong with it.

    `samples` yields them one by one, after a survey of them all when the log is opened; `listed` returns those of which
    the log shows that it has them.
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
        self.header = _header_in(archive, self.notes)
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


def _header_in(archive: Archive, notes: list[str]) -> dict[str, Any]:
    problem = None
    for name in (HEADER, JOURNAL):
        if name in archive.names:
            try:
                header = loads(archive.read(name), what=name)
                if isinstance(header, dict) and isinstance(header.get("eval"), dict):
                    break
                problem = problem or BrokenInput(f"{name} does not describe a run")
            except BrokenInput as broken:
                problem = problem or BrokenInput(f"{name} cannot be read: {broken.reason}")
    else:
        raise problem or BrokenInput(NO_HEADER)
    if problem is not None:
        notes.append(problem.reason)
    elif name == JOURNAL:
        notes.append(UNFINISHED)
    return header


def header_at(path: Path) -> dict[str, Any]:
    """Return what a log reports of its run before its samples are looked at; raise `BrokenInput`."""
    if read_start(path).lstrip().startswith(START):
        with Archive(path) as archive:
            return _header_in(archive, [])
    for member in read_members(path, PARTS[:1]):
        if isinstance(member, Member):
            return {member.key: loads(member.value, what=member.key)}
    raise BrokenInput(NO_HEADER)


class DocumentLog:
    """Read a log that is one JSON document, of any size; one that is cut off has its samples up to there."""

    def __init__(self, path: Path, survey: Survey) -> None:
        self._path = path
        self.notes: list[str] = []
        self.header = self._header(survey)
        if not isinstance(self.header.get("eval"), dict):
            raise BrokenInput("it is not a log of Inspect AI: it does not describe a run")
        self.notes += notes_on(self.header)

    def samples(self) -> Iterator[SamplePart]:
        """Yield the samples in their order; raise `BrokenInput` if the file cannot be read any further."""
        for member in read_members(self._path, lists=(SAMPLES,)):
            if isinstance(member, str):
                yield SamplePart(None, problem=member)
            elif member.place is not None:
                yield SamplePart(None, member.value)

    def listed(self) -> list[Key]:
        """Return none: a document has no list of its samples beside them."""
        return []

    def _header(self, survey: Survey) -> dict[str, Any]:
        """Return the parts that show what the run was; raise `BrokenInput` if the first cannot be reached."""
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
    """Return what distinguishes a sample: its id, which may be a number, and its epoch, from 1; `None` without."""
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


class Headline(NamedTuple):
    """Name the score that represents the whole: its scorer, and the key of it where its value has several."""

    scorer: str
    score: str


@dataclass(frozen=True, slots=True)
class Header:
    """Describe the parts of a log that are the same for all its samples."""

    run: str | None
    created: str | None
    commit: str | None
    branch: str | None
    agent: str
    flow: str
    persona: str | None
    headline: Headline | None
    scorers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)

    def averages(self, scorer: str) -> bool:
        """Tell whether Inspect AI makes numbers of what a scorer gives: by its metrics, which old logs do not have."""
        given = self.scorers.get(scorer, {}).get("metrics")
        names = {name.rpartition("/")[2] for name in _names_in(given)}
        return given is None or not names.isdisjoint(_OF_NUMBERS)

    def grader(self, scorer: str) -> str | None:
        """Return the model that a scorer asks, `None` for one that asks none and if nothing shows it."""
        if scorer in _COMPARES_TEXT:
            return None
        options = object_of(self.scorers.get(scorer, {}).get("options"))
        given = options.get("model")
        if models := [name for each in (given if isinstance(given, list) else [given]) if (name := text_of(each))]:
            return ", ".join(models)
        return self.roles.get(text_of(options.get("model_role")) or _GRADER)


def header_of(log: Mapping[str, Any]) -> Header:
    """Return what a log reports of its run, from its parts but for the samples; never raises on what they have."""
    spec, results = object_of(log.get("eval")), object_of(log.get("results"))
    task, metadata = text_of(spec.get("task")), object_of(spec.get("metadata"))
    run = next((name for key in ("run_id", "eval_id", "task_id") if (name := text_of(spec.get(key)))), None)
    scorers = objects_of(spec.get("scorers"))
    roles = object_of(spec.get("model_roles"))
    return Header(
        run=f"{run}/{task}" if run and task else run,
        created=text_of(spec.get("created")),
        commit=_commit(object_of(spec.get("revision"))),
        branch=text_of(metadata.get("branch")),
        agent=text_of(spec.get("model")) or "(unknown)",
        flow=text_of(metadata.get("flow")) or task or "(unknown)",
        persona=text_of(metadata.get("persona")),
        headline=_headline(results, spec),
        scorers={name: scorer for scorer in scorers if (name := text_of(scorer.get("name")))},
        roles={role: name for role, model in roles.items() if (name := _model(model))},
    )


def _headline(results: Mapping[str, Any], spec: Mapping[str, Any]) -> Headline | None:
    """Return the score that represents the whole: the one that the log names, else its first.

    A name that none of the scores has shows nothing. A run without results has only the names of its scorers.
    """
    named = object_of(results.get("headline")) or object_of(spec.get("headline_metric"))
    scores = objects_of(results.get("scores"))
    if not scores:
        names = [name for each in objects_of(spec.get("scorers")) if (name := text_of(each.get("name")))]
        scorer = text_of(named.get("scorer"))
        scores = [{"name": text_of(named.get("score")) if name == scorer else name, "scorer": name} for name in names]
    left = scores
    for key, told in (("reducer", "reducer"), ("scorer", "scorer"), ("score", "name")):
        if (wanted := text_of(named.get(key))) is not None:
            left = [each for each in left if text_of(each.get(told)) == wanted]
    if (metric := text_of(named.get("metric"))) is not None:
        left = [each for each in left if "metrics" not in each or metric in object_of(each.get("metrics"))]
    for each in left or scores:
        scorer, name = text_of(each.get("scorer")), text_of(each.get("name"))
        if first := scorer or name:
            return Headline(first, name or first)
    return None


def _names_in(metrics: Any, room: int = 4) -> Iterator[str]:
    """Yield the names of the metrics of a scorer: a list, or lists by the keys that they are of."""
    if isinstance(metrics, list) and room:
        for each in metrics:
            yield from (each,) if isinstance(each, str) else _names_in(each, room - 1)
    elif isinstance(metrics, dict) and room:
        if (name := text_of(metrics.get("name"))) is not None:
            yield name
        else:
            for each in metrics.values():
                yield from _names_in(each, room - 1)


def _commit(revision: Mapping[str, Any]) -> str | None:
    commit = text_of(revision.get("commit"))
    return f"{commit}{_DIRTY}" if commit and revision.get("dirty") is True else commit


def _model(given: Any) -> str | None:
    return text_of(given) or text_of(object_of(given).get("model"))
