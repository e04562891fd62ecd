"""Take a session report apart: what Python's SDK spells in snake_case and JavaScript's in camelCase comes out alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from riff_ingest.lenient_json import flag_of, number_of, object_of, objects_of, text_of, value_in
from riff_ingest.lines import BrokenInput
from riff_ingest.private_values import PrivateValues

NO_REPORT = "it is not a session report: there is no chat_history with items"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NUMBER = re.compile(r"\d{7,}")
"""The name of a room often holds the number of who called."""
_LATEST_S = 1e11
"""A moment past this many seconds is one in milliseconds, as JavaScript counts."""
_MOST_ERRORS, _MOST_PARTS = 100, 20


@dataclass(frozen=True, slots=True)
class Item:
    """Describe an item of the history; `at` and the times of speech are seconds since the epoch.

    `details` are the latencies of its parts (`llm_node_ttft`, `transcription_delay`), `latency` that of the answer as
    it was heard, all in seconds.
    """

    kind: str
    at: float | None
    role: str = ""
    text: str = ""
    interrupted: bool = False
    started: float | None = None
    stopped: float | None = None
    latency: float | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    call_id: str | None = None
    name: str = ""
    arguments: Any = None
    output: Any = None
    is_error: bool = False
    old_agent: str | None = None
    new_agent: str | None = None

    @property
    def is_said(self) -> bool:
        """Return whether one of the two sides said it."""
        return self.kind == "message" and self.role in ("user", "assistant") and bool(self.text.strip())


@dataclass(frozen=True, slots=True)
class Report:
    """Describe what is taken of a session report; `models` are in their order.

    `written_at` and `begins_at`, when the first item came, are in seconds since the epoch.
    """

    job: str | None
    rooms: tuple[str, ...]
    agent_name: str | None
    items: list[Item]
    written_at: float | None
    duration_s: float | None
    models: tuple[str, ...]
    tags: tuple[str, ...]
    errors: Mapping[str, int] | None
    close_reason: str | None
    begins_at: float | None
    odd_items: int = 0

    def since(self, moment: float | None) -> float | None:
        """Return the seconds from the first item to a moment, to the microsecond."""
        return None if moment is None or self.begins_at is None else round(moment - self.begins_at, 6)


def is_report(value: Any) -> bool:
    """Return whether a JSON value is a session report."""
    top = _snake(value)
    history = _snake(top.get("chat_history"))
    return isinstance(history.get("items"), list) and ("sdk_version" in top or "job_id" in top)


def report_of(value: Any) -> Report:
    """Return the parts of a session report; raise `BrokenInput` if it is none."""
    top = _snake(value)
    given = _snake(top.get("chat_history")).get("items")
    if not isinstance(given, list):
        raise BrokenInput(NO_REPORT)
    rooms = tuple(name for key in ("room_id", "room") if (name := text_of(top.get(key))))
    private = PrivateValues(number for room in rooms for number in _NUMBER.findall(room))
    items = [_item(_snake(private.value(each)), private) for each in objects_of(given)]
    errors = top.get("errors")
    milliseconds = number_of(top.get("duration_ms"))
    return Report(
        job=text_of(top.get("job_id")),
        rooms=rooms,
        agent_name=_word(top.get("agent_name"), private),
        items=items,
        written_at=_moment(top.get("timestamp")),
        duration_s=None if milliseconds is None else milliseconds / 1000,
        models=tuple(private.text(model) for model in _models(top.get("usage"))),
        tags=tuple(private.text(tag) for tag in _list(top.get("tags")) if isinstance(tag, str)),
        errors=_counts(errors) if isinstance(errors, dict) else None,
        close_reason=_word(top.get("close_reason"), private),
        begins_at=min((item.at for item in items if item.at is not None), default=None),
        odd_items=len(given) - len(items),
    )


def _snake(value: Any) -> dict[str, Any]:
    """Return an object with its keys in snake_case; those of the objects in it stay."""
    return {_HUMP.sub("_", key).lower(): part for key, part in object_of(value).items()}


def _item(given: Mapping[str, Any], private: PrivateValues) -> Item:
    metrics = _snake(given.get("metrics"))
    kind = _HUMP.sub("_", text_of(given.get("type")) or "").lower()
    return Item(
        kind=kind,
        at=_moment(given.get("created_at")),
        role=text_of(given.get("role")) or "",
        text=_words(given.get("content")) if kind == "message" else "",
        interrupted=flag_of(given.get("interrupted")) or False,
        started=_moment(metrics.get("started_speaking_at")),
        stopped=_moment(metrics.get("stopped_speaking_at")),
        latency=number_of(metrics.get("e2e_latency")),
        details={
            name: seconds
            for name, value in metrics.items()
            if name.endswith(("_delay", "_ttft", "_ttfb", "_latency"))
            and name != "e2e_latency"
            and (seconds := number_of(value)) is not None
        },
        call_id=text_of(given.get("call_id")),
        name=text_of(given.get("name")) or "",
        arguments=private.value(value_in(given.get("arguments", given.get("args")))),
        output=given.get("output"),
        is_error=flag_of(given.get("is_error")) or False,
        old_agent=text_of(given.get("old_agent_id")),
        new_agent=text_of(given.get("new_agent_id")),
    )


def _moment(value: Any) -> float | None:
    """Return a moment in seconds since the epoch."""
    found = number_of(value, highest=_LATEST_S * 1000)
    return None if not found else found / 1000 if found > _LATEST_S else found


def _words(content: Any) -> str:
    """Return the text of a message, of sounds in it what was understood; images are left out."""
    parts = [content] if isinstance(content, str) else _list(content)
    said = (object_of(part).get("transcript") if isinstance(part, dict) else part for part in parts)
    return "\n".join(part for part in said if isinstance(part, str) and part)


def _word(given: Any, private: PrivateValues) -> str | None:
    """Return what something is called."""
    name = text_of(given)
    return None if name is None else private.text(name)


def _models(usage: Any) -> tuple[str, ...]:
    """Return the models of the call, those that listened, thought and spoke in this order."""
    found: dict[str, None] = {}
    for part in ("stt_usage", "llm_usage", "tts_usage"):
        for entry in map(_snake, objects_of(usage)):
            if entry.get("type") == part and (model := text_of(entry.get("model"))):
                found[model] = None
    return tuple(found)


def _counts(errors: Mapping[str, Any]) -> dict[str, int]:
    found = {}
    for part, value in islice(errors.items(), _MOST_PARTS):
        count = number_of(value)
        if count:
            found[part] = min(int(count), _MOST_ERRORS)
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
