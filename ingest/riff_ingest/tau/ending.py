"""Tell how a simulation ended, from its reason and the last words of its caller (tau3-bench's own terms)."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORDS = {"###STOP###": "stop", "###TRANSFER###": "transfer", "###OUT-OF-SCOPE###": "out_of_scope"}
_CONTROL = re.compile("|".join(map(re.escape, _WORDS)))

TERMINAL, ERROR = "terminal", "error"
CALLER_FAILED = "user_error"
"""The reason of calls whose caller broke the rules of the simulation."""


class Ending(NamedTuple):
    """Say how a call ended, in the terms of every source."""

    completed: bool | None
    errored: bool
    stop_reason: str | None


_ENDINGS = {
    "user_stop": Ending(True, False, TERMINAL),
    "agent_stop": Ending(True, False, TERMINAL),
    "max_steps": Ending(False, False, "max_turns"),
    "timeout": Ending(False, False, "timeout"),
    "too_many_errors": Ending(False, False, ERROR),
    "context_window_exceeded": Ending(False, False, ERROR),
    "agent_error": Ending(False, True, ERROR),
    CALLER_FAILED: Ending(False, True, ERROR),
    "infrastructure_error": Ending(False, True, ERROR),
    "unexpected_error": Ending(False, True, ERROR),
}


def ending_of(reason: str | None) -> Ending:
    """Return what the reason for which a simulation ended means; one that is not known stays as it is."""
    return _ENDINGS.get(reason or "") or Ending(None if reason is None else False, False, reason)


def spoken(text: str | None) -> str:
    """Return what is said in a text: without the words that steer a simulation, and without blanks around it."""
    if not text:
        return ""
    return (_CONTROL.sub("", text) if "###" in text else text).strip()


def final_status(reason: str | None, last_words: str | None) -> str | None:
    """Return the word by which the caller ended the call, else the reason for which it ended."""
    found = _CONTROL.search(last_words) if last_words else None
    return _WORDS[found[0]] if found else reason
