"""Fold the events of a call into its visits, and compute a row of metrics for each state (docs/metrics.md, 1 and 2).

Streams of real calls are imperfect; what does not fit is counted in `defects` and never raises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from riff_ingest.conversation import EMPTY_CONTRACT, Contract, Terms, as_contract
from riff_ingest.events import Event, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_ingest.segments import segment_by_name
from riff_store.facts import StateAspects
from riff_store.measure import percentile, slow_share

_NOTHING: frozenset[str] = frozenset()


def compute_state_aspects(
    events: Iterable[Event],
    contract: Contract | Mapping[str, Any] | None,
    completed: bool | None,
    final_state: str | None = None,
) -> list[StateAspects]:
    """Compute the metrics of every working state that a call entered, in order of first entry.

    Outcomes (success and escalation terminals) get no row. Latency is in milliseconds. Never raises on what the events
    contain; a contract of a wrong shape raises `UsageError`.
    """
    contract = as_contract(contract)
    stream = read_stream(events, contract)
    stream.end_in(final_state)
    return state_rows(stream, contract, completed)


def was_served(stream: Stream, contract: Contract | None, completed: bool | None) -> bool | None:
    """Return whether a call came to its end, `None` if nothing shows it.

    Reaching a success terminal shows it whatever the flag is; without the flag, not reaching any of the terminals that
    the contract names shows the opposite.
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
                slow_share(latencies),
            )
        )
    return rows


def _p95(latencies: list[float]) -> float | None:
    """Return the 95th percentile of the latencies of a state."""
    return percentile(sorted(latencies), 0.95) if latencies else None


class Visits(msgspec.Struct, gc=False):
    """Add up all visits of one call to one state; latencies in milliseconds.

    `position` is the place of the first among all visits of the call, from 0.
    """

    entries: int = 0
    position: int = 0
    latencies: list[float] = []
    unmeasured: int = 0
    guard_errors: int = 0
    to_states: dict[str, int] = {}
    segment: str | None = None

    @property
    def turns(self) -> int:
        """Return the agent turns in the state, whether their latency is known or not."""
        return len(self.latencies) + self.unmeasured


class Stream(msgspec.Struct, gc=False):
    """Describe what a call's events show: its visits by state in order of first entry, and the call's turns.

    `last_working` is the state entered last that is not an outcome, `last_entered` any; `outcomes` has those that were
    entered or exited to, `outcome_positions` at which visit first. `slots` shows what was filled in which state,
    `guards` have how they turned out before their name; `latencies` are those of all turns, in milliseconds.
    """

    terms: Terms
    visits: dict[str, Visits] = {}
    outcomes: dict[str, str] = {}
    outcome_positions: dict[str, int] = {}
    last_working: str | None = None
    last_entered: str | None = None
    entries: int = 0
    latencies: list[float] = []
    unmeasured: int = 0
    filled: set[str] = set()
    slots: dict[str, set[str]] = {}
    guards: set[str] = set()
    defects: dict[str, int] = {}

    @property
    def turns(self) -> int:
        """Return the agent turns of the call, in a state or not."""
        return len(self.latencies) + self.unmeasured

    @property
    def escalated(self) -> bool:
        """Return whether the call was handed to a human."""
        return "escalation" in self.outcomes.values()

    @property
    def succeeded(self) -> bool:
        """Return whether the call reached a success terminal."""
        return "success" in self.outcomes.values()

    def end_in(self, final_state: str | None) -> None:
        """Take the state that a call reports it ended in: a terminal counts as the exit of its last visit."""
        outcome = self.terms.outcomes.get(final_state or "")
        if final_state is None or outcome is None or final_state in self.outcomes:
            return
        if outcome == "escalation" and self.last_entered in self.visits.keys() - self.outcomes.keys():
            _count(self.visits[self.last_entered].to_states, final_state)
        self.outcomes[final_state] = outcome
        if self.entries:
            self.outcome_positions.setdefault(final_state, self.entries)


def read_stream(events: Iterable[Event], contract: Contract | None) -> Stream:
    """Fold events, in the order of their emission, into visits."""
    stream = Stream((contract or EMPTY_CONTRACT).terms)
    visits, outcomes, latencies, known = stream.visits, stream.outcomes, stream.latencies, stream.terms.outcomes
    current = Visits()  # to the state entered last, left or not; these first ones are to none
    open_state: str | None = None
    last_entered: str | None = None
    last_working: str | None = None
    entries = 0
    for event in events:
        if type(event) is TurnComplete:
            latency = event.latency_ms
            if latency is not None and latency >= 0:
                latencies.append(latency)
                current.latencies.append(latency)
                continue
            stream.unmeasured += 1
            current.unmeasured += 1
            if latency is not None:
                _count(stream.defects, "negative duration")
        elif type(event) is StateEntered:
            state = last_entered = event.state
            if open_state is not None:
                _count(stream.defects, "missing exit")
                _count(current.to_states, state)
            open_state = state
            if state in visits:
                current = visits[state]
            else:
                current = visits[state] = Visits(0, entries)
            current.entries += 1
            if current.segment is None:
                current.segment = event.segment
            if state in known:
                outcomes[state] = known[state]
                stream.outcome_positions.setdefault(state, entries)
            else:
                last_working = state
            entries += 1
        elif type(event) is StateExited:
            if event.state != open_state:
                _count(stream.defects, "stray exit")
                continue
            open_state = None
            target = event.to_state
            if target is not None:
                _count(current.to_states, target)
                if target in known:
                    outcomes[target] = known[target]
                    stream.outcome_positions.setdefault(target, entries)
        elif type(event) is SlotFilled:
            if event.value is not None:
                stream.filled.add(event.slot)
                collector = open_state if event.state is None else event.state
                if collector is not None and collector in visits:
                    stream.slots.setdefault(collector, set()).add(event.slot)
        elif type(event) is GuardEvaluated:
            if event.error is not None and says_something(event.error):
                stream.guards.add(f"error {event.guard}")
                current.guard_errors += open_state is not None
            else:
                stream.guards.add(f"{'passed' if event.result else 'failed'} {event.guard}")
    stream.last_entered, stream.last_working, stream.entries = last_entered, last_working, entries
    return stream


def says_something(error: object) -> bool:
    """Return whether the error of a guard is one: null, false, 0 and an empty text are none."""
    return not (error is None or error is False or error == "" or (isinstance(error, int | float) and error == 0))


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1
