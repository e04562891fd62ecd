"""Fill the gaps in the trace of a voice call: add what the agent said in turns that its log does not vouch for."""

from __future__ import annotations

from collections.abc import Iterator

from riff_store.voice import TraceEntry, Voice, VoiceTurn


def whole_trace(voice: Voice) -> list[TraceEntry]:
    """Return messages and tools in the order of the call; by the turns alone where no message is kept.

    A text that the model never wrote, or wrote otherwise than it was spoken, is in no trace. What the agent
    meant to say in such a turn, else what was heard of it, stands where the turn ends.
    """
    if not any(is_message(entry) for entry in voice.trace):
        return list(_from_turns(voice))
    untraced = _untraced(voice)
    found: list[TraceEntry] = []
    for entry in voice.trace:
        while untraced and untraced[0].turn < entry.turn:
            found.append(untraced.pop(0))
        found.append(entry)
    return found + untraced


def is_message(entry: TraceEntry) -> bool:
    """Say if somebody speaks in an entry."""
    return entry.kind not in ("tool_call", "tool_response")


def said_in(turn: VoiceTurn, role: str) -> str | None:
    """Return what a side said in a turn: the agent as it meant to, the caller as it was heard, else the other."""
    if role == "agent":
        return turn.agent_meant or turn.agent_heard
    return turn.caller_heard or turn.caller_meant if role == "caller" else None


def _untraced(voice: Voice) -> list[TraceEntry]:
    """Return what the agent said in turns of which the trace has nothing, as ingest numbers them."""
    traced = {entry.turn for entry in voice.trace if entry.role == "assistant"}
    heard = {turn.turn for turn in voice.turns if turn.agent_heard}
    meant = {turn.turn for turn in voice.turns if turn.agent_meant}
    spoken = (heard if voice.pipeline == "s2s" else meant) or heard | {span.turn for span in voice.agent}
    turns = sorted((turn for turn in voice.turns if turn.turn in spoken - traced), key=lambda turn: turn.turn)
    return [TraceEntry("intended", turn.turn, role="assistant", text=said_in(turn, "agent")) for turn in turns]


def _from_turns(voice: Voice) -> Iterator[TraceEntry]:
    """Return what was said by the turns; tools where the trace has them."""
    tools: dict[int, list[TraceEntry]] = {}
    for entry in voice.trace:
        tools.setdefault(entry.turn, []).append(entry)
    by_number = {turn.turn: turn for turn in voice.turns}
    for number in sorted({*by_number, *tools}):
        turn = by_number.get(number, VoiceTurn(number))
        if said_in(turn, "caller"):
            yield TraceEntry("transcribed", number, role="user", text=said_in(turn, "caller"))
        yield from tools.get(number, ())
        if said_in(turn, "agent"):
            yield TraceEntry("intended", number, role="assistant", text=said_in(turn, "agent"))
