"""Read what LiveKit Agents keep of a session where no report was made: its history (docs/formats/livekit.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import number_of, object_of, read_values, text_of
from riff_ingest.lines import BrokenInput
from riff_ingest.private_values import PrivateValues
from riff_ingest.source import FileHead, ReadContext, ReadItem, Source
from riff_store.facts import Skipped

NO_REPORT = "there is no session report, so nothing shows how calls ended"

_KINDS = frozenset({"message", "function_call", "function_call_output", "agent_handoff", "agent_config_update"})
_OWN = frozenset({"agent_handoff", "agent_config_update"})
_MARKS = {"message": ("interrupted",), "function_call_output": ("is_error", "isError")}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DIGITS = re.compile(r"\d{7,}")
_LATEST_S = 1e11
_LOOKED_AT = 8
_REPORTS = frozenset({"chat_history", "chatHistory"})
_OF_REPORTS = frozenset({"sdk_version", "sdkVersion", "job_id", "jobId"})


class History(NamedTuple):
    """Describe the items of a history, and the object that it is in."""

    items: list[dict[str, Any]]
    wrapper: Mapping[str, Any]


def history_of(value: Any) -> History | None:
    """Return the history that a JSON value is or has under any one key, `None` if it has none."""
    if isinstance(value, list):
        return History(value, {}) if _is_history(value) else None
    given = object_of(value)
    if _OF_REPORTS.intersection(given) and _REPORTS.intersection(given):
        return None
    for each in (given, *given.values()):
        items = each if isinstance(each, list) else object_of(each).get("items")
        if isinstance(items, list) and _is_history(items):
            return History(items, given)
    return None


def _is_history(items: list[Any]) -> bool:
    kinds = [_kind(item) for item in items]
    return _KINDS.issuperset(kinds) and any(
        kind in _OWN or any(mark in item for mark in _MARKS.get(kind, ()))
        for item, kind in zip(items, kinds, strict=True)
    )


def _kind(item: Any) -> str:
    return _HUMP.sub("_", text_of(object_of(item).get("type")) or "").lower()


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the call of each history, and what had to be left out."""
    taken = 0
    for value in read_values(path, _has_history):
        if isinstance(value, BrokenInput):
            yield Skipped("skipped", value.line, value.reason)
            continue
        line, given = value
        if (history := history_of(given)) is None:
            yield Skipped("skipped", line or None, "it has no history of a session")
            continue
        taken += 1
        call = _conversation(history, path, context)
        if taken > 1 and text_of(history.wrapper.get("job_id")) is None:
            call.conversation_id += f"/{taken}"
        yield line, call
    if taken:
        yield Skipped("defect", None, NO_REPORT)


def _has_history(value: Any) -> bool:
    return history_of(value) is not None


def _conversation(history: History, path: Path, context: ReadContext) -> Conversation:
    """Return the call of a history as that of a session report in which the rest is missing."""
    from riff_ingest.sources.livekit.conversation import conversation_of
    from riff_ingest.sources.livekit.report import report_of

    items = [_timed(item) for item in history.items]
    begins = [t for item in items if (t := _moment(item.get("created_at"))) is not None]
    ends = [t for item in items if (t := _moment(_metric(item, "stopped_speaking_at"))) is not None]
    room = text_of(history.wrapper.get("room_name")) or text_of(history.wrapper.get("roomName"))
    job = text_of(history.wrapper.get("job_id")) or text_of(history.wrapper.get("jobId"))
    lasts = max(ends) - min(begins) if ends and begins else None
    report = report_of(
        {
            "job_id": job,
            "room": room,
            "chat_history": {"items": items},
            "duration_ms": None if lasts is None else round(lasts * 1000, 3),
        }
    )
    call = conversation_of(report, path, context.contracts, context.tool_segments)
    if call.completed is False:
        call.completed, call.measured = None, {"completion": None}
    if job is None:
        call.conversation_id = PrivateValues(_DIGITS.findall(room or "")).text(call.conversation_id)
    return call


def _timed(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item with the time at which it was made, else at which its words began."""
    at = next((t for key in ("created_at", "createdAt") if (t := _moment(item.get(key))) is not None), None)
    kept = {key: value for key, value in item.items() if key not in ("created_at", "createdAt")}
    at = _moment(_metric(item, "started_speaking_at")) if at is None else at
    return kept | ({} if at is None else {"created_at": at})


def _metric(item: Mapping[str, Any], name: str) -> Any:
    metrics = object_of(item.get("metrics"))
    return next((value for key, value in metrics.items() if _HUMP.sub("_", key).lower() == name), None)


def _moment(value: Any) -> float | None:
    """Return a moment in seconds since the epoch; JavaScript counts milliseconds."""
    found = number_of(value, highest=_LATEST_S * 1000)
    return None if not found else found / 1000 if found > _LATEST_S else found


def _recognises(head: FileHead) -> str | None:
    documents = [head.value, *(head.value[:_LOOKED_AT] if isinstance(head.value, list) else ())]
    if any(history_of(document) for document in (*documents, *head.records)):
        return "it has the history of a LiveKit session"
    return None


SOURCE = Source(
    kind="livekit-history",
    version=2,
    read=read,
    title="Histories of LiveKit sessions",
    known_by="items of session.history.to_dict(), bare or under a key, with interrupted, is_error or a hand-off",
    recognises=_recognises,
    is_record=_has_history,
    takes_contracts=True,
    derives_states=True,
    rank=51,
)
