"""Compute the aspects of one conversation (docs/metrics.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

import msgspec

from riff_ingest.conversation import Contract, Conversation
from riff_ingest.events import SlotFilled
from riff_ingest.slot_values import contradicts
from riff_ingest.state_aspects import Stream, read_stream
from riff_ingest.visits import is_good, state_of
from riff_store.errors import UsageError
from riff_store.measure import percentile
from riff_store.metrics import COMPUTED, Metric, to_compute

COUNTED_STOPS = frozenset({"unsafe", "max_turns", "loop"})


def compute_flow_aspects(conversation: Conversation | Mapping[str, Any]) -> dict[str, float | None]:
    """Return the six computed aspects of a call; `None` if one cannot be measured.

    Scores run from 0 to 10, higher is better; latencies are seconds per agent turn; `turn_count` is raw. A call without
    events takes turns and latencies from what was said, and then the values that it brought along in `aspects`. A
    mapping is a conversation in its JSON shape; raises `UsageError` if a part has the wrong type.
    """
    if not isinstance(conversation, Conversation):
        try:
            conversation = msgspec.convert(dict(conversation), Conversation)
        except msgspec.ValidationError as error:
            raise UsageError(f"conversation: {error}") from error
    return call_aspects(conversation, read_stream(conversation.events, conversation.contract))


def call_aspects(call: Conversation, stream: Stream) -> dict[str, float | None]:
    """Compute the aspects of a call whose stream was read before."""
    latencies = turn_latencies(call, stream)
    turns = stream.turns if call.events else len([turn for turn in call.turns if turn.role == "agent"])
    p95 = percentile(sorted(latencies), 0.95) if latencies else None
    measured: dict[str, float | None] = {
        "correctness": _correctness(call, stream),
        "completion": _completion(call),
        "errors": _errors(call),
        "latency_p95": None if p95 is None else p95 / 1000,
        "latency_mean": sum(latencies) / len(latencies) / 1000 if latencies else None,
        "turn_count": float(turns) if call.events or turns else None,
    }
    if not call.events:
        for name in COMPUTED:
            brought = call.aspects.get(name)
            if brought is not None:
                measured[name] = float(brought)
    return {**measured, **call.measured} if call.measured else measured


def turn_latencies(call: Conversation, stream: Stream) -> list[float]:
    """Return the latencies of the agent's turns in milliseconds, of what was said if there are no events."""
    if call.events:
        return stream.latencies
    known = (turn.latency_ms for turn in call.turns if turn.role == "agent")
    return [latency for latency in known if latency is not None and latency >= 0]


def added_aspects(call: Conversation) -> tuple[dict[str, float | None], list[str]]:
    """Return the aspects that are computed by functions which they name, and what went wrong with one.

    A function that fails, or that returns no number within the bounds of its metric, measures nothing.
    """
    found: dict[str, float | None] = {}
    problems = []
    for metric, compute in _computed_elsewhere():
        try:
            value = compute(call)
            if value is not None and not metric.holds(float(value)):
                raise ValueError(f"{value!r} is not on its scale")
            found[metric.key] = None if value is None else float(value)
        except Exception as error:  # foreign code may raise anything
            found[metric.key] = None
            problems.append(f"aspect {metric.key} could not be computed: {type(error).__name__}")
    return found, problems


@lru_cache(maxsize=1)
def _computed_elsewhere() -> tuple[tuple[Metric, Callable[[Conversation], Any]], ...]:
    """Return the metrics that name a function of a conversation, each with the function."""
    found = []
    for metric in (each for each in to_compute() if not each.of_voice):
        module, _, name = metric.compute.partition(":")
        found.append((metric, getattr(import_module(module), name)))
    return tuple(found)


def _correctness(call: Conversation, stream: Stream) -> float | None:
    """Return whether the task was passed where the source knows, else what the contract reports of the call."""
    if call.passed is not None:
        return 10.0 if call.passed else 0.0
    contract = call.contract
    if contract is None or (call.origin == "derived" and not contract.defines_success()):
        return None
    return 10.0 * _reached(call, stream) * _slots(call, stream) * _status(call, contract) * _tools(call, stream)


def _reached(call: Conversation, stream: Stream) -> float:
    goals = stream.terms.successes
    if not goals:
        return 1.0
    return 1.0 if call.final_state in goals or not goals.isdisjoint(stream.outcomes) else 0.0


def _slots(call: Conversation, stream: Stream) -> float:
    """Return the share of the wanted slots that have a value, and none that the caller's facts contradict.

    A slot that only a state requires is among them where it has a wrong value.
    """
    wanted = stream.terms.wanted_slots
    wrong = _wrong_slots(call) if call.facts else frozenset[str]()
    if wrong:
        wanted |= wrong & frozenset[str]().union(*stream.terms.required_slots.values())
    if not wanted:
        return 1.0
    filled, brought = stream.filled, call.slots
    held = [slot for slot in wanted if slot in filled or brought.get(slot) is not None]
    return len([slot for slot in held if slot not in wrong]) / len(wanted)


def _wrong_slots(call: Conversation) -> frozenset[str]:
    """Return the slots that have at the end what contradicts the caller's facts."""
    held = {event.slot: event.value for event in call.events if type(event) is SlotFilled and event.value is not None}
    held |= {slot: value for slot, value in call.slots.items() if value is not None}
    return frozenset(slot for slot, fact in call.facts.items() if contradicts(held.get(slot), fact))


def _tools(call: Conversation, stream: Stream) -> float:
    """Return the share of the deeds that were done: the tools of the states left forward, and those of the whole flow.

    A state has done its own once each of its tools was called well, wherever in the call.
    """
    terms, contract = stream.terms, call.contract
    deeds = [tools for state, tools in terms.tools.items() if _left_forward(state, call, stream)]
    deeds += [(tool,) for tool in (contract.required_tools if contract else None) or ()]
    if not deeds:
        return 1.0
    done = {state_of(each) for each in call.tool_calls if is_good(each)}
    return len([tools for tools in deeds if done.issuperset(tools)]) / len(deeds)


def _left_forward(state: str, call: Conversation, stream: Stream) -> bool:
    """Return whether a call went from a state to another one that hands nobody over, or on to the goal at its end."""
    if state not in stream.visits:
        return False
    if stream.visits[state].to_states.keys() - stream.terms.escalations - {state}:
        return True
    return state == stream.last_entered and call.final_state in stream.terms.successes - {state}


def _status(call: Conversation, contract: Contract) -> float:
    if not contract.final_statuses:
        return 1.0
    return 1.0 if call.final_status in contract.final_statuses else 0.0


def _completion(call: Conversation) -> float | None:
    if (call.completed is None and call.stop_reason is None) or call.ends_in_unknown_word():
        return None
    return 10.0 if call.completed and call.stop_reason == "terminal" else 0.0


def _errors(call: Conversation) -> float:
    count = call.error_count() + (1 if call.stop_reason in COUNTED_STOPS else 0)
    return max(0.0, 10.0 - 2.5 * count)
