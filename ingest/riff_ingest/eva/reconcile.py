"""The trace and the turns are made to agree at their ends (R8.1 to R8.6)."""

from __future__ import annotations

from riff_ingest.eva.labels import CUT_ITSELF_OFF, suffixed
from riff_ingest.eva.trace import Entry
from riff_ingest.eva.turns import PipelineType, Turns


def reconcile(trace: list[Entry], turns: Turns, pipeline_type: PipelineType) -> None:
    """Complete a trace and the texts by turn in place; the turns of each side have the same keys already."""
    if not trace:
        greeting = turns.meant_assistant.get(0)
        if greeting:
            trace.append(Entry("intended", 0, role="assistant", content=greeting))
        return
    _greet_first(trace, turns)
    if not turns.meant_user:
        return
    latest = max(turns.meant_user)
    last = trace[-1]
    if latest > last.turn_id:
        trace.append(Entry("intended", latest, role="user", content=turns.meant_user[latest]))
        turns.heard_user[latest] = turns.heard_user.get(latest) or turns.meant_user[latest]
        return
    _close_trailing_agent_turn(trace, turns, pipeline_type)
    turns.heard_user[latest] = turns.heard_user.get(latest) or turns.meant_user[latest]


def _greet_first(trace: list[Entry], turns: Turns) -> None:
    """R8.2: a call in which the caller seems to begin was greeted all the same."""
    if trace[0].role != "user" or trace[0].turn_id <= 0:
        return
    for index, entry in enumerate(trace):
        if entry.role == "assistant" and entry.turn_id == 0:
            trace.insert(0, trace.pop(index))
            return
    meant = turns.meant_assistant.get(0)
    greeting = meant or turns.heard_assistant.get(0) or None
    trace.insert(0, Entry("intended" if meant else "transcribed", 0, role="assistant", content=greeting))


def _close_trailing_agent_turn(trace: list[Entry], turns: Turns, pipeline_type: PipelineType) -> None:
    """R8.5: what the agent said last was never answered, so it counts as cut off, a goodbye as well."""
    last = trace[-1]
    turn = last.turn_id if last.role == "assistant" else _unheard_turn(trace, turns)
    if turn is None:
        return
    meant = turns.meant_assistant.get(turn) or ""
    if last.role == "assistant":
        last.content = suffixed(last.content or "", CUT_ITSELF_OFF)
    else:
        trace.append(Entry("intended", turn, role="assistant", content=suffixed(meant, CUT_ITSELF_OFF)))
    if meant and pipeline_type != "s2s":
        turns.meant_assistant[turn] = suffixed(meant, CUT_ITSELF_OFF)
    heard = turns.heard_assistant.get(turn)
    # A nudge without a voice leaves the turn without any text of the agent, meant or heard.
    turns.heard_assistant[turn] = suffixed(heard, CUT_ITSELF_OFF) if heard else turns.meant_assistant.get(turn)


def _unheard_turn(trace: list[Entry], turns: Turns) -> int | None:
    """The last turn that the agent meant to speak in, if the trace ends before it."""
    if not turns.meant_assistant:
        return None
    turn = max(turns.meant_assistant)
    in_trace = any(entry.role == "assistant" and entry.turn_id == turn for entry in trace)
    return turn if turn >= trace[-1].turn_id and not in_trace and turns.meant_assistant[turn] else None
