"""Describe what a flow promises: its terminals, its slots, and what each state must collect."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec

from riff_store.errors import UsageError

DEFAULT_ESCALATIONS = frozenset({"escalated", "escalate"})


class StateContract(msgspec.Struct, frozen=True):
    """Describe the segment of a state and the slots that it has to fill; `id` is what its platform calls it."""

    segment: str | None = None
    required_slots: list[str] = []
    id: str | None = None


class Terms(msgspec.Struct, frozen=True):
    """Hold a contract in the form in which scoring looks things up.

    `outcomes` maps the terminals that are no working states to `success` or `escalation`;
    `segments` has the states whose segment is told, `required_slots` those that have to fill some.
    """

    successes: frozenset[str]
    escalations: frozenset[str]
    outcomes: dict[str, str]
    wanted_slots: frozenset[str]
    segments: dict[str, str]
    required_slots: dict[str, frozenset[str]]


class Contract(msgspec.Struct, frozen=True, dict=True):
    """Describe what a flow promises; `None` says that the flow does not define this part.

    Without `escalation_terminals` the names `escalated` and `escalate` are escalations;
    an empty list says that the flow has none.
    """

    success_terminals: list[str] | None = None
    escalation_terminals: list[str] | None = None
    final_statuses: list[str] | None = None
    required_slots: list[str] | None = None
    completion_slots: list[str] | None = None
    archetype: str | None = None
    states: dict[str, StateContract] = {}

    def escalations(self) -> frozenset[str]:
        """Return names of the states that hand the call to a human."""
        if self.escalation_terminals is None:
            return DEFAULT_ESCALATIONS
        return frozenset(self.escalation_terminals)

    def successes(self) -> frozenset[str]:
        """Return names of the states in which the flow has reached its goal."""
        return frozenset(self.success_terminals or ())

    def wanted_slots(self) -> frozenset[str]:
        """Return slots that the flow needs, whether required at large or for its completion."""
        return frozenset(self.required_slots or ()) | frozenset(self.completion_slots or ())

    def defines_success(self) -> bool:
        """Tell whether any part says what a call has to reach, fill or report."""
        return bool(self.success_terminals or self.wanted_slots() or self.final_statuses)

    @cached_property
    def terms(self) -> Terms:
        """Return the contract's terms, computed once: one contract holds for many calls."""
        successes, escalations = self.successes(), self.escalations()
        return Terms(
            successes,
            escalations,
            dict.fromkeys(successes, "success") | dict.fromkeys(escalations, "escalation"),
            self.wanted_slots(),
            {name: state.segment for name, state in self.states.items() if state.segment},
            {name: frozenset(state.required_slots) for name, state in self.states.items() if state.required_slots},
        )


EMPTY_CONTRACT = Contract()


def as_contract(value: Contract | Mapping[str, Any] | None) -> Contract | None:
    """Return a contract from its JSON shape; a value that is one already passes through.

    Raises `UsageError` where a part has the wrong type.
    """
    if value is None or isinstance(value, Contract):
        return value
    try:
        return msgspec.convert(dict(value), Contract)
    except msgspec.ValidationError as error:
        raise UsageError(f"contract: {error}") from error
