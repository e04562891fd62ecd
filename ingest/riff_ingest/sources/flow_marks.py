"""Work out what a flow of pipecat promises, from its nodes and from the marks that riff-tui knows in them."""

from __future__ import annotations

from riff_ingest.contract import DEFAULT_ESCALATIONS, Contract, StateContract
from riff_ingest.sources.coercion import contract_of
from riff_ingest.sources.flow_config import FlowConfig, FlowNode


def contract_of_nodes(config: FlowConfig, misfits: list[str], *, unmarked_ends_succeed: bool) -> Contract:
    """Return the contract of a flow, with the parts of marks that do not fit in `misfits`.

    A node that ends the call is a success or an escalation as it is marked; without a mark it is an escalation by its
    name, and else a success if those are to be.
    """
    states: dict[str, StateContract] = {}
    completion: dict[str, None] = {}
    successes, escalations = [], []
    for name, node in config.nodes.items():
        state = {part: node.mark.get(part) for part in ("segment", "required_slots")}
        marks, wrong = contract_of({"states": {name: state}, "completion_slots": node.mark.get("completion_slots")})
        misfits += wrong
        required = marks.states[name].required_slots if state["required_slots"] is not None else _needed(node)
        states[name] = StateContract(marks.states[name].segment, required)
        completion |= dict.fromkeys(marks.completion_slots or ())
        if node.end == "escalation":
            escalations.append(name)
        elif node.end == "success" or (unmarked_ends_succeed and _succeeds(node)):
            successes.append(name)
    if escalations:
        escalations += [name for name in config.nodes if name in DEFAULT_ESCALATIONS and config.nodes[name].end is None]
    return Contract(
        success_terminals=successes or None,
        escalation_terminals=escalations or None,
        completion_slots=list(completion) or None,
        states=states,
    )


def _succeeds(node: FlowNode) -> bool:
    return node.ends and node.end is None and node.name not in DEFAULT_ESCALATIONS


def _needed(node: FlowNode) -> list[str]:
    """Return the union of what a node's functions require."""
    return list(dict.fromkeys(slot for function in node.functions for slot in function.required))
