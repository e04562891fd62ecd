"""Compute state metrics: one row per conversation and state (docs/metrics.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from riff_ingest.contract import Contract, as_contract
from riff_ingest.events import Event
from riff_ingest.segments import segment_by_name
from riff_ingest.stream import Stream, read_stream
from riff_store.facts import StateAspects
from riff_store.measure import percentile

_NOTHING: frozenset[str] = frozenset()


def compute_state_aspects(
    events: Iterable[Event],
    contract: Contract | Mapping[str, Any] | None,
    completed: bool | None,
    final_state: str | None = None,
) -> list[StateAspects]:
    """Compute the metrics of every working state that a call entered, in order of first entry.

    Outcomes (success and escalation terminals) get no row. Latency is in milliseconds. Never
    raises on what the events say; a contract of a wrong shape raises `UsageError`.
    """
    contract = as_contract(contract)
    stream = read_stream(events, contract)
    stream.end_in(final_state)
    return state_rows(stream, contract, completed)


def was_served(stream: Stream, contract: Contract | None, completed: bool | None) -> bool | None:
    """Tell whether a call came to its end, `None` where nothing says so.

    Reaching a success terminal says it whatever the flag says; without the flag, not reaching any of the terminals
    that the contract names says the opposite.
    """
    if stream.succeeded:
        return True
    if completed is not None:
        return completed
    named = contract is not None and bool(contract.success_terminals or contract.escalation_terminals)
    return False if named or stream.escalated else None


def state_rows(stream: Stream, contract: Contract | None, completed: bool | None) -> list[StateAspects]:
    """Compute the rows of a stream that was read before."""
    terms = stream.terms
    outcomes, escalations, required = terms.outcomes, terms.escalations, terms.required_slots
    served = was_served(stream, contract, completed)
    stalled = served is False and not stream.escalated
    lost = stalled or (stream.escalated and not stream.succeeded)
    last_working = stream.last_working
    elsewhere = None if served is None else 0
    last_stall = None if served is None else int(stalled)
    last_lost = None if served is None else int(lost)
    rows = []
    for state, visits in stream.visits.items():
        if state in outcomes:
            continue
        escalation = progress = 0
        for target in visits.to_states:
            if target in escalations:
                escalation = 1
            elif target != state:
                progress = 1
        is_last = state == last_working
        wanted = required.get(state)
        latencies = visits.latencies
        rows.append(
            StateAspects(
                state,
                terms.segments.get(state) or visits.segment or segment_by_name(state),
                progress,
                last_stall if is_last else elsewhere,
                escalation,
                visits.entries - 1,
                (len(latencies) + visits.unmeasured) / visits.entries,
                latencies[0] if len(latencies) == 1 else _p95(latencies),
                visits.guard_errors,
                None if wanted is None else len(wanted & stream.slots.get(state, _NOTHING)) / len(wanted),
                visits.to_states,
                last_lost if is_last else elsewhere,
                visits.position,
            )
        )
    return rows


def _p95(latencies: list[float]) -> float | None:
    """Return the 95th percentile of the latencies of a state."""
    return percentile(sorted(latencies), 0.95) if latencies else None
