"""Turn a merged history into the context of a call: extract, then reconcile the trace with the turns (R8.1 to R8.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from riff_ingest.eva.context import AudioByTurn, MetricContext, Segments, latencies, segments
from riff_ingest.eva.history import ASSISTANT, SIMULATOR, USER, HistoryEvent, Warnings, as_events
from riff_ingest.eva.logs import says_goodbye
from riff_ingest.eva.trace import (
    CUT_ITSELF_OFF,
    LoggedEntry,
    Texts,
    grouped,
    label_interruptions,
    suffixed,
    tools_of,
    without_labels,
)
from riff_ingest.eva.turns import PipelineType, Turns, extract


def process_history(history: Iterable[Any], pipeline_type: PipelineType = "cascade") -> MetricContext:
    """Return the context of merged events `{timestamp_ms, source, event_type, data}`, taken in the given order.

    Events that cannot be used are left out and named in the context's `warnings`; nothing raises.
    """
    warnings = Warnings()
    context = context_of(history, pipeline_type, warnings)
    context.warnings = warnings.lines()
    return context


def context_of(
    history: Iterable[Any], pipeline_type: PipelineType, warnings: Warnings, *, check_spoken: bool = True
) -> MetricContext:
    """Return the context and add what is wrong to `warnings`; without `check_spoken` unspoken texts stay."""
    events = as_events(history, warnings)
    turns = extract(events, pipeline_type, warnings)
    tools = tools_of(turns.trace)
    last_moment = events[-1].timestamp_ms / 1000 if events else 0.0
    audio_user = segments(turns, USER, last_moment)
    audio_assistant = segments(turns, ASSISTANT, last_moment)
    checked = pipeline_type != "s2s" and check_spoken
    trace = grouped(spoken_only(turns.trace, turns.pieces) if checked else turns.trace)
    label_interruptions(trace, sorted(turns.assistant_interrupted), sorted(turns.user_interrupted))
    num_assistant_turns = len(turns.transcribed_assistant if pipeline_type == "s2s" else turns.intended_assistant)
    num_user_turns = len(turns.transcribed_user)
    turns.transcribed_user, turns.intended_user, user_turns = _aligned(
        turns.transcribed_user, turns.intended_user, audio_user
    )
    turns.transcribed_assistant, turns.intended_assistant, assistant_turns = _aligned(
        turns.transcribed_assistant, turns.intended_assistant, audio_assistant
    )
    found_latencies = latencies(audio_user, audio_assistant)
    reconcile(trace, turns, pipeline_type)
    return MetricContext(
        pipeline_type=pipeline_type,
        transcribed_assistant_turns=turns.transcribed_assistant,
        transcribed_user_turns=turns.transcribed_user,
        intended_assistant_turns=turns.intended_assistant,
        intended_user_turns=turns.intended_user,
        audio_timestamps_assistant_turns=assistant_turns,
        audio_timestamps_user_turns=user_turns,
        latency_assistant_turns=found_latencies,
        num_assistant_turns=num_assistant_turns,
        num_user_turns=num_user_turns,
        num_tool_calls=len(tools.params),
        tool_called=tools.called,
        tool_params=tools.params,
        tool_responses=tools.responses,
        conversation_trace=trace,
        assistant_interrupted_turns=frozenset(turns.assistant_interrupted),
        user_interrupted_turns=frozenset(turns.user_interrupted),
        fallback_turn_ids=frozenset(turns.nudged),
        conversation_finished=_finished(events),
        logs=sorted({event.source for event in events}),
        started_ms=min((event.timestamp_ms for event in events if event.timestamp_ms > 0), default=None),
    )


def _finished(events: list[HistoryEvent]) -> bool:
    """Return whether the simulator's last words are a goodbye."""
    last = next((event for event in reversed(events) if event.source == SIMULATOR), None)
    return last is not None and says_goodbye(last.event_type, last.data)


def _aligned(heard: Texts, meant: Texts, audio: dict[int, Segments]) -> tuple[Texts, Texts, AudioByTurn]:
    """Return the turns of one side with the keys of all (R7.7)."""
    keys = sorted(heard.keys() | meant.keys() | audio.keys())
    return (
        {turn: heard.get(turn, "") for turn in keys},
        {turn: meant.get(turn, "") for turn in keys},
        {turn: audio.get(turn) for turn in keys},
    )


def reconcile(trace: list[LoggedEntry], turns: Turns, pipeline_type: PipelineType) -> None:
    """Complete a trace and the texts by turn in place; the turns of each side have the same keys already."""
    if not trace:
        greeting = turns.intended_assistant.get(0)
        if greeting:
            trace.append(LoggedEntry("intended", 0, role="assistant", content=greeting))
        return
    _greet_first(trace, turns)
    if not turns.intended_user:
        return
    latest = max(turns.intended_user)
    last = trace[-1]
    if latest > last.turn_id:
        trace.append(LoggedEntry("intended", latest, role="user", content=turns.intended_user[latest]))
        turns.transcribed_user[latest] = turns.transcribed_user.get(latest) or turns.intended_user[latest]
        return
    _close_trailing_agent_turn(trace, turns, pipeline_type)
    turns.transcribed_user[latest] = turns.transcribed_user.get(latest) or turns.intended_user[latest]


