"""Take a sample of a log apart: only what is read of it, so that what was sent to models is never kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from riff_ingest.lenient_json import loads, objects_of
from riff_ingest.lines import BrokenInput

_Part = TypeVar("_Part", bound=msgspec.Struct)


class OfferedTool(msgspec.Struct):
    """Name a tool that a model was offered."""

    name: Any = None


class SampleEvent(msgspec.Struct):
    """Describe what is read of an event of a sample; which fields it has depends on its kind, `event`."""

    event: Any = None
    id: Any = None
    span_id: Any = None
    parent_id: Any = None
    name: Any = None
    type: Any = None
    timestamp: Any = None
    completed: Any = None
    working_time: Any = None
    role: Any = None
    tools: list[OfferedTool] | None = None
    output: Any = None
    function: Any = None
    arguments: Any = None
    result: Any = None
    error: Any = None
    failed: Any = None
    intermediate: Any = None


class SampleHead(msgspec.Struct):
    """Describe what distinguishes a sample from others, and a copy of it from one that was made again."""

    id: Any = None
    epoch: Any = None
    uuid: Any = None
    started_at: Any = None
    completed_at: Any = None


class Sample(SampleHead):
    """Describe what is read of a sample: one run of the task's dialogue, of one epoch."""

    messages: Any = None
    scores: Any = None
    metadata: Any = None
    attachments: Any = None
    total_time: Any = None
    error: Any = None
    error_retries: Any = None
    limit: Any = None
    invalidation: Any = None
    events: list[SampleEvent] = []


class ScoresOnly(msgspec.Struct):
    """Describe the scores of a sample alone."""

    scores: Any = None


_samples = msgspec.json.Decoder(Sample)
_heads = msgspec.json.Decoder(SampleHead)
_scores = msgspec.json.Decoder(ScoresOnly)
_MISREAD = (msgspec.MsgspecError, ValueError, RecursionError)


def decode_sample(data: bytes, defects: Counter[str]) -> Sample:
    """Return a sample; what plain JSON cannot have is counted in `defects`. Raises `BrokenInput` for what is none."""
    try:
        return _samples.decode(data)
    except _MISREAD:
        given = _object(data, defects)
    sample = _fields({**given, "events": None}, Sample)
    sample.events = [_event(event) for event in objects_of(given.get("events"))]
    return sample


def decode_head(data: bytes) -> SampleHead:
    """Return what distinguishes a sample from others; raise `BrokenInput` for what is none."""
    try:
        return _heads.decode(data)
    except _MISREAD:
        return _fields(_object(data, Counter()), SampleHead)


def decode_scores(data: bytes) -> Any:
    """Return the scores of a sample; raise `BrokenInput` for what is none."""
    try:
        return _scores.decode(data).scores
    except _MISREAD:
        return _object(data, Counter()).get("scores")


def _event(given: Mapping[str, Any]) -> SampleEvent:
    event = _fields({**given, "tools": None}, SampleEvent)
    event.tools = [_fields(tool, OfferedTool) for tool in objects_of(given.get("tools"))]
    return event


def _object(data: bytes, defects: Counter[str]) -> dict[str, Any]:
    given = loads(data, defects, what="sample")
    if not isinstance(given, dict):
        raise BrokenInput("sample is not a JSON object")
    return given


def _fields(given: Mapping[str, Any], kind: type[_Part]) -> _Part:
    return kind(**{name: given[name] for name in kind.__struct_fields__ if given.get(name) is not None})
