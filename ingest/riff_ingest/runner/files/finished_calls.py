"""Read from the transcripts of a run what came of its calls, a line each."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from riff_ingest.runner.agent_call import RETRIED
from riff_ingest.runner.run_tally import REQUESTS, TokenSide
from riff_ingest.sources.coercion import parse_time

LONGEST_LINE = 64 * 1024 * 1024
LONGEST_NAME = 200
LONGEST_WHY = 300


class CallPlace(NamedTuple):
    """Say where a call's line is."""

    path: Path
    start: int


class FinishedCall(NamedTuple):
    """Hold what came of a call, and the requests of either side in which a model was asked."""

    conversation_id: str
    flow: str
    place: CallPlace
    completed: bool | None
    errored: bool
    caller_failed: bool
    retried: bool
    error: str | None
    began_at: float | None
    agent: str | None
    caller: str | None
    requests: dict[TokenSide, list[dict[str, Any]]]

    @property
    def key(self) -> tuple[str, str]:
        """Return what tells the call from others of its run."""
        return self.flow, self.conversation_id


class _Line(msgspec.Struct):
    """Take of a transcript's line what says what came of the call; all else is passed over unread."""

    conversation_id: Any = None
    flow: Any = None
    completed: Any = None
    errored: Any = None
    error: Any = None
    started_at: Any = None
    caller: Any = None
    caller_ok: Any = None
    errors: Any = None
    extra: Any = None


_decoder = msgspec.json.Decoder(_Line)


def finished_call(line: bytes, place: CallPlace) -> FinishedCall | None:
    """Return what came of the call that a line holds, `None` where it holds none."""
    try:
        found = _decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if not isinstance(found.conversation_id, str) or not isinstance(found.flow, str):
        return None
    extra = found.extra if isinstance(found.extra, dict) else {}
    error = _text(found.error, LONGEST_WHY)
    caller_failed = found.caller_ok is False
    return FinishedCall(
        conversation_id=found.conversation_id[:LONGEST_NAME],
        flow=found.flow[:LONGEST_NAME],
        place=place,
        completed=found.completed if isinstance(found.completed, bool) else None,
        errored=found.errored is True or caller_failed,
        caller_failed=caller_failed,
        retried=_is_retried(found.errors, extra),
        error=error,
        began_at=seconds(found.started_at),
        agent=_text(extra.get("agent"), LONGEST_NAME),
        caller=_text(found.caller, LONGEST_NAME),
        requests={side: told for side, name in REQUESTS.items() if (told := _objects(extra.get(name)))},
    )


def last_words(line: bytes) -> tuple[str, str] | None:
    """Return who spoke last in the call of a line, and what they said; `None` where nobody spoke."""
    try:
        turns = _spoken.decode(line).turns
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    said = _objects(turns)
    role, text = (said[-1].get("role"), said[-1].get("text")) if said else (None, None)
    return (role, text) if isinstance(role, str) and isinstance(text, str) else None


class _Spoken(msgspec.Struct):
    turns: Any = None


_spoken = msgspec.json.Decoder(_Spoken)


def seconds(time: object) -> float | None:
    """Return a time of RFC 3339 as seconds since the epoch, `None` for what is none."""
    if not isinstance(time, str):
        return None
    try:
        found = parse_time(time)
    except (OverflowError, ValueError):
        return None
    return None if found is None else found / 1_000_000


def _is_retried(errors: object, extra: dict[Any, Any]) -> bool:
    return "attempts" in extra or any(each.get("kind") == RETRIED for each in _objects(errors))


def _objects(values: object) -> list[dict[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _text(value: object, longest: int) -> str | None:
    return value[:longest] if isinstance(value, str) else None
