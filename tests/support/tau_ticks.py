"""Write the ticks of a voice call as two lines of signs, as tau2-bench would in JSON."""

from __future__ import annotations

from typing import Any

from tests.support import tau_runs

SILENCE = "."
LONE_TIC, LONE_WORD = "T", "W"
"""A cough and a word to others while the caller does not speak."""
SPEECH, BACKCHANNEL, TIC, WORD = "c", "b", "t", "w"
"""What the caller says: a turn, a backchannel, a turn with a cough in it, one with a word to others."""
AGENT = "a"

_INSERTS = {
    LONE_TIC: {"text": "[cough]", "type": "vocal_tic"},
    TIC: {"text": "[cough]", "type": "vocal_tic"},
    LONE_WORD: {"text": "Not now.", "type": "non_directed_phrase"},
    WORD: {"text": "Not now.", "type": "non_directed_phrase"},
}
_STOP: dict[str, Any] = {"content": "###STOP###", "turn_taking_action": {"action": "generate_message"}}


def ticks(caller: str, agent: str, *, stop: bool = False) -> list[dict[str, Any]]:
    """The ticks of a call; a sign of each side for each tick, and with `stop` the caller's signal to hang up."""
    length = max(len(caller), len(agent))
    caller, agent = caller.ljust(length, SILENCE), agent.ljust(length, SILENCE)
    found = [
        {
            "tick_id": at,
            "agent_chunk": {"role": "assistant", "content": "a" * (said == AGENT), "contains_speech": said == AGENT},
            "user_chunk": _user_chunk(caller[at], caller[at - 1] if at else SILENCE),
        }
        for at, said in enumerate(agent)
    ]
    return [*found, {"tick_id": length, "agent_chunk": None, "user_chunk": _STOP}] if stop else found


def _user_chunk(sign: str, before: str) -> dict[str, Any]:
    spoken = sign in (SPEECH, BACKCHANNEL, TIC, WORD)
    insert = _INSERTS.get(sign)
    begins = spoken and before in (SILENCE, LONE_TIC, LONE_WORD)
    begun = "backchannel" if sign == BACKCHANNEL else "generate_message"
    chunk: dict[str, Any] = {
        "role": "user",
        "content": "c" if spoken else "",
        "contains_speech": spoken,
        "turn_taking_action": {"action": begun if begins else "keep_talking" if spoken else "wait"},
    }
    if insert is not None:
        chunk["speech_effects" if spoken else "source_effects"] = {"speech_insert": insert}
    return chunk


def simulation(id: str, caller: str, agent: str, **more: Any) -> dict[str, Any]:
    """A voice call of these ticks, with the caller's signal to hang up."""
    return tau_runs.simulation(id, messages=None, ticks=ticks(caller, agent, stop=True), mode="full_duplex") | more


def info(**audio: Any) -> dict[str, Any]:
    """What a run of voice was, with ticks of 0.2 s."""
    config = {"provider": "openai", "model": "gpt-realtime", "tick_duration_seconds": 0.2} | audio
    return tau_runs.info(llm="openai:gpt-realtime", audio_native_config=config)
