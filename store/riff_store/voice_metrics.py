"""List the metrics of voice calls that EVA defines and that need no judge (docs/eva.md, section 10)."""

from __future__ import annotations

from typing import Any

from riff_store.metric import SHARE, Metric

_OPTIONAL: dict[str, Any] = {"shown": False, "optional": True, "decimals": 2}
_SCORE: dict[str, Any] = {"unit": "0-1", "bounds": SHARE, **_OPTIONAL}
_SHARES: dict[str, Any] = {"unit": "share", "bounds": SHARE, **_OPTIONAL}


def _yes_or_no(key: str, title: str, help: str, definition: str, *aliases: str) -> Metric:
    """Return a metric that is 1 or 0 for a call."""
    return Metric(key, title, help, definition=definition, aliases=aliases, rate_of=key, **_SHARES)


VOICE_METRICS: tuple[Metric, ...] = (
    _yes_or_no(
        "task_completion", "task_done",
        "Share of voice calls that left the scenario's database as it should be.",
        "1 if the final database and its session are as expected, else 0",
    ),
    Metric(
        "turn_taking", "turn_taking", **_SCORE,
        help="How well the agent timed its turns: neither late, nor barging in, nor slow to give way.",
        definition="mean over turns of how well the agent was timed, 0 where it left the caller waiting for ever",
    ),
    Metric(
        "response_speed", "resp_speed", short="resp", unit="s", better="lower", **_OPTIONAL,
        help="Seconds from the caller's last sound to the agent's first, barge-ins left out.",
        definition="mean of the seconds from the caller's last sound to the agent's first, where these are above 0",
    ),
    Metric(
        "tool_call_validity", "tool_valid", short="tools", aliases=("tool_validity",), **_SHARES,
        help="Share of the agent's tool calls that were well formed; 1 where it made none.",
        definition="responses of tools that complain neither of the call nor of its parameters ÷ responses",
    ),
    Metric(
        "stt_wer", "stt_wer", short="wer", unit="share", better="lower", aliases=("wer",), **_OPTIONAL,
        help="Word error rate of the agent's speech recognition: wrong words for each word that the caller was to say.",
        definition="words transcribed wrong ÷ words that the caller was to say; above 1 where many were added",
    ),
    _yes_or_no(
        "authentication_success", "auth",
        "Share of voice calls in which the caller was authenticated as the task asks.",
        "1 if the final session has all that is expected, else 0",
        "authentication",
    ),
    _yes_or_no(
        "conversation_correctly_finished", "answered",
        "Share of voice calls in which the agent did not leave the caller waiting for ever.",
        "0 if the call ended of inactivity after the caller had spoken, else 1",
        "correctly_finished",
    ),
    _yes_or_no(
        "conversation_completed_on_time", "on_time",
        "Share of voice calls that ended before their time limit.",
        "0 if the call ended because it took too long, else 1",
        "on_time",
    ),
    _yes_or_no(
        "conversation_valid_end", "valid_end",
        "Share of voice calls that ended by the simulated caller's goodbye, or because the agent fell silent.",
        "1 if the simulator's log ends with a goodbye, or if the agent left the caller waiting, else 0",
        "conversation_finished", "valid_end",
    ),
)  # fmt: skip
