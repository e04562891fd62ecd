"""Spell what was said and what happened in a call, as it is kept before it is compressed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from riff_ingest.conversation import Conversation, ToolCall
from riff_ingest.events import Event, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_store.transcript_columns import EventColumns, spell
from riff_store.voice import KEY as VOICE

LONGEST_RESULT = 4096
"""Characters that are kept of what a tool answered."""
_encoder = msgspec.json.Encoder()


def transcript_text(call: Conversation) -> bytes:
    """Return what was said and what happened in a call."""
    parts = {"slots": call.slots, "tool_calls": _kept(call.tool_calls), "errors": call.errors}
    parts["expected_steps"] = [step for step in call.expected_steps if step.arguments is not None]
    others: dict[str, Any] = {name: value for name, value in parts.items() if value}
    if call.voice is not None:
        others[VOICE] = call.voice
    return spell(call.turns, event_columns(call.events), others)


def event_columns(events: Iterable[Event]) -> EventColumns:
    """Return events column by column, the values of one kind one after the other.

    Each kind is spelled out: it is twice as quick as to look its fields up.
    """
    letters: list[str] = []
    times: list[float | None] = []
    entered: list[Any] = []
    exited: list[Any] = []
    completed: list[Any] = []
    guards: list[Any] = []
    slots: list[Any] = []
    for event in events:
        times.append(event.t)
        if type(event) is TurnComplete:
            letters.append("t")
            completed.append(event.latency_ms)
        elif type(event) is StateEntered:
            letters.append("n")
            entered += event.state, event.segment
        elif type(event) is StateExited:
            letters.append("x")
            exited += event.state, event.to_state, event.reason
        elif type(event) is GuardEvaluated:
            letters.append("g")
            guards += event.guard, event.result, event.error
        elif type(event) is SlotFilled:
            letters.append("s")
            slots += event.slot, event.value, event.state
    return EventColumns(letters, times, (entered, exited, completed, guards, slots))


def _kept(tool_calls: list[ToolCall]) -> list[ToolCall]:
    """Return the tool calls with results that are not larger than what is kept of one."""
    kept = ((call, _cut(call.result)) for call in tool_calls)
    return [call if cut is call.result else msgspec.structs.replace(call, result=cut) for call, cut in kept]


def _cut(result: Any) -> Any:
    """Return a result as it is, or the beginning of its JSON where that is too long."""
    if result is None or isinstance(result, bool | int | float):
        return result
    text = result if isinstance(result, str) else _encoder.encode(result).decode()
    return result if len(text) <= LONGEST_RESULT else f"{text[:LONGEST_RESULT]}… (cut, of {len(text):,} characters)"
