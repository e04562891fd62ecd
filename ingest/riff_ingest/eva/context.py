"""Define the context of a call: what its three logs show together, in the terms that EVA's metrics are defined in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from riff_ingest.eva.trace import LoggedEntry, Texts
from riff_ingest.eva.turns import PipelineType, Turns

Segments: TypeAlias = list[tuple[float, float]]
AudioByTurn: TypeAlias = dict[int, Segments | None]


def segments(turns: Turns, role: str, last_moment: float) -> dict[int, Segments]:
    """Return the audio of one side by turn, in seconds since the epoch as logged.

    The i-th start of a turn goes with its i-th end; a start without an end lasts until the session's.
    """
    end = last_moment if turns.session_end is None else turns.session_end
    found: dict[int, Segments] = {}
    for (side, turn), starts in turns.starts.items():
        if side == role:
            ends = turns.ends.get((side, turn), [])
            found[turn] = [(start, ends[i] if i < len(ends) else end) for i, start in enumerate(starts)]
    return found


def latencies(user: Mapping[int, Segments | None], assistant: Mapping[int, Segments | None]) -> dict[int, float]:
    """Return seconds from the caller's last sound in a turn to the agent's first.

    Below zero if the agent barged in.
    """
    found = {}
    for turn in sorted(user.keys() & assistant.keys()):
        asked, answered = user[turn], assistant[turn]
        if asked and answered:
            found[turn] = round(answered[0][0] - asked[-1][1], 6)
    return found


def last_end(audio: Mapping[int, Sequence[tuple[float, float]] | None]) -> float | None:
    """Return when a side was last heard, `None` if it never was."""
    return max((end for spans in audio.values() for _, end in spans or ()), default=None)


@dataclass(slots=True)
class MetricContext:
    """Describe everything that a metric may look at. Turn 0 is the greeting; maps are keyed by turn.

    From the logs:

    - `transcribed_user_turns`, `intended_user_turns`: what the agent's recogniser heard of the caller, and what the
      caller was meant to say; `transcribed_assistant_turns`, `intended_assistant_turns` likewise of the agent, heard
      by the caller's side. The turns of one side have the same keys; a missing text is empty. A nudge that was
      never voiced leaves `None`.
    - `audio_timestamps_user_turns`, `audio_timestamps_assistant_turns`: segments of audio as (start, end) in seconds
      since the epoch, `None` if the side was silent in a turn.
    - `latency_assistant_turns`: seconds from the caller's last sound to the agent's first, below zero if the agent
      barged in.
    - `conversation_trace`: messages and tools in order; `tool_called` are names in lower case with repeats,
      `tool_params` and `tool_responses` what they were given and answered.
    - `num_assistant_turns`, `num_user_turns`, `num_tool_calls`: counts.
    - `assistant_interrupted_turns`, `user_interrupted_turns`: turns that began with that side's interrupting;
      `fallback_turn_ids` turns in which the caller stayed silent and the agent was nudged.

    - `conversation_finished`: whether the simulator's log ends with a goodbye; false without that log (9.3).
    - `logs`: which of `audit_log`, `pipecat` and `user_simulator` had events, `None` if nobody says.

    From result.json: `conversation_ended_reason`, `num_turns` (pieces that the recogniser delivered), `tools_called`
    (names without repeats), `duration_seconds`, the latencies of the models, paths of audio.
    From the databases: `initial_scenario_db`, `final_scenario_db` and their hashes.
    From the dataset: `user_goal`, `user_persona`, `expected_scenario_db`, `expected_trace`, `current_date_time`.
    From the agent's file: `agent_id`, `agent_role`, `agent_instructions`, `agent_tools`.

    `output_dir` is the record's directory, as it was named. `started_ms` is the time of the first event in the logs, in
    milliseconds since the epoch. `warnings` shows what was wrong with the logs, a line for each kind; without any, EVA
    gives this context too.
    """

    record_id: str = ""
    output_dir: str | None = None
    pipeline_type: PipelineType = "cascade"
    language: str = "en"
    transcribed_assistant_turns: Texts = field(default_factory=dict)
    transcribed_user_turns: Texts = field(default_factory=dict)
    intended_assistant_turns: Texts = field(default_factory=dict)
    intended_user_turns: Texts = field(default_factory=dict)
    audio_timestamps_assistant_turns: AudioByTurn = field(default_factory=dict)
    audio_timestamps_user_turns: AudioByTurn = field(default_factory=dict)
    latency_assistant_turns: dict[int, float] = field(default_factory=dict)
    num_assistant_turns: int = 0
    num_user_turns: int = 0
    num_tool_calls: int = 0
    tool_called: list[str] = field(default_factory=list)
    tool_params: list[dict[str, Any]] = field(default_factory=list)
    tool_responses: list[dict[str, Any]] = field(default_factory=list)
    conversation_trace: list[LoggedEntry] = field(default_factory=list)
    assistant_interrupted_turns: frozenset[int] = frozenset()
    user_interrupted_turns: frozenset[int] = frozenset()
    fallback_turn_ids: frozenset[int] = frozenset()
    conversation_ended_reason: str | None = None
    conversation_finished: bool = False
    logs: list[str] | None = None
    num_turns: int | None = None
    tools_called: list[str] | None = None
    duration_seconds: float | None = None
    llm_latency: dict[str, Any] | None = None
    stt_latency: dict[str, Any] | None = None
    tts_latency: dict[str, Any] | None = None
    audio_assistant_path: str | None = None
    audio_user_path: str | None = None
    audio_mixed_path: str | None = None
    initial_scenario_db: dict[str, Any] | None = None
    final_scenario_db: dict[str, Any] | None = None
    initial_scenario_db_hash: str | None = None
    final_scenario_db_hash: str | None = None
    expected_scenario_db: dict[str, Any] | None = None
    expected_trace: list[Any] | None = None
    user_goal: Any = None
    user_persona: str | None = None
    current_date_time: str | None = None
    agent_id: str | None = None
    agent_role: str | None = None
    agent_instructions: str | None = None
    agent_tools: list[dict[str, Any]] | None = None
    started_ms: int | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def is_audio_native(self) -> bool:
        """Return whether the model hears the caller itself, without a recogniser in between."""
        return self.pipeline_type in ("audio_llm", "s2s")

    @property
    def is_s2s(self) -> bool:
        """Return whether the model speaks itself as well."""
        return self.pipeline_type == "s2s"

    def may_have(self, log: str) -> bool:
        """Return whether one of the `logs` had events, also if nobody says."""
        return self.logs is None or log in self.logs

    @property
    def started_s(self) -> float | None:
        """Return when the call started, in seconds since the epoch: its first event, else the first sound."""
        if self.started_ms is not None:
            return self.started_ms / 1000
        sides = (self.audio_timestamps_user_turns, self.audio_timestamps_assistant_turns)
        return min((start for audio in sides for spans in audio.values() for start, _ in spans or ()), default=None)

    @property
    def audio_offsets_user_turns(self) -> AudioByTurn:
        """Return the caller's segments of audio in seconds since the call started."""
        return self._offsets(self.audio_timestamps_user_turns)

    @property
    def audio_offsets_assistant_turns(self) -> AudioByTurn:
        """Return the agent's segments of audio in seconds since the call started."""
        return self._offsets(self.audio_timestamps_assistant_turns)

    def _offsets(self, audio: AudioByTurn) -> AudioByTurn:
        began = self.started_s or 0.0  # without a start there is no sound either
        return {
            turn: spans and [(round(start - began, 6), round(end - began, 6)) for start, end in spans]
            for turn, spans in audio.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the context as JSON: turns as text keys, sets as sorted lists, pairs as lists."""
        names = (*(each.name for each in fields(self)), *_DERIVED)
        return {name: _plain(getattr(self, name)) for name in names}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> MetricContext:
        """Return the context that `to_dict` wrote; keys that are unknown are ignored."""
        found = {each.name: record[each.name] for each in fields(cls) if each.name in record}
        for name in _BY_TURN & found.keys():
            found[name] = {int(turn): value for turn, value in found[name].items()}
        for name in _AUDIO & found.keys():
            found[name] = {
                turn: spans if spans is None else [(start, end) for start, end in spans]
                for turn, spans in found[name].items()
            }
        for name in _TURN_SETS & found.keys():
            found[name] = frozenset(found[name])
        if "conversation_trace" in found:
            found["conversation_trace"] = [LoggedEntry.from_dict(entry) for entry in found["conversation_trace"]]
        return cls(**found)


_DERIVED = ("audio_offsets_assistant_turns", "audio_offsets_user_turns")
_AUDIO = {"audio_timestamps_assistant_turns", "audio_timestamps_user_turns"}
_TURN_SETS = {"assistant_interrupted_turns", "user_interrupted_turns", "fallback_turn_ids"}
_BY_TURN = {
    *_AUDIO,
    "transcribed_assistant_turns",
    "transcribed_user_turns",
    "intended_assistant_turns",
    "intended_user_turns",
    "latency_assistant_turns",
}


def _plain(value: Any) -> Any:
    if isinstance(value, LoggedEntry):
        return _plain(value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
