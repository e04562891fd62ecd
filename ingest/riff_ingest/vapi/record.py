"""Take the record of a call of Vapi out of what its API or its webhooks gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.platforms.start import LATEST
from riff_ingest.private_values import PrivateValues, addresses_in
from riff_ingest.sources.json_parts import number_of, object_of, objects_of

REPORT = "end-of-call-report"
"""The kind of the message that tells of a call as a whole."""


def call_of(record: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return the call that a record holds, and the kind of the message that brought it, if one did.

    A report tells most of a call beside the call and not in it.
    """
    message = object_of(record.get("message"))
    if not message:
        return dict(record), None
    kind = message.get("type")
    told = {key: value for key, value in message.items() if value is not None and key not in ("call", "type")}
    call = {**object_of(message.get("call")), **(told if kind == REPORT else {})}
    return call, kind if isinstance(kind, str) else None


def artifact_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call left behind."""
    return object_of(call.get("artifact"))


def messages_of(call: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a call, those of its nodes where it has no others."""
    artifact = artifact_of(call)
    for given in (artifact.get("messages"), call.get("messages")):
        if messages := objects_of(given):
            return _timed(messages)
    nodes = objects_of(artifact.get("nodes"))
    return _timed([message for node in nodes for message in objects_of(node.get("messages"))])


def _timed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages with the seconds since the call began also where only the time of day is told."""
    begins = [_begin(message) for message in messages]
    begin = next((each for each in begins if each is not None), None)
    if begin is None:
        begin = min((each for each in map(_time, messages) if each is not None), default=None)
    if begin is None:
        return messages
    return [
        {**message, "secondsFromStart": (t - begin) / 1000}
        if message.get("secondsFromStart") is None and (t := _time(message)) is not None
        else message
        for message in messages
    ]


def _begin(message: Mapping[str, Any]) -> float | None:
    """Return when the call began by a message that tells both its time and how long after the begin that was."""
    t, seconds = _time(message), number_of(message.get("secondsFromStart"))
    return None if t is None or seconds is None else t - seconds * 1000


def _time(message: Mapping[str, Any]) -> float | None:
    return number_of(message.get("time"), lowest=1, highest=LATEST)


def private_values(call: Mapping[str, Any]) -> PrivateValues:
    """Return what must not be stored of a call."""
    return PrivateValues(_numbers(call), _tokens(object_of(call.get("transport"))), addresses_in(call))


def _numbers(call: Mapping[str, Any]) -> Iterator[Any]:
    transfers = objects_of(artifact_of(call).get("transfers"))
    destinations = (object_of(transfer.get("destination")) for transfer in transfers)
    for holder in (*(object_of(call.get(key)) for key in ("customer", "phoneNumber", "destination")), *destinations):
        yield from (holder.get(key) for key in ("number", "callerId", "sipUri"))


def _tokens(transport: Mapping[str, Any]) -> Iterator[Any]:
    for key, value in transport.items():
        if "token" in key.lower():
            yield value
