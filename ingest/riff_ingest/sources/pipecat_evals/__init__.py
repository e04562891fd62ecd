"""Read pipecat's evals: `results.jsonl` of a run, and conversations by themselves (docs/formats.md, section 9)."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import load_document, object_of, read_values, text_of
from riff_ingest.lines import BrokenInput, read_start
from riff_ingest.source import FileHead, ReadContext, ReadItem, Source, numbered, run_of
from riff_ingest.source import text_of as name_of
from riff_store.facts import JudgedScore, Skipped

if TYPE_CHECKING:
    from riff_ingest.sources.pipecat_evals.messages import Messages

RESULTS = ("results.jsonl", "results.jsonl.gz")
ENDINGS = (".conversation.json", ".conversation.json.gz")
TOLD_ELSEWHERE = "its call is read from the results that name it"

_Told: TypeAlias = tuple[frozenset[str], frozenset[bytes]]
_STAMP = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)[T_ -]?(\d\d)[:-]?(\d\d)(?:[:-]?(\d\d))?")


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a run with the verdicts on them, and what had to be left out."""
    return numbered(_items(path, context))


def _items(path: Path, context: ReadContext) -> Iterator[tuple[int, Conversation] | JudgedScore | Skipped]:
    if read_start(path).lstrip().startswith(b"["):
        yield from _conversation(path, context)
        return
    for value in read_values(path):
        if isinstance(value, BrokenInput):
            yield Skipped("skipped", value.line, value.reason)
        else:
            yield from _result(path, *value, context)


def _result(
    path: Path, line: int, record: Any, context: ReadContext
) -> Iterator[tuple[int, Conversation] | JudgedScore | Skipped]:
    from riff_ingest.sources.pipecat_evals.messages import messages_of
    from riff_ingest.sources.pipecat_evals.results import call_of, is_result, verdicts_of

    try:
        if not isinstance(record, dict) or not is_result(record):
            raise BrokenInput("line is no result of a script or a simulation")
        kept, reason = (record["messages"], "") if record.get("messages") else _kept_beside(path, record)
        messages = messages_of(kept, context.tool_segments)
        call = call_of(record, messages, run=run_of(path), started_at=_started_at(path))
    except BrokenInput as problem:
        yield Skipped("skipped", line or None, problem.reason, problem.conversation)
        return
    yield line, call
    yield from verdicts_of(record, call, messages)
    if reason:
        yield Skipped("defect", line or None, f"its conversation is not known: {reason}", call.conversation_id)
    yield from _odd(messages, line or None, call)


def _conversation(path: Path, context: ReadContext) -> Iterator[tuple[int, Conversation] | Skipped]:
    """Yield a conversation of which nothing but its messages is known: its directory names flow and run."""
    from riff_ingest.sources.pipecat_evals.messages import is_messages, messages_of

    document = load_document(path)
    if not is_messages(document):
        raise BrokenInput("file is no list of messages of pipecat")
    if is_company(path):
        yield Skipped("defect", None, TOLD_ELSEWHERE)
        return
    messages = messages_of(document, context.tool_segments)
    name = name_of(path.name)
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    run = run_of(path)
    call = Conversation(conversation_id=name, flow=run, run_id=run, started_at=_started_at(path))
    messages.fill(call)
    yield 0, call
    yield from _odd(messages, None, call)


def _odd(messages: Messages, line: int | None, call: Conversation) -> Iterator[Skipped]:
    if messages.odd:
        reason = f"{messages.odd} of its messages are none and are left out"
        yield Skipped("defect", line, reason, call.conversation_id)


def is_company(path: Path) -> bool:
    """Tell whether a conversation is one of those that a run's results beside it, or above it, tell of."""
    if not path.name.endswith(ENDINGS):
        return False
    directories = path.parent, path.absolute().parent.parent
    told = [_told_in(directory / name) for directory in directories for name in RESULTS]
    if any(name_of(path.name) in names for names, _ in told):
        return True
    kept = {digest for _, messages in told for digest in messages}
    with suppress(BrokenInput):
        return bool(kept) and _digest(load_document(path)) in kept
    return False


def _told_in(results: Path) -> _Told:
    """Return the names of the files in which a run keeps conversations, and digests of those that it keeps itself."""
    try:
        status = results.stat()
        return _told(results, status.st_mtime_ns, status.st_size)
    except (OSError, BrokenInput):
        return frozenset(), frozenset()


@lru_cache(maxsize=64)
def _told(results: Path, _modified: int, _size: int) -> _Told:
    names, messages = set(), set()
    for value in read_values(results):
        record = {} if isinstance(value, BrokenInput) else object_of(value[1])
        if name := _file_of(record):
            names.add(name)
        if record.get("messages"):
            messages.add(_digest(record["messages"]))
    return frozenset(names), frozenset(messages)


def _digest(messages: Any) -> bytes:
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).digest()


def _file_of(record: dict[str, Any]) -> str | None:
    """Return the name of the file that a result names as its conversation, without its directory."""
    path = text_of(object_of(record.get("artifacts")).get("conversation"))
    return path.replace("\\", "/").rpartition("/")[2] or None if path else None


def _kept_beside(path: Path, record: dict[str, Any]) -> tuple[Any, str]:
    """Return the messages in the file that a result names, or why there are none.

    It is looked for by the results and in the directory below that it names.
    """
    name = _file_of(record)
    if name is None or not name.endswith(ENDINGS):
        return None, ""
    below = PurePosixPath(str(record["artifacts"]["conversation"]).replace("\\", "/")).parent.name
    places = [path.parent, *([path.parent / below] if below not in ("", "..") else [])]
    for place in places:
        try:
            if _is_kept_in(place, name, linked=place == path.parent):
                return load_document(place / name), ""
        except BrokenInput as problem:
            return None, problem.reason
        except (OSError, ValueError):
            continue
    return None, "its file does not lie by the results"


def _is_kept_in(place: Path, name: str, *, linked: bool) -> bool:
    """Tell whether a file lies in a place; neither is a link, but for a place that may be `linked`."""
    file = place / name
    return file.is_file() and not file.is_symlink() and (linked or not place.is_symlink())


def _started_at(path: Path) -> str | None:
    """Return when a run was: as its directory says, which may be named by the time, else when its file was written."""
    found = _STAMP.search(run_of(path))
    with suppress(ValueError, OSError, OverflowError):
        if found:
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC).isoformat()
        return datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC).isoformat()
    return None


def _recognises(head: FileHead) -> str | None:
    from riff_ingest.sources.pipecat_evals.messages import TOOL, is_messages
    from riff_ingest.sources.pipecat_evals.results import is_result

    if any(is_result(record) for record in head.records):
        return "its lines are results of scripts or simulations"
    messages = head.value
    if not isinstance(messages, list) or not is_messages(messages):
        return None
    if head.path.name.endswith(ENDINGS):
        return "it is the messages of a conversation"
    return "its messages call tools" if any(message["role"] == TOOL for message in messages) else None


SOURCE = Source(
    kind="pipecat",
    version=1,
    read=read,
    title="Evals of pipecat",
    known_by="lines with kind script or simulation, bot and passed; or a list of messages named *.conversation.json",
    recognises=_recognises,
    derives_states=True,
    is_company=is_company,
)
