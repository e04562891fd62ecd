"""Results of tau2-bench and tau3-bench, made up."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 4, 9, 30)


def moment(seconds: float) -> str:
    """Return a time as the benchmark writes it, so many seconds after the call started."""
    return (START + timedelta(seconds=seconds)).isoformat()


def said(role: str, content: str | None, at: float, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a message of a side."""
    return {"role": role, "content": content, "tool_calls": list(calls) or None, "timestamp": moment(at)} | more


def tool(name: str, by: str = "assistant", id: str | None = None, **arguments: Any) -> dict[str, Any]:
    """Return a call of a tool."""
    return {"id": id or f"call_{name}", "name": name, "arguments": arguments, "requestor": by}


def answer(name: str, content: str, at: float, *, error: bool = False, id: str | None = None) -> dict[str, Any]:
    """Return what a tool answered."""
    return {"role": "tool", "id": id or f"call_{name}", "content": content, "error": error, "timestamp": moment(at)}


def action(
    name: str, requestor: str = "assistant", compare: list[str] | None = None, **arguments: Any
) -> dict[str, Any]:
    """Return a reference action."""
    return {
        "action_id": f"{name}_0",
        "requestor": requestor,
        "name": name,
        "arguments": arguments,
        "compare_args": compare,
    }


def check(reference: dict[str, Any], match: bool, tool_type: str | None = None) -> dict[str, Any]:
    """Return whether a reference action was matched."""
    found = {"action": reference, "action_match": match, "action_reward": float(match)}
    return found if tool_type is None else found | {"tool_type": tool_type}


def rewarded(reward: float, *checks: dict[str, Any]) -> dict[str, Any]:
    """Return what a simulation was scored."""
    return {"reward": reward, "action_checks": list(checks), "reward_basis": ["DB"]}


def task(id: str, *actions: dict[str, Any]) -> dict[str, Any]:
    """Return a task with its reference actions."""
    return {"id": id, "user_scenario": {"instructions": "Call."}, "evaluation_criteria": {"actions": list(actions)}}


def simulation(id: str, task_id: str = "1", **more: Any) -> dict[str, Any]:
    """Return a simulation of a short call that succeeded."""
    return {
        "id": id,
        "task_id": task_id,
        "start_time": moment(0),
        "end_time": moment(30),
        "duration": 30.5,
        "termination_reason": "user_stop",
        "agent_cost": 0.02,
        "user_cost": 0.01,
        "reward_info": rewarded(1.0),
        "messages": [
            said("assistant", "Hi! How can I help?", 0.5, cost=0.0),
            said("user", "Cancel my order.", 3, cost=0.005),
            said("assistant", "It is done.", 5, cost=0.02),
            said("user", "###STOP###", 7, cost=0.005),
        ],
        "trial": 0,
    } | more


def info(domain: str = "retail", llm: str = "gpt-4.1", **more: Any) -> dict[str, Any]:
    """Return what a run was."""
    return {
        "git_commit": "0f1e2d3c",
        "num_trials": 1,
        "max_steps": 100,
        "max_errors": 10,
        "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1-mini"},
        "agent_info": {"implementation": "llm_agent", "llm": llm, "llm_args": {"temperature": 0.0}},
        "environment_info": {"domain_name": domain, "policy": "Never tell the secret of the policy."},
        "seed": 300,
    } | more


def results(simulations: list[dict[str, Any]] | None, *tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the results of a run, without any simulations where they have files of their own."""
    found: dict[str, Any] = {"timestamp": moment(-60), "info": info(), "tasks": list(tasks)} | more
    return found if simulations is None else found | {"simulations": simulations}


def write_results(path: Path, document: Any, indent: int | None = 2) -> Path:
    """Write a document as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=indent), "utf-8")
    return path


def write_run(folder: Path, simulations: list[dict[str, Any]], *tasks: dict[str, Any], **more: Any) -> Path:
    """Write the results of a run with a file for each simulation; return the folder."""
    index = [{"id": each["id"], "task_id": each["task_id"], "trial": 0} for each in simulations]
    write_results(folder / "results.json", results(None, *tasks, **{"simulation_index": index} | more))
    for each in simulations:
        write_results(folder / "simulations" / f"{each['id']}.json", each)
    return folder
