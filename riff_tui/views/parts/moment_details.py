"""Say in a line what happened in a moment of a call, in such words of callers and models as are wanted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from riff_tui.timeline_events import RETRIED, Moment, name

Redact: TypeAlias = Callable[[str], str]

SHOWN_RESULT = 60
"""Characters of what a tool answered that stand in the line of its call; the row has all that is kept of it."""


class CallWords:
    """Let words of callers and models into the table as they are wanted: not at all, redacted or as they are."""

    def __init__(self, wanted: bool, redact: Redact | None) -> None:
        self.wanted = wanted
        self._redact = redact

    def __call__(self, value: Any) -> Any:
        if not self.wanted:
            return None
        if self._redact is None:
            return value
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, Mapping):
            return {self(key): self(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self(part) for part in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            # A phone number may have been stored as a number.
            shown = self._redact(str(value))
            return value if shown == str(value) else shown
        return value

    def shown(self, value: Any) -> str:
        """Return a value of the document on one line of text."""
        value = self(value)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def detail_of(moment: Moment, words: CallWords) -> str | None:
    """Return what happened, `None` for a turn and for the state that a call begins in."""
    tell = _DETAILS.get(moment.kind)
    return tell(moment, words) if tell else None


def failed(error: object) -> bool:
    """Tell whether what a guard or a tool has for an error is one."""
    return error is not None and error is not False


def _state_detail(moment: Moment, words: CallWords) -> str | None:
    if moment.left is None:
        return None
    state, reason = moment.left
    return f"from {state}" + (f": {words(reason)}" if reason and words.wanted else "")


def _slot_detail(moment: Moment, words: CallWords) -> str:
    slot = name(moment.entry.get("slot")) or ""
    return f"{slot} = {words.shown(moment.entry.get('value'))}" if words.wanted else slot


def _guard_detail(moment: Moment, words: CallWords) -> str:
    guard, error = name(moment.entry.get("guard")) or "", moment.entry.get("error")
    if error is not None:
        return f"{guard} raised" + (f": {words.shown(error)}" if words.wanted else "")
    result = moment.entry.get("result")
    if isinstance(result, bool):
        return f"{guard} is {'true' if result else 'false'}"
    return f"{guard} = {words.shown(result)}" if words.wanted else guard


def _tool_detail(moment: Moment, words: CallWords) -> str:
    called, error = name(moment.entry.get("name")) or "", moment.entry.get("error")
    arguments = moment.entry.get("arguments")
    shown = f"{called}({words.shown(arguments) if words.wanted and arguments is not None else ''})"
    if failed(error):
        shown += " failed" + (f": {words.shown(error)}" if words.wanted and error is not True else "")
    result = moment.entry.get("result")
    if words.wanted and result is not None:
        answer = words.shown(result)
        shown += f" → {answer if len(answer) <= SHOWN_RESULT else f'{answer[: SHOWN_RESULT - 1]}…'}"
    return shown


def _retry_detail(moment: Moment, words: CallWords) -> str:
    why = words(name(moment.entry.get("message")))
    return "a request was sent again" + (f", for {why}" if why else "")


_DETAILS: Mapping[str, Callable[[Moment, CallWords], str | None]] = {
    "state": _state_detail,
    "slot": _slot_detail,
    "guard": _guard_detail,
    "tool": _tool_detail,
    RETRIED: _retry_detail,
}
