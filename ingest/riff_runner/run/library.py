"""Make calls from a script: what `riff_runner.run` offers beside its protocols."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from riff_runner.protocol import Agent, Caller, CallLimits
from riff_runner.run.cases.plan import PersonaChoice, ScenarioChoice, plan_cases
from riff_runner.run.clock import FixedClock, SystemClock
from riff_runner.run.files.run_document import RunSettings, RunSide
from riff_runner.run.flows.flow import RunnableFlow
from riff_runner.run.flows.flow_files import load_flows
from riff_runner.run.run_plan import RunRequest
from riff_runner.run.runs import RunEnd, make_run
from riff_runner.run.tools import StubbedTools, Tools

FlowChoice: TypeAlias = str | os.PathLike[str] | RunnableFlow
DEFAULT_SEED = 300
DEFAULT_CONCURRENCY = 4


def run_flows(
    flows: FlowChoice | Sequence[FlowChoice],
    agent: Agent | Callable[..., Any],
    *,
    caller: Caller | None = None,
    tools: Tools | None = None,
    out: str | os.PathLike[str] | None = None,
    scenarios: ScenarioChoice = "all",
    personas: PersonaChoice = None,
    trials: int = 1,
    seed: int = DEFAULT_SEED,
    concurrency: int = DEFAULT_CONCURRENCY,
    limits: CallLimits | None = None,
    clock: str | None = None,
    run_id: str | None = None,
    label: str | None = None,
    commit: str | None = None,
    branch: str | None = None,
    resume: bool = False,
    force: bool = False,
) -> RunEnd:
    """Have an agent called about flows, by a scripted caller if none is given.

    `flows` are names of built-in flows or paths, or one of them; `agent` is an `Agent`, or what docs/protocol.md calls
    an agent in Python. With `out` the calls are in the files of that directory, without it in `conversations` of what
    is returned. With `clock`, a time, nothing is measured, and the same answers give the same bytes. Returns when every
    call was made; `error` of what is returned shows what ended the run early. Raises `UsageError` for what makes no
    sense, `EndpointRefused` where agent or caller cannot be reached, `OSError` where files cannot be written. A signal
    such as that of Ctrl-C is raised again once what is complete is kept.
    """
    from riff_runner.run.agents.python import as_agent
    from riff_runner.run.callers.scripted import ScriptedCaller

    flows = [flows] if isinstance(flows, (str, os.PathLike, RunnableFlow)) else flows
    loaded = load_flows([os.fspath(flow) for flow in flows if not isinstance(flow, RunnableFlow)])
    loaded += [flow for flow in flows if isinstance(flow, RunnableFlow)]
    called, calls = as_agent(agent), caller or ScriptedCaller()
    limits = limits or CallLimits()
    cases = plan_cases(loaded, scenarios=scenarios, personas=personas, trials=trials, seed=seed)
    settings = RunSettings(
        agent=RunSide(kind="python", name=called.name),
        caller=RunSide(kind="scripted" if caller is None else "python", name=calls.name),
        tools="stubbed" if tools is None else "python",
        flows=tuple(flow.name for flow in loaded),
        scenarios=scenario_names(scenarios),
        personas=persona_names(personas),
        trials=trials,
        seed=seed,
        concurrency=concurrency,
        limits=asdict(limits),
    )
    end = _made(
        RunRequest(
            called,
            calls,
            cases,
            settings,
            tools=tools or StubbedTools(),
            limits=limits,
            clock=SystemClock() if clock is None else FixedClock(clock),
            in_order=clock is not None,
            out=None if out is None else Path(out),
            run_id=run_id,
            label=label,
            commit=commit,
            branch=branch,
            resume=resume,
            force=force,
        )
    )
    if end.signal is not None:
        signal.raise_signal(end.signal)
    return end


def scenario_names(choice: ScenarioChoice) -> tuple[str, ...]:
    """Return the names of the scenarios that were asked for, or `all`."""
    if choice == "all":
        return ("all",)
    return tuple(each if isinstance(each, str) else each.name for each in choice)


def persona_names(choice: PersonaChoice) -> tuple[str, ...]:
    """Return the names of the personas that were asked for, or `all`; none if each scenario has its own."""
    if choice is None or choice == "all":
        return () if choice is None else ("all",)
    return tuple(choice)


def _made(request: RunRequest) -> RunEnd:
    """Make the run, in a thread of its own where the caller's is busy with an event loop, as that of a notebook is."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return make_run(request)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(make_run, request).result()
