"""Find every source, the inputs below a user's paths, and by content which source each of them is of."""

from __future__ import annotations

import importlib
import os
import pkgutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from riff_ingest import sources as package
from riff_ingest import yaml_document
from riff_ingest.lenient_json import closed_envelope, opened
from riff_ingest.lines import BrokenInput, read_start, read_whole, unreadable
from riff_ingest.source import HEAD_LINES, DirectoryInput, FileHead, ReadContext, ReadItem, Source
from riff_ingest.yaml_document import ENDINGS as _YAML
from riff_store.errors import RiffError
from riff_store.plugins import load_plugins, name_refusal

_P = ParamSpec("_P")
_T = TypeVar("_T")

GROUP = "riff_tui.sources"
"""The entry point group in which a distribution names a `Source`."""

UNKNOWN = "unknown"
"""The kind of what no source recognises."""


class Registry(NamedTuple):
    """Describe the sources in the order in which they are asked, and a sentence on each plug-in that is left out."""

    sources: tuple[Source, ...]
    problems: tuple[str, ...] = ()


def sources() -> tuple[Source, ...]:
    """Return all sources, those with the lowest rank first."""
    return registry().sources


def source_of(kind: str) -> Source | None:
    """Return the source of a kind, `None` if there is none."""
    return next((source for source in sources() if source.kind == kind), None)


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Find the sources, once in a process; a plug-in that cannot be used is left out."""
    own = tuple(_own_sources())
    taken = {UNKNOWN, *(source.kind for source in own)}

    def refusal(source: Source, others: Sequence[Source]) -> str:
        return name_refusal("kind", (source.kind,), taken.union(other.kind for other in others))

    added, problems = load_plugins(GROUP, "source", Source, refusal)
    found = sorted((*own, *map(_guarded, added.values())), key=lambda source: (source.rank, source.kind))
    return Registry(tuple(found), tuple(problems))


def _own_sources() -> Iterator[Source]:
    """Yield the `SOURCE` of each module of the package that has one."""
    for info in pkgutil.iter_modules(package.__path__):
        source = getattr(importlib.import_module(f"{package.__name__}.{info.name}"), "SOURCE", None)
        if isinstance(source, Source):
            yield source


def _guarded(source: Source) -> Source:
    """Return a source of foreign code that leaves an input out where it fails, instead of ending the ingest."""

    def broken(error: Exception) -> BrokenInput:
        return BrokenInput(f"the source {source.kind} failed with {type(error).__name__}")

    def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
        try:
            yield from source.read(path, context)
        except RiffError:
            raise
        except Exception as error:
            raise broken(error) from error

    def digest(path: Path) -> tuple[str, int]:
        assert source.directory is not None
        try:
            return source.directory.digest(path)
        except RiffError:
            raise
        except Exception as error:
            raise broken(error) from error

    directory = source.directory and DirectoryInput(
        _unless_it_fails(source.directory.claims, False),
        digest,
        _unless_it_fails(source.directory.set_aside, None),
        _unless_it_fails(source.directory.accompanies, False),
    )
    return replace(
        source,
        read=read,
        read_some=None,
        recognises=_unless_it_fails(source.recognises, None),
        is_record=_unless_it_fails(source.is_record, False),
        contracts=_unless_it_fails(source.contracts, {}),
        is_companion=_unless_it_fails(source.is_companion, False),
        directory=directory,
    )


def _unless_it_fails(function: Callable[_P, _T], otherwise: _T) -> Callable[_P, _T]:
    """Return a function that gives `otherwise` where foreign code fails."""

    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return function(*args, **kwargs)
        except RiffError:
            raise
        except Exception:
            return otherwise

    return guarded


# Decide what of a path is read, and what it is, by content.
EMPTY = "file is empty"
LISTED_KEYS = 5
LONGEST_KEY = 30


class Detected(NamedTuple):
    """Describe the kind of an input, `None` if it is none that can be read, and why."""

    kind: str | None
    reason: str


def detect(path: Path) -> Detected:
    """Return what a file or a directory is taken for, and why; raise `BrokenInput` if it cannot be read at all."""
    if path.is_dir():
        kind = claimed_kind(path)
        return Detected(kind, f"it is a directory of {kind}" if kind else "it is a directory")
    head = FileHead(path, read_start(path))
    if not head.start:
        return Detected(None, EMPTY)
    for source in sources():
        try:
            reason = source.recognises(head)
        except BrokenInput as problem:
            return Detected(None, problem.reason)
        if reason:
            return Detected(source.kind, reason)
    if found := _in_envelopes(head):
        return found
    named = named_kind(path.name)
    if named is not None:
        return Detected(named, "by its name")
    if not head.start.strip():
        return Detected(None, EMPTY)
    if not head.records and head.misread:
        return Detected(None, head.misread)
    return Detected(None, f"not recognised: {_held(head)}")


def _in_envelopes(head: FileHead) -> Detected | None:
    """Return what is in the envelopes of a file that nothing takes as it is, or why they cannot be opened."""
    listed = head.value[:HEAD_LINES] if isinstance(head.value, list) else [head.document]
    listed = [each for each in [*head.records, *listed] if each]
    for source in sources():
        if any(opened(each, source.is_record, most=HEAD_LINES) for each in listed):
            return Detected(source.kind, f"in envelopes it has: {source.title}")
    why = next(filter(None, map(closed_envelope, listed)), None)
    return Detected(None, why) if why else None


def _held(head: FileHead) -> str:
    """Return the keys of a file that nothing reads, what it seems to be, and what helps."""
    form = "TOML" if head.document and not head.start.lstrip().startswith(b"{") else "JSON"
    form = "YAML" if head.path.name.endswith(yaml_document.ENDINGS) else form
    listed = (
        next((each for each in head.value if isinstance(each, dict)), None) if isinstance(head.value, list) else None
    )
    form = f"a {form} list of objects" if listed else form
    known = head.document or listed or next(iter(head.records), {})
    pages = (each for each in known.values() if isinstance(each, list))
    entry = next((each for page in pages for each in page[:1] if isinstance(each, dict)), {})
    names = [name if len(name) <= LONGEST_KEY else f"{name[:LONGEST_KEY]}…" for name in known]
    more = [f"{len(names) - LISTED_KEYS} more"] if len(names) > LISTED_KEYS else []
    keys = f"with the keys {', '.join([*names[:LISTED_KEYS], *more])}" if names else "without a key that is known"
    return f"{form} {keys}; {_foreign(known) or _foreign(entry) or OWN_DATA}"


class Foreign(NamedTuple):
    """Describe data that others write: which keys it has, each one of several, and what helps who has it.

    `kinds` are values of `type` that it has then, if these show it.
    """

    what: str
    keys: tuple[tuple[str, ...], ...]
    help: str
    kinds: tuple[str, ...] = ()


OWN_DATA = "docs/own-data.md shows how to bring other data"
"""What helps who has data that nobody knows."""
_CONVERTED = "examples/converters/{} converts it (docs/own-data.md)".format
_FOREIGN = (
    Foreign(
        "spans of OpenTelemetry (OTLP)",
        (("resourceSpans", "resource_spans"),),
        _CONVERTED("genai_spans.py or pipecat_spans.py"),
    ),
    Foreign(
        "an export of Langfuse",
        (("traceId", "trace_id"), ("type", "dataType", "data_type")),
        _CONVERTED("langfuse.py"),
    ),
    Foreign(
        "results of single prompts, no calls (promptfoo)", (("evalId", "promptIdx"), ("results", "testIdx")), OWN_DATA
    ),
    Foreign(
        "a test run of DeepEval",
        (("conversationalTestCases", "testCases"), ("metricsScores", "testFile")),
        _CONVERTED("deepeval.py"),
    ),
    Foreign(
        "results of end-to-end tests of Rasa, which passed or failed without words",
        (("test_results", "pass_status"),),
        OWN_DATA,
    ),
    Foreign(
        "a call of Ultravox", (("callId", "callStageId"), ("joined", "endReason", "role")), _CONVERTED("ultravox.py")
    ),
    Foreign(
        "a conversation of Dialogflow CX",
        (("interactions", "turn_position"), ("name", "conversation_name")),
        _CONVERTED("dialogflow_cx.py"),
    ),
    Foreign(
        "events of OpenAI's Realtime API, which have no times",
        (("event_id",), ("type",)),
        _CONVERTED("openai_realtime.py"),
    ),
    Foreign("a workflow of n8n", (("nodes",), ("connections",)), "calls are in the output of its Webhook node"),
    Foreign(
        "events of a voice agent of Deepgram",
        (("type",),),
        _CONVERTED("deepgram.py"),
        kinds=("AgentStartedSpeaking", "ConversationText", "FunctionCallRequest", "LatencyReport", "Welcome"),
    ),
    Foreign("messages of Twilio's ConversationRelay", (("type",),), OWN_DATA, kinds=("interrupt", "prompt", "setup")),
    Foreign(
        "a simulated call of a test platform (Hamming, Coval, Cekura)",
        (("test_case_id", "scenario_id"), ("transcript",)),
        OWN_DATA,
    ),
    Foreign(
        "a record of a call with its transcript as text",
        (("transcript", "transcription"),),
        _CONVERTED("text_transcripts.py"),
    ),
)


def _foreign(known: Mapping[str, object]) -> str | None:
    """Return what an object of others seems to be, with what helps, `None` for what nobody knows."""
    for each in _FOREIGN:
        has_kind = not each.kinds or known.get("type") in each.kinds
        if has_kind and all(any(key in known for key in some) for some in each.keys):
            return f"it seems to be {each.what}: {each.help}"
    return None


def named_kind(name: str) -> str | None:
    """Return the kind that takes files of this name."""
    return next((source.kind for source in sources() if source.is_named(name)), None)


def may_be_known(path: Path) -> bool:
    """Return whether the words of some kind are in a YAML file, which takes long to read."""
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
    """Return why neither a directory nor anything in it is input, `None` if it may be."""
    reasons = (source.directory.set_aside(directory) for source in sources() if source.directory)
    return next((reason for reason in reasons if reason), None)


def is_companion(path: Path) -> bool:
    """Return whether a file was written beside inputs and is none itself."""
    return any(source.is_companion(path) for source in sources())


def accompanies(path: Path) -> bool:
    """Return whether a file is read with the directories beside it that are inputs."""
    return any(source.directory.accompanies(path) for source in sources() if source.directory)


# Find the files that a user's paths represent, in one order whatever the order of the paths.
_LINES = (".jsonl", ".jsonl.gz")
_STORES = (".db", ".db-wal", ".db-shm")
_DOCUMENTS = (".json", ".json.gz", ".toml")


@dataclass(slots=True)
class FoundInputs:
    """Describe inputs in the order of their absolute paths, and what was passed over: path and reason.

    `kinds` are those of the inputs that were looked into to find them. `set_aside` was so by the one who wrote it, and
    nothing is wrong with that. `not_looked_at` are files of a walk whose names are of nothing that is read.
    """

    files: list[Path] = field(default_factory=list)
    kinds: dict[Path, str] = field(default_factory=dict)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    set_aside: list[tuple[str, str]] = field(default_factory=list)
    not_looked_at: list[str] = field(default_factory=list)


def find_inputs(paths: Iterable[str | os.PathLike[str]]) -> FoundInputs:
    """Find the files and directories that are inputs.

    A directory that is one input as a whole is not looked into, one that was put aside is passed over.

    A file that is named is an input whatever it has. A directory is walked, hidden entries left out: known names are
    inputs, other JSON, TOML and YAML files where their content is known. Passed over are links below it, special files,
    unknown or broken `.jsonl`, `.json` and `.toml` files (but not valid JSON and TOML of other programs, and no YAML
    that names none of what is known) and what cannot be read. A file reached twice is one input.
    """
    search = _Search()
    for path in paths:
        search.root(Path(path))
    return FoundInputs(
        sorted(search.inputs.values(), key=_order),
        search.kinds,
        search.out(search.passed_over),
        search.out(search.set_aside),
        sorted(search.not_looked_at),
    )


class _Search:
    def __init__(self) -> None:
        self.inputs: dict[str, Path] = {}
        self.kinds: dict[Path, str] = {}
        self.passed_over: dict[Path, str] = {}
        self.set_aside: dict[Path, str] = {}
        self.not_looked_at: set[str] = set()

    def root(self, path: Path) -> None:
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:
            self._pass(path, unreadable(error).reason)
            return
        if stat.S_ISDIR(mode):
            self._directory(path, self._walk)
        elif stat.S_ISREG(mode):
            self._take(path)
        else:
            self._pass(path, "not a regular file")

    def _walk(self, root: Path) -> None:
        waiting = [root]
        while waiting:
            directory = waiting.pop()
            for entry in self._entries(directory):
                path = directory / entry.name
                try:
                    waiting += self._entry(entry, path)
                except OSError as error:
                    self._pass(path, unreadable(error).reason)

    def _entry(self, entry: os.DirEntry[str], path: Path) -> list[Path]:
        """Take what is in a directory or pass it over; a directory that has to be walked comes back."""
        if entry.is_symlink():
            self._pass(path, "a link below the directory is not followed")
        elif entry.is_dir(follow_symlinks=False):
            found: list[Path] = []
            self._directory(path, found.append)
            return found
        elif entry.is_file(follow_symlinks=False):
            self._file(path)
        else:
            self._pass(path, "not a regular file")
        return []

    def _directory(self, path: Path, walk: Callable[[Path], object]) -> None:
        """Take a directory that is one input, pass over one that is none, and have any other walked."""
        if reason := set_aside(path):
            self.set_aside[path] = reason
        elif (kind := claimed_kind(path)) is None:
            walk(path)
        else:
            self._take(path, kind)

    def _entries(self, directory: Path) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as entries:
                found = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError as error:
            self._pass(directory, unreadable(error).reason)
            return
        yield from found

    def _file(self, path: Path) -> None:
        name = path.name
        if named_kind(name) is not None:
            self._take(path)
        elif is_companion(path):
            return
        elif not self._may_be_input(path):
            if not name.endswith((*_YAML, *_STORES)) and not accompanies(path):
                self.not_looked_at.add(str(path))
        else:
            try:
                kind, reason = detect(path)
            except BrokenInput as problem:
                kind, reason = None, problem.reason
            if kind is not None:
                self._take(path, kind)
            elif not accompanies(path):
                self._pass(path, reason)

    def _may_be_input(self, path: Path) -> bool:
        name = path.name
        return name.endswith((*_LINES, *_DOCUMENTS)) or (name.endswith(_YAML) and may_be_known(path))

    def _take(self, path: Path, kind: str | None = None) -> None:
        if kind is not None:
            self.kinds[path] = kind
        real = _real(path)
        known = self.inputs.get(real)
        if known is None or _rank(path) < _rank(known):
            self.inputs[real] = path

    def _pass(self, path: Path, reason: str) -> None:
        self.passed_over[path] = reason

    def out(self, reasons: Mapping[Path, str]) -> list[tuple[str, str]]:
        """Return paths, in order and each once, with the reasons why they are left out, but for what is an input."""
        spelled = {_order(path): path for path in sorted(reasons, key=_rank, reverse=True)}
        return [(str(path), reasons[path]) for _, path in sorted(spelled.items()) if _real(path) not in self.inputs]


def _real(path: Path) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # no path at all
        return str(path)


def _order(path: Path) -> bytes:
    return os.fsencode(os.path.abspath(path))


def _rank(path: Path) -> tuple[bool, bytes]:
    """Return the rank of a spelling of a file: the one without links stays."""
    return os.path.abspath(path) != _real(path), os.fsencode(path)
