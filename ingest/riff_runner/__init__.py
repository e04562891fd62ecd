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
    "run.agent_call": ("AgentCall",),
    "run.cases.case": ("CallCase",),
    "run.flows.flow": ("RunnableFlow",),
    "run.flows.flow_files": ("load_flow",),
    "run.library": ("run_flows",),
    "run.runs": ("RunEnd",),
    "run.tools": ("ToolFailed", "ToolSession", "Tools"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that is its home."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF.get(name, 'protocol')}"), name)
