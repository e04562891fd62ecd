"""Results of tau2-bench made by code, the same for the same seed: calls as long and as wordy as real ones."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

TURNS = 12
START = datetime(2026, 3, 4, 9, 30)
TOOLS = ("get_order_details", "get_user_details", "cancel_pending_order", "modify_user_address")
POLICY = "Confirm every change with the customer before it is made. " * 120

_TALK = (
    "please check whether the order that came on monday can still be changed to another address because the parcel "
    "was left at a house that nobody lives in and the lamp which is in it would cost more than all of the rest"
)
_WORDS = _TALK.split()


def write_results(path: Path, size: int) -> Path:
    """Results of at least so many bytes in one file, as the benchmark writes them."""
    tasks = [_task(number) for number in range(40)]
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"timestamp": START.isoformat(), "info": _info(), "tasks": tasks}, indent=4)[:-2])
        file.write(',\n    "simulations": [\n        ')
        number = 0
        while file.tell() < size:
            file.write(",\n        " if number else "")
            file.write(json.dumps(_simulation(number), indent=4).replace("\n", "\n        "))
            number += 1
        file.write("\n    ]\n}")
    return path


def write_voice_run(folder: Path, calls: int, ticks: int) -> Path:
    """Results of voice with a file for each call of so many ticks."""
    (folder / "simulations").mkdir(parents=True)
    config = {"provider": "openai", "model": "agent", "tick_duration_seconds": 0.2}
    info = _info() | {"audio_native_config": config}
    document = {"timestamp": START.isoformat(), "info": info, "tasks": [_task(0)]}
    (folder / "results.json").write_text(json.dumps(document), "utf-8")
    for number in range(calls):
        dice = random.Random(number)
        call = _simulation(number) | {"messages": None, "mode": "full_duplex"}
        call["ticks"] = [_tick(dice, at) for at in range(ticks)]
        (folder / "simulations" / f"{call['id']}.json").write_text(json.dumps(call), "utf-8")
    return folder


def _tick(dice: random.Random, at: int) -> dict[str, Any]:
    """A slice of a call in which the sides speak in turn, with a backchannel now and then."""
    place = at % 60
    action = {0: "generate_message", 45: "backchannel"}.get(place, "keep_talking")
    caller, agent = place < 20 or (place == 45 and dice.random() < 0.3), 25 <= place < 55
    return {
        "tick_id": at,
        "timestamp": _moment(at // 12),
        "agent_chunk": _chunk(
            "assistant", dice, at, agent, {"vad_events": [], "was_truncated": False, "tick_number": at}
        ),
        "user_chunk": _chunk("user", dice, at, caller, None) | {"turn_taking_action": {"action": action, "info": None}},
        "agent_tool_calls": [],
        "user_tool_calls": [],
        "agent_tool_results": [],
        "user_tool_results": [],
        "user_transcript": None,
        "tick_duration_seconds": 0.2,
        "wall_clock_duration_seconds": 0.213,
    }


def _chunk(role: str, dice: random.Random, at: int, speaks: bool, raw: dict[str, Any] | None) -> dict[str, Any]:
    nothing = dict.fromkeys(("tool_calls", "turn_idx", "usage", "generation_time_seconds", "audio_path", "chunk_id"))
    effects = {name: {"speech_insert": None} for name in ("speech_effects", "source_effects", "channel_effects")}
    return nothing | {
        "role": role,
        "content": f"{dice.choice(_WORDS)} " if speaks else None,
        "is_audio": True,
        "timestamp": _moment(at // 12),
        "cost": 0.0,
        "raw_data": raw,
        "audio_format": {"encoding": "ulaw", "sample_rate": 8000, "channels": 1, "sample_width": 1},
        "utterance_ids": [f"{at // 60:08x}-5c1b-4a6e-9d42-1f0e6a7c8b9d"] if speaks else None,
        "is_final_chunk": not speaks,
        "contains_speech": speaks,
        **effects,
    }


def _info() -> dict[str, Any]:
    return {
        "git_commit": "0f1e2d3c4b5a69788796a5b4c3d2e1f001122334",
        "user_info": {"implementation": "user_simulator", "llm": "caller", "global_simulation_guidelines": POLICY},
        "agent_info": {"implementation": "llm_agent", "llm": "agent", "llm_args": {"temperature": 0.0}},
        "environment_info": {"domain_name": "retail", "policy": POLICY, "tool_defs": None},
        "seed": 300,
    }


def _task(number: int) -> dict[str, Any]:
    return {"id": str(number), "evaluation_criteria": {"actions": [_action(number)], "reward_basis": ["DB"]}}


def _action(number: int) -> dict[str, Any]:
    name = TOOLS[2 + number % 2]
    arguments = {"order_id": f"#{number}"}
    return {"action_id": f"{number}_0", "requestor": "assistant", "name": name, "arguments": arguments}


def _simulation(number: int) -> dict[str, Any]:
    dice = random.Random(number)
    messages: list[dict[str, Any]] = []
    for turn in range(TURNS):
        messages += _exchange(dice, turn, f"#{number % 40}", len(messages))
    match = dice.random() < 0.7
    check = {"action": _action(number % 40), "action_match": match, "action_reward": float(match)}
    return {
        "id": f"{number:08x}-5c1b-4a6e-9d42-1f0e6a7c8b9d",
        "task_id": str(number % 40),
        "start_time": START.isoformat(),
        "duration": 20.0 + dice.random() * 60,
        "termination_reason": "user_stop",
        "agent_cost": 0.02,
        "user_cost": 0.01,
        "reward_info": {"reward": float(match), "action_checks": [check], "reward_basis": ["DB"]},
        "messages": messages,
        "trial": number // 40,
        "seed": dice.randrange(10**6),
    }


def _exchange(dice: random.Random, turn: int, order: str, at: int) -> list[dict[str, Any]]:
    tool = TOOLS[turn % len(TOOLS)]
    call = {"id": f"call_{turn}", "name": tool, "arguments": {"order_id": order}, "requestor": "assistant"}
    return [
        _message("user", dice, at),
        _message("assistant", dice, at + 1, content=None, tool_calls=[call]),
        {
            "id": call["id"],
            "role": "tool",
            "content": json.dumps({word: dice.choice(_WORDS) for word in dice.choices(_WORDS, k=12)}),
            "requestor": "assistant",
            "error": False,
            "timestamp": _moment(at + 2),
        },
        _message("assistant", dice, at + 3),
    ]


def _message(role: str, dice: random.Random, at: int, **more: Any) -> dict[str, Any]:
    content = " ".join(dice.choices(_WORDS, k=28))
    answer = {"content": content, "role": "assistant", "tool_calls": None, "function_call": None}
    raw = {"finish_reason": "stop", "index": 0, "message": answer, "provider_specific_fields": {}}
    return {
        "role": role,
        "content": content,
        "tool_calls": None,
        "turn_idx": at,
        "timestamp": _moment(at),
        "cost": 0.001,
        "usage": {"completion_tokens": 50, "prompt_tokens": 3000},
        "raw_data": raw,
    } | more


def _moment(at: int) -> str:
    return (START + timedelta(seconds=2.5 * at)).isoformat()
