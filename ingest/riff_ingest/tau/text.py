"""Walk through the messages of a text call."""

from __future__ import annotations

from collections.abc import Sequence

from riff_ingest.conversation import ROLES
from riff_ingest.sources.coercion import parse_time
from riff_ingest.tau.ending import spoken
from riff_ingest.tau.judges import Spoken
from riff_ingest.tau.records import Message
from riff_ingest.tau.walk import Walked, answers_to

_MICROSECONDS = 1e6
_TOOL = "tool"


def walk_messages(messages: Sequence[Message], start: int | None, walked: Walked) -> None:
    """Collect the messages of a call that began at `start`, in microseconds since the epoch, where that is known.

    A turn is a message that says something; what a message says comes before its calls of tools. The agent's latency
    is the time since the message before, whoever it is of.
    """
    if start is None:
        start = next(filter(None, (_moment(message) for message in messages)), None)
    before: int | None = None
    for place, message in enumerate(messages):
        at = _moment(message)
        t = (at - start) / _MICROSECONDS if at is not None and start is not None and at >= start else None
        if message.role in ROLES:
            walked.states.begin(t)
            _take(message, place, t, _latency_ms(before, at), walked)
            if message.tool_calls:
                answers = answers_to(message.tool_calls, _answers(messages, place + 1))
                for call, answer in zip(message.tool_calls, answers, strict=True):
                    walked.call(call, answer, message.role, t)
        before = at


def cost_of(messages: Sequence[Message], role: str) -> float | None:
    """Return what the messages of a side cost, in USD; `None` where one of them does not say or none was above 0."""
    costs = [message.cost for message in messages if message.role == role]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) and any(cost > 0 for cost in known) else None


def _take(message: Message, place: int, t: float | None, latency_ms: float | None, walked: Walked) -> None:
    assert message.role is not None
    side = ROLES[message.role]
    if side == "caller":
        walked.has_caller = True
        walked.last_words = message.content
    if text := spoken(message.content):
        walked.states.say(side, text, t, latency_ms if side == "agent" else None)
        walked.spoken.append(Spoken(place, place + 1, side))


def _answers(messages: Sequence[Message], start: int) -> list[Message]:
    """Return what tools answered from a place on, up to the next message of a side."""
    found: list[Message] = []
    for message in messages[start:]:
        if message.role in ROLES:
            break
        if message.role == _TOOL:
            found += message.tool_messages if message.tool_messages else [message]
    return found


def _moment(message: Message) -> int | None:
    return parse_time(message.timestamp) if message.timestamp else None


def _latency_ms(before: int | None, at: int | None) -> float | None:
    """Return the milliseconds since the message before; `None` where one has no time, or the clock ran backwards."""
    return (at - before) / 1000 if at is not None and before is not None and at >= before else None
