"""Read which nodes a call of Bland came through and which webhooks it called, from the events of its pathway."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from riff_ingest.lenient_json import number_of, object_of, opened, parse_time, read_values, text_of
from riff_ingest.lines import BrokenInput, digest, read_start
from riff_ingest.platforms import records_of
from riff_ingest.sources.bland import is_call, is_event
from riff_store.facts import Skipped

_EVENT = b'"event_type"'
_ENDINGS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_CALLED, _FAILED = "webhook.invoke", "operation.error"
_ANSWERS = ("operation.result", _FAILED)
_MOVING = ("conversation", "node", "webhook")
"""What happens in the node that it names; an operation may come back when the call is in another one."""
_TARGETS = ("to_node_id", "target_node_id", "next_node_id", "new_node_id", "to", "target", "next")
_NAMES = ("to_node_name", "target_node_name", "next_node_name", "node_name")
_TOOLS = ("tool_name", "tool", "webhook_name", "name")
_GIVEN = ("arguments", "input", "params", "body")
_RESULTS = ("result", "response", "data", "body", "output")
_ERRORS = ("error_message", "error", "message", "reason")
_ADDRESSED = frozenset({"headers", "url", "node_id", "node_name"})


class Happening(NamedTuple):
    """Describe one thing that happened: words of a side (`agent`, `caller`, another), a `node`, `tool` or `error`."""

    kind: str
    name: str
    label: str | None = None
    given: Any = None
    result: Any = None
    error: str | None = None


Timed = tuple[float | None, Happening]
"""With its time, in seconds since the epoch."""


def seconds_of(value: Any) -> float | None:
    """Return a time that is given as text in seconds since the epoch, `None` for what is none."""
    found = parse_time(value) if isinstance(value, str) else None
    return None if found is None or found <= 0 else found / 1e6


class Node(NamedTuple):
    """Describe the id of a node with its name, if that is known."""

    id: str
    name: str | None = None


def read_events(path: Path, report: Callable[[Skipped], object] = lambda left: None) -> dict[str, list[dict[str, Any]]]:
    """Return the events that a file has, by their calls in the order of their numbers; none if it has none.

    What could not be read goes to `report`; raises `BrokenInput` if that is the whole file.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    if _EVENT not in read_start(path):
        return found
    for item in read_values(path):
        if isinstance(item, BrokenInput):
            report(Skipped("skipped", item.line, item.reason))
            continue
        line, value = item
        inner = object_of(value).get("data")
        for event in inner if isinstance(inner, list) else [value]:
            if is_event(event):
                found.setdefault(event["conversation_id"], []).append(event)
            else:
                report(Skipped("skipped", line or None, "it is not an event of a pathway"))
    return {name: _in_order(events) for name, events in found.items()}


