"""Score one conversation: from what a source delivered to what the writer stores."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from riff_ingest.conversation import Conversation
from riff_ingest.events import LONGEST
from riff_ingest.failure import first_failure
from riff_ingest.flow_aspects import added_aspects, call_aspects
from riff_ingest.segments import segment_of
from riff_ingest.sources.coercion import parse_time
from riff_ingest.sources.transcript_line import HIGHEST
from riff_ingest.state_aspects import state_rows
from riff_ingest.stream import read_stream
from riff_ingest.transcript_text import transcript_text
from riff_store.facts import CallHead, ConversationFacts, ExpectedStep, Skipped, StateAspects
from riff_store.metrics import COMPUTED, OF_STATES

MISMATCH = 0.05
_HEAD = CallHead.__struct_fields__
_head_of = attrgetter(*_HEAD)
_STATE_METRICS = tuple("latency_p95_ms" if name == "latency_p95" else name for name in OF_STATES)


def facts_of(
    call: Conversation, *, default_run: str, line: int = 0, with_text: bool = True
) -> tuple[ConversationFacts, list[Skipped]]:
    """Return the scored facts of a call, and the places where brought-along scores differ from them."""
    stream = read_stream(call.events, call.contract)
    if call.events:
        stream.end_in(call.final_state)
        if stream.succeeded and call.completed is False:
            stream.defects["success terminal of a call that is not completed"] = 1
    added, problems = added_aspects(call)
    aspects = call_aspects(call, stream)
    if added:
        aspects |= {name: value for name, value in added.items() if value is not None or name not in aspects}
    states = state_rows(stream, call.contract, call.completed) if call.events else _brought_states(call)
    defects = _added_up(call.defects, stream.defects)
    head = dict(zip(_HEAD, _head_of(call), strict=True))
    head["run_id"] = call.run_id or default_run
    head["archetype"] = call.archetype or (call.contract.archetype if call.contract else None)
    head["started_at"] = parse_time(call.started_at) if call.started_at else None
    facts = ConversationFacts(
        **head,
        line=line,
        error_count=call.error_count(),
        defects=sum(defects.values()),
        aspects=aspects,
        states=states,
        terminals=stream.outcomes,
        outcome_positions=stream.outcome_positions,
        failure=first_failure(call, stream),
        expected=[ExpectedStep(step.state, step.by, step.called, step.matched) for step in call.expected_steps],
        transcript=transcript_text(call) if with_text else None,
    )
    notes = [Skipped("defect", line, problem, call.conversation_id) for problem in problems]
    if call.aspects or call.state_aspects:
        differences = _mismatches(call, aspects, states)
        notes += [Skipped("mismatch", line, reason, call.conversation_id) for reason in differences]
    if defects:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(defects.items()))
        notes.append(Skipped("defect", line, f"stream defects: {listed}", call.conversation_id))
    return facts, notes


def _added_up(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """Return counts of two kinds by their names, which seldom are any."""
    if not first or not second:
        return first or second
    return {name: first.get(name, 0) + second.get(name, 0) for name in first | second}


def _brought_states(call: Conversation) -> list[StateAspects]:
    """Return the state rows that were brought along, one for each state: the last one."""
    rows = {}
    for brought in call.state_aspects:
        state = brought.get("state")
        if not isinstance(state, str):
            continue
        segment = brought.get("segment")
        to_states = brought.get("to_states")
        rows[state] = StateAspects(
            state,
            segment_of(state, call.contract, segment if isinstance(segment, str) else None),
            int(_number(brought, "progress") or 0),
            _whole(_number(brought, "stall")),
            int(_number(brought, "escalation") or 0),
            int(_number(brought, "revisit") or 0),
            _number(brought, "dwell_turns") or 0.0,
            _number(brought, "latency_p95_ms", LONGEST),
            int(_number(brought, "guard_error") or 0),
            _number(brought, "slot_fill_rate"),
            {state: count for state, count in to_states.items() if type(count) is int and 0 < count <= HIGHEST}
            if isinstance(to_states, dict)
            else {},
            _whole(_number(brought, "lost")),
            _whole(_number(brought, "position")),
        )
    return list(rows.values())


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _number(row: Mapping[str, Any], name: str, highest: float = HIGHEST) -> float | None:
    """Return a value of a row; `None` for what cannot have been measured."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= highest:
        return None
    return float(value)


def _mismatches(call: Conversation, aspects: Mapping[str, float | None], states: list[StateAspects]) -> list[str]:
    if not call.events:
        return []
    found = []
    for name in COMPUTED:
        brought, computed = call.aspects.get(name), aspects.get(name)
        if brought is not None and computed is not None and abs(brought - computed) > MISMATCH:
            found.append(f"{name} brought {brought:g}, computed {computed:g}")
    if call.state_aspects:
        rows = {row.state: row for row in states}
        for row in call.state_aspects:
            found += _state_mismatches(row, rows.get(row.get("state", "")))
    return found


def _state_mismatches(brought: Mapping[str, Any], row: StateAspects | None) -> list[str]:
    if row is None:
        return [f"state {brought.get('state')} brought, never visited"]
    found = []
    for name in _STATE_METRICS:
        value, computed = _number(brought, name), getattr(row, name)
        if value is not None and computed is not None and abs(value - computed) > MISMATCH:
            found.append(f"{row.state}.{name} brought {value:g}, computed {computed:g}")
    return found
