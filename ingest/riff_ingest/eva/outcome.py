"""Read how a conversation ended, in the terms of every source, and whether it counts at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_ENDS = {
    "goodbye": (True, "terminal"),
    "transfer": (True, "terminal"),
    "time_limit_exceeded": (False, "timeout"),
    "timeout": (False, "timeout"),
    "inactivity_timeout": (False, "timeout"),
    "session_ended": (False, "hangup"),
}
_DISCONNECT = "_disconnect"
_BROKEN = frozenset({"error", "cancelled"})


class EvaOutcome(NamedTuple):
    """Hold how a conversation ended; `error` says why it does not count, `None` where it counts."""

    completed: bool | None
    stop_reason: str | None
    error: str | None

    @property
    def said_goodbye(self) -> bool:
        """Tell whether the call came to a regular end."""
        return self.completed is True


def outcome_of(result: Mapping[str, Any] | None) -> EvaOutcome:
    """Return what a result.json says of the end; without one the conversation was never finished."""
    if result is None:
        return EvaOutcome(False, "error", "result.json is missing or broken, so the conversation was never finished")
    reason = result.get("conversation_ended_reason")
    reason = reason if isinstance(reason, str) and reason else None
    completed, stop = _end(reason)
    error = _error(result, reason)
    if error is not None:
        return EvaOutcome(False, stop or "error", error)
    return EvaOutcome(completed, stop, None)


def _end(reason: str | None) -> tuple[bool | None, str | None]:
    if reason is None:
        return None, None
    if reason.endswith(_DISCONNECT):
        return False, "hangup"
    return _ENDS.get(reason, (False, reason))


def _error(result: Mapping[str, Any], reason: str | None) -> str | None:
    accepted = result.get("time_limit_accepted") is True
    if reason in _BROKEN:
        why = f"it ended with {reason}"
    elif result.get("completed") is False and not accepted:
        why = "result.json says that it was not completed"
    else:
        return None
    said = _said(result)
    return f"{why}: {said}" if said else why


def _said(result: Mapping[str, Any]) -> str | None:
    """Return what the worker wrote of the error."""
    details = result.get("error_details")
    details = details if isinstance(details, Mapping) else {}
    for text in (result.get("error"), details.get("original_error"), details.get("error_type")):
        if isinstance(text, str) and text:
            return text
    return None
