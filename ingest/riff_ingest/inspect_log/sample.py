"""Decode a sample of a log into the parts that are read; all else is passed over without being built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from riff_ingest.limits import limits
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.json_parts import objects_of
from riff_ingest.sources.lenient_json import loads
from riff_ingest.sources.lines import BrokenInput

ATTACHMENT = "attachment://"
PRIVATE = PrivateValues()
"""Takes tokens and signatures of links out of texts and values: those of a log name none beside them."""

_Part = TypeVar("_Part", bound=msgspec.Struct)


class OfferedTool(msgspec.Struct):
    """Name a tool that a model was offered."""

    name: Any = None


class SampleEvent(msgspec.Struct):
    """Hold what is read of an event of a sample; which fields it has depends on its kind, `event`."""

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


class Sample(msgspec.Struct):
    """Hold what is read of a sample: one run of the task's dialogue, of one epoch."""

    id: Any = None
    epoch: Any = None
    messages: Any = None
    scores: Any = None
    metadata: Any = None
    attachments: Any = None
    started_at: Any = None
    completed_at: Any = None
    total_time: Any = None
    error: Any = None
    error_retries: Any = None
    limit: Any = None
    invalidation: Any = None
    events: list[SampleEvent] = []


class ScoresOnly(msgspec.Struct):
    """Hold the scores of a sample alone."""

    scores: Any = None


_samples = msgspec.json.Decoder(Sample)
_scores = msgspec.json.Decoder(ScoresOnly)
_MISREAD = (msgspec.MsgspecError, ValueError, RecursionError)


def decode_sample(data: bytes, defects: Counter[str]) -> Sample:
    """Return a sample; what plain JSON cannot hold is counted in `defects`. Raises `BrokenInput` for what is none."""
    try:
        return _samples.decode(data)
    except _MISREAD:
        given = _object(data, defects)
    sample = _fields({**given, "events": None}, Sample)
    sample.events = [_event(event) for event in objects_of(given.get("events"))]
    return sample


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


def spoken(content: Any, attachments: Mapping[str, Any]) -> str:
    """Return the text of a message: its parts in lines, others left out, long ones looked up, without blanks around."""
    if isinstance(content, str):
        return _attached(content, attachments).strip()
    parts = [part.get("text") for part in objects_of(content) if part.get("type") == "text"]
    return "\n".join(_attached(part, attachments) for part in parts if isinstance(part, str) and part).strip()


def attached(value: Any, attachments: Mapping[str, Any], room: int | None = None) -> Any:
    """Return a plain JSON value with the long texts in it that a sample keeps apart."""
    if isinstance(value, str):
        return _attached(value, attachments)
    room = limits().depth if room is None else room
    if not attachments or room == 0:
        return value
    if isinstance(value, list):
        return [attached(each, attachments, room - 1) for each in value]
    if isinstance(value, dict):
        return {key: attached(each, attachments, room - 1) for key, each in value.items()}
    return value


def _attached(said: str, attachments: Mapping[str, Any]) -> str:
    kept = attachments.get(said.removeprefix(ATTACHMENT)) if said.startswith(ATTACHMENT) else None
    return kept if isinstance(kept, str) else said