def _greet_first(trace: list[LoggedEntry], turns: Turns) -> None:
    """Put the greeting first in a call that the caller seems to begin (R8.2)."""
    if trace[0].role != "user" or trace[0].turn_id <= 0:
        return
    for index, entry in enumerate(trace):
        if entry.role == "assistant" and entry.turn_id == 0:
            trace.insert(0, trace.pop(index))
            return
    meant = turns.intended_assistant.get(0)
    greeting = meant or turns.transcribed_assistant.get(0) or None
    trace.insert(0, LoggedEntry("intended" if meant else "transcribed", 0, role="assistant", content=greeting))


def _close_trailing_agent_turn(trace: list[LoggedEntry], turns: Turns, pipeline_type: PipelineType) -> None:
    """Mark what the agent said last as cut off where it was never answered, a goodbye as well (R8.5)."""
    last = trace[-1]
    turn = last.turn_id if last.role == "assistant" else _unheard_turn(trace, turns)
    if turn is None:
        return
    meant = turns.intended_assistant.get(turn) or ""
    if last.role == "assistant":
        last.content = suffixed(last.content or "", CUT_ITSELF_OFF)
    else:
        trace.append(LoggedEntry("intended", turn, role="assistant", content=suffixed(meant, CUT_ITSELF_OFF)))
    if meant and pipeline_type != "s2s":
        turns.intended_assistant[turn] = suffixed(meant, CUT_ITSELF_OFF)
    heard = turns.transcribed_assistant.get(turn)
    # A nudge without a voice leaves the turn without any text of the agent, meant or heard.
    turns.transcribed_assistant[turn] = suffixed(heard, CUT_ITSELF_OFF) if heard else turns.intended_assistant.get(turn)


def _unheard_turn(trace: list[LoggedEntry], turns: Turns) -> int | None:
    """Return the last turn that the agent meant to speak in, if the trace ends before it."""
    if not turns.intended_assistant:
        return None
    turn = max(turns.intended_assistant)
    in_trace = any(entry.role == "assistant" and entry.turn_id == turn for entry in trace)
    return turn if turn >= trace[-1].turn_id and not in_trace and turns.intended_assistant[turn] else None


# Find how much of the texts that the agent's model wrote was spoken (R7.2).
FEWEST_CHARACTERS = 20
"""A shared beginning that is shorter than this is chance."""


def spoken_only(trace: Iterable[LoggedEntry], pieces: Mapping[int, Sequence[str]]) -> list[LoggedEntry]:
    """Return the trace with what the agent's voice was given; unspoken texts are gone, but not nudges."""
    voiced = {turn: Voiced(own) for turn, own in pieces.items()}
    kept = []
    for entry in trace:
        said = entry.content
        if entry.needs_check:
            said = spoken_part(entry.content or "", voiced.get(entry.turn_id))
        if said is None and entry.nudge:
            said = entry.content
        if said is not None or not entry.needs_check:
            kept.append(replace(entry, content=said, needs_check=False, nudge=False))
    return kept


class Voiced:
    """Keep what the voice was given in a turn, letters and digits only; a log may contain a great many pieces of it."""

    def __init__(self, pieces: Iterable[str]) -> None:
        bare = list(map(_bare, pieces))
        self.whole = "".join(bare)
        self.beginnings = dict.fromkeys(piece for piece in bare if len(piece) >= FEWEST_CHARACTERS)


def spoken_part(content: str, voiced: Voiced | None) -> str | None:
    """Return as much of a text as was spoken in a turn, `None` if that is nothing.

    If only its beginning was, the text is cut after as many words as that beginning has. Words of labels count among
    them, so a label in front costs as many words of the text.
    """
    written = _bare(content)
    if not written or voiced is None:
        return None
    if written in voiced.whole:
        return content
    words = without_labels(content).split()
    # Only pieces that begin alike are looked at more closely.
    alike = [piece for piece in voiced.beginnings if piece.startswith(written[: FEWEST_CHARACTERS // 2])]
    count = max((_shared_words(words, written, piece) for piece in alike), default=0)
    if not count or len(_bare(" ".join(words[:count]))) < FEWEST_CHARACTERS:
        return None
    return " ".join(content.split()[:count])


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, without_labels(text))).lower()


def _shared_words(words: Sequence[str], written: str, piece: str) -> int:
    """Count the first words that are the beginning of a piece."""
    shared = next((at for at, (a, b) in enumerate(zip(written, piece, strict=False)) if a != b), len(piece))
    count = length = 0
    while count < len(words) and length <= shared:
        length += len(_bare(words[count]))
        count += 1
    # Lower case may depend on what follows, so the last words are looked at as they are.
    while count and not piece.startswith(_bare(" ".join(words[:count]))):
        count -= 1
    return count
