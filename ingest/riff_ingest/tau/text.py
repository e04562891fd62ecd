"""Walk through the messages of a text call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from riff_ingest.conversation import ROLES
from riff_ingest.tau.ending import spoken
from riff_ingest.tau.judges import Spoken
from riff_ingest.tau.records import Message
from riff_ingest.tau.walk import Walked, answers_to

_EPOCH = datetime(1970, 1, 1)
_SECOND, _MILLISECOND, _MICROSECOND = timedelta(seconds=1), timedelta(milliseconds=1), timedelta(microseconds=1)
_TOOL = "tool"


def walk_messages(messages: Sequence[Message], start: int | None, walked: Walked) -> None:
    """Collect the messages of a call that began at `start`, in microseconds since the epoch, where that is known.

    A turn is a message that says something; what a message says comes before its calls of tools. The agent's latency
    is the time since the message before, whoever it is of.
    """
    moments = [_moment(message.timestamp) for message in messages]
    first = next((at for at in moments if at is not None), None) if start is None else _at(start)
    before: datetime | None = None
    for place, (message, at) in enumerate(zip(messages, moments, strict=True)):
        side = ROLES.get(message.role or "")
        if side is not None:
            t = (at - first) / _SECOND if at is not None and first is not None and at >= first else None
            walked.states.begin(t)
            if side == "caller":
                walked.has_caller = True
                walked.last_words = message.content
            if text := spoken(message.content):
                latency = (
                    (at - before) / _MILLISECOND if at is not None and before is not None and side == "agent" else None
                )
                walked.states.say(side, text, t, latency)  # which leaves out one that is below 0
                walked.spoken.append(Spoken(place, place + 1, side))
            if message.tool_calls:
                answers = answers_to(message.tool_calls, _answers(messages, place + 1))
                for call, answer in zip(message.tool_calls, answers, strict=True):
                    walked.call(call, answer, message.role or "", t)
        before = at


def cost_of(messages: Sequence[Message], role: str) -> float | None:
    """Return what the messages of a side cost, in USD; `None` where one of them does not say or none was above 0."""
    costs = [message.cost for message in messages if message.role == role]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) and any(cost > 0 for cost in known) else None


def _answers(messages: Sequence[Message], start: int) -> list[Message]:
    """Return what tools answered from a place on, up to the next message that calls any."""
    found: list[Message] = []
    for place in range(start, len(messages)):
        message = messages[place]
        if message.tool_calls:
            break
        if message.role == _TOOL:
            found += message.tool_messages if message.tool_messages else [message]
    return found


def _at(microseconds: int) -> datetime | None:
    try:
        return _EPOCH + microseconds * _MICROSECOND
    except OverflowError:
        return None


def _moment(timestamp: datetime | None) -> datetime | None:
    """Return a time in UTC, as which one without a zone is taken; `None` for one that no calendar has there."""
    if timestamp is None or timestamp.tzinfo is None:
        return timestamp
    try:
        return timestamp.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return None
