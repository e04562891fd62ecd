"""Make a conversation of a call that a platform held: with its end, and with what a flow file says of that."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from riff_ingest.contract import Contract
from riff_ingest.conversation import Conversation
from riff_ingest.observed_states import ObservedStates
from riff_ingest.stream import read_stream
from riff_ingest.tool_states import DERIVED, ToolStates

UNKNOWN = "(unknown)"
ESCALATED = "escalated"
HANGUP, AGENT_HANGUP, TERMINAL, TRANSFER, VOICEMAIL, TIMEOUT, ERROR = (
    "hangup",
    "agent_hangup",
    "terminal",
    "transfer",
    "voicemail",
    "timeout",
    "error",
)


class CallEnding(NamedTuple):
    """Hold why a call ended, and whether somebody else was to take it.

    `error` says why it does not count, `None` where it counts.
    """

    stop_reason: str | None
    error: str | None = None
    is_handed_over: bool = False


def ended_call(
    name: str,
    flow: str,
    states: ToolStates,
    ending: CallEnding,
    contract: Contract | None,
    handing_over: str | None = None,
) -> Conversation:
    """Return a call as it went and ended.

    Whether it was completed is told by the terminals of its flow's contract, and by nothing else: without one it is
    not known, and states that were derived are none of the flow's. `handing_over` is the state that does nothing but
    hand a call over, where there is no contract to say so.
    """
    if not isinstance(states, ObservedStates):
        contract = None
    measured: dict[str, float | None] = {}
    completed, named = None, contract is not None and bool(contract.success_terminals or contract.escalation_terminals)
    if contract is None and ending.is_handed_over and handing_over in states.states:
        contract = Contract(escalation_terminals=[handing_over])
        measured["correctness"] = None
    stream = read_stream(states.events, contract)
    final, stop = states.state, ending.stop_reason
    if ending.is_handed_over and not stream.escalated and states.states:
        final, contract = ESCALATED, with_escalation(contract)
    if named:
        completed = stream.succeeded
    else:
        measured["completion"] = None
    if stream.succeeded:
        stop = TERMINAL
    elif stream.escalated:
        stop = TRANSFER
    failed = [call for call in states.tool_calls if call.error is not None]
    return Conversation(
        conversation_id=name,
        flow=flow,
        completed=completed,
        stop_reason=ERROR if ending.error else stop,
        final_state=final,
        errored=ending.error is not None,
        error=ending.error,
        errors=[{"kind": "tool error", "message": str(call.error), "t": call.t} for call in failed],
        contract=contract,
        turns=states.turns,
        events=states.events,
        tool_calls=states.tool_calls,
        origin="observed" if isinstance(states, ObservedStates) else DERIVED,
        measured=measured,
    )


def with_escalation(contract: Contract | None) -> Contract | None:
    """Return a contract to which a call that was handed over outside of the flow's own states has escalated."""
    if contract is None or contract.escalation_terminals is None:
        return contract
    return msgspec.structs.replace(contract, escalation_terminals=[*contract.escalation_terminals, ESCALATED])
