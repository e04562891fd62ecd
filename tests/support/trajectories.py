"""Results of the first tau-bench: an agent that acts in words, one that calls tools, and a call that broke."""

from __future__ import annotations

import json
from typing import Any

NAME = "react-mq-0.0_range_0--1_user-mu-llm_0301120000"
TASK = {
    "user_id": "u",
    "instruction": "x",
    "actions": [{"name": "cancel_reservation", "kwargs": {"reservation_id": "AB1"}}],
    "outputs": [],
}
CANCEL = 'Action:\n{"name":"cancel_reservation","arguments":{"reservation_id":"AB1"}}'


def said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def called(name: str, answer: str, **arguments: str) -> list[dict[str, Any]]:
    """A call of a tool, always by the same id, and what it answered."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "name": name, "content": answer},
    ]


def result(trial: int, reward: float, traj: list[dict[str, Any]], task: Any = None) -> dict[str, Any]:
    info = {
        "task": task or TASK,
        "source": "user",
        "user_cost": 0.01,
        "reward_info": {"reward": reward, "info": {"r_actions": reward, "gt_data_hash": "h"}, "actions": []},
    }
    return {"task_id": 4, "trial": trial, "reward": reward, "info": info, "traj": traj}


def results() -> list[dict[str, Any]]:
    """Two trials of a task and a call of another one that broke."""
    in_words = [
        said("system", "# Airline Agent Policy\n#Available tools\n[]"),
        said("user", "Cancel AB1."),
        said("assistant", f"Thought:\nfirst try\n{CANCEL}"),
        said("user", "API output: Error: busy"),
        said("assistant", CANCEL),
        said("user", "API output: {}"),
        said("assistant", 'Action:\n{"name":"respond","arguments":{"content":"Done."}}'),
        said("user", "###STOP###"),
    ]
    by_tools = [
        said("system", "# Airline Agent Policy"),
        said("user", "Cancel AB1."),
        *called("get_reservation_details", "{}", reservation_id="AB1"),
        *called("transfer_to_human_agents", "Transfer successful"),
    ]
    broken = {"task_id": 5, "trial": 0, "reward": 0.0, "info": {"error": "RateLimit", "traceback": "t"}, "traj": []}
    return [result(0, 1.0, in_words), result(1, 0.0, by_tools), broken]
