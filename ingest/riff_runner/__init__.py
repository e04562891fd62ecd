"""Make calls: simulate and run them, judge them, and keep what they leave.

The names below are what scripts may rely on; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riff_runner.protocol import (
        Agent,
        AgentReply,
        AgentSession,
        AgentStopped,
        Caller,
        CallerFailed,
        CallerNotes,
        CallerSession,
        CallerTurn,
        CallLimits,
        CallRefused,
        CallView,
        EndpointRefused,
        Unavailable,
    )
    from riff_runner.run.agent_call import AgentCall
    from riff_runner.run.cases.case import CallCase
    from riff_runner.run.flows.flow import RunnableFlow
    from riff_runner.run.flows.flow_files import load_flow
    from riff_runner.run.library import run_flows
    from riff_runner.run.runs import RunEnd
    from riff_runner.run.tools import ToolFailed, Tools, ToolSession

__all__ = [
    "Agent",
    "AgentCall",
    "AgentReply",
    "AgentSession",
    "AgentStopped",
    "CallCase",
    "CallLimits",
    "CallRefused",
    "CallView",
    "Caller",
    "CallerFailed",
    "CallerNotes",
    "CallerSession",
    "CallerTurn",
    "EndpointRefused",
    "RunEnd",
    "RunnableFlow",
    "ToolFailed",
    "ToolSession",
    "Tools",
    "Unavailable",
    "load_flow",
    "run_flows",
]

_HOMES = {
    "AgentCall": "run.agent_call",
    "CallCase": "run.cases.case",
    "RunnableFlow": "run.flows.flow",
    "load_flow": "run.flows.flow_files",
    "run_flows": "run.library",
    "RunEnd": "run.runs",
    "ToolFailed": "run.tools",
    "ToolSession": "run.tools",
    "Tools": "run.tools",
}
"""The modules of names that are not of `protocol`."""


def __getattr__(name: str) -> Any:
    """Load a public name from the module that is its home."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'protocol')}"), name)