def _in_order(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    numbers = [number_of(event.get("sequence")) for event in events]
    if any(number is None for number in numbers):
        return events
    return [event for _, event in sorted(zip(numbers, events, strict=True), key=lambda each: each[0] or 0)]


def happenings_of(events: Sequence[Mapping[str, Any]]) -> list[Timed]:
    """Return which nodes were entered, which webhooks called and what else failed; tags and warnings are left out."""
    answers = {text_of(event.get("operation_id")): event for event in events if event.get("event_type") in _ANSWERS}
    found: list[Timed] = []
    current: str | None = None
    for event in events:
        t, kind = seconds_of(event.get("created_at")), str(event.get("event_type"))
        payload = object_of(event.get("payload"))
        for node in _nodes(kind, event, payload):
            if node.id != current:
                current = node.id
                found.append((t, Happening("node", node.id, node.name)))
        if kind == _CALLED:
            found.append((t, _tool(payload, answers.pop(text_of(event.get("sequence")), None))))
    failed = [each for each in answers.values() if each.get("event_type") == _FAILED]
    return [*found, *((seconds_of(each.get("created_at")), Happening("error", _error(each))) for each in failed)]


def _nodes(kind: str, event: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Node]:
    """Yield the node that an event is in, and the one that it leads to."""
    if kind.partition(".")[0] not in _MOVING:
        return
    name = _first(payload, _NAMES)
    target = _target(payload) if kind == "node.transition" else None
    own = text_of(event.get("node_id"))
    if own is not None:
        yield Node(own, name if target in (None, own) else None)
    if target is not None:
        yield Node(target, name)


def _target(payload: Mapping[str, Any]) -> str | None:
    for key in _TARGETS:
        given = payload.get(key)
        if (found := text_of(given) or text_of(object_of(given).get("id"))) is not None:
            return found
    return None


def _tool(payload: Mapping[str, Any], answer: Mapping[str, Any] | None) -> Happening:
    name = _first(payload, _TOOLS) or _first(payload, _NAMES) or "webhook"
    given = next((payload[key] for key in _GIVEN if payload.get(key) is not None), None)
    if answer is None:
        return Happening("tool", name, given=given)
    if answer.get("event_type") == _FAILED:
        return Happening("tool", name, given=given, error=_error(answer))
    came = answer.get("payload")
    told = object_of(came)
    rest = {key: value for key, value in told.items() if key not in _ADDRESSED}
    result = next((told[key] for key in _RESULTS if told.get(key) is not None), rest or (None if told else came))
    return Happening("tool", name, given=given, result=result)


def _error(event: Mapping[str, Any]) -> str:
    payload = event.get("payload")
    told = object_of(payload)
    found = text_of(payload) or _first(told, _ERRORS) or _first(object_of(told.get("error")), _ERRORS)
    return found or "it failed"


def _first(payload: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((found for key in keys if (found := text_of(payload.get(key))) is not None), None)


# Find the other half of a call in its folder: what was said, or what its pathway logged.
class Company(NamedTuple):
    """Keep by names of calls which file of a folder has their events, of which calls each file has records, and any."""

    events: Mapping[str, Path]
    records: Mapping[Path, frozenset[str]]
    recorded: frozenset[str]


def company_of(path: Path) -> Company:
    """Return what is in the folder of a file; each folder is looked through once, and again when files come or go."""
    try:
        changed = path.parent.stat().st_mtime_ns
    except OSError:
        return Company({}, {}, frozenset())
    return _company(path.parent, changed)


@lru_cache(maxsize=8)
def _company(folder: Path, changed: int) -> Company:
    events: dict[str, Path] = {}
    records: dict[Path, frozenset[str]] = {}
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):
            path = folder / name
            if name.endswith(_ENDINGS) and path.is_file():
                with suppress(BrokenInput):
                    events |= dict.fromkeys(read_events(path), path)
                    if names := _record_names(path):
                        records[path] = names
    return Company(events, records, frozenset().union(*records.values()))


def _record_names(path: Path) -> frozenset[str]:
    """Return the names of the calls whose records a file has; raise `BrokenInput` if it cannot be read."""
    start = read_start(path)
    if _EVENT in start or b"call_id" not in start:
        return frozenset()
    values = [value for item in read_values(path) if not isinstance(item, BrokenInput) for value in records_of(item[1])]
    return frozenset(record["call_id"] for value in values for record in opened(value, is_call) if is_call(record))


def digest_with_company(path: Path) -> tuple[str, int]:
    """Return what represents a file and for what its folder adds to it, and its size in bytes; raise `BrokenInput`."""
    own, size = digest(path)
    company = company_of(path)
    beside = {company.events[name] for name in company.records.get(path, ()) if name in company.events}
    added = [digest(each)[0] for each in sorted(beside)]
    added += sorted(name for name, at in company.events.items() if at == path and name in company.recorded)
    if not added:
        return own, size
    return hashlib.sha256("\n".join([own, *added]).encode(errors="surrogateescape")).hexdigest(), size
