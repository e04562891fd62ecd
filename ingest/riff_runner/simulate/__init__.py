"""Simulate calls: a reference state machine, flows with planted weaknesses, and callers who find them."""

from __future__ import annotations

from riff_runner.simulate.flow_file import Planted, SimulatedFlow, Weakness, flow_names, load_flow, planted
from riff_runner.simulate.machine import Guard, Machine, NoSuchTransition
from riff_runner.simulate.suite import DEFAULT_CONVERSATIONS, SimulationSummary, custom_run, generate, simulate

__all__ = [
    "DEFAULT_CONVERSATIONS",
    "Guard",
    "Machine",
    "NoSuchTransition",
    "Planted",
    "SimulatedFlow",
    "SimulationSummary",
    "Weakness",
    "custom_run",
    "flow_names",
    "generate",
    "load_flow",
    "planted",
    "simulate",
]
