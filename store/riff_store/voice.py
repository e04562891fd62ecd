"""Define what is kept of a voice call with its transcript: who spoke when, what was meant and what was heard.

Ingest writes it into the kept transcript under the key `voice`, views read it. Times are seconds since the call
started, latencies seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

KEY = "voice"

BACKCHANNEL, VOCAL_TIC, NON_DIRECTED = "backchannel", "vocal_tic", "non_directed"
"""Sounds of a caller that ask for no answer: "mm-hmm", a cough, a word to somebody else."""
INTERRUPTION, RESPONSE = "interruption", "response"
GAVE_WAY, TRUNCATED = "gave_way", "truncated"
SILENCE = "silence"
BURST_NOISE, FRAME_DROP, MUFFLING, OUT_OF_TURN = "burst_noise", "frame_drop", "muffling", "out_of_turn_speech"

SOUNDS = (BACKCHANNEL, VOCAL_TIC, NON_DIRECTED)
NOISES = (BURST_NOISE, FRAME_DROP, MUFFLING, OUT_OF_TURN)
"""What was done to a side's audio for a while."""


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Describe one stretch of a side's audio in a turn."""

    turn: int
    start: float
    end: float


class VoiceTurn(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Describe a turn; turn 0 is the greeting. A text is `None` if that side knew none.

    `latency` is from the caller's last sound to the agent's first, below zero if the agent barged in. `score` (0 to 1)
    and `reason` are those of turn-taking, with `evidence` by name.
    """

    turn: int
    caller_meant: str | None = None
    caller_heard: str | None = None
    agent_meant: str | None = None
    agent_heard: str | None = None
    latency: float | None = None
    agent_interrupted: bool = False
    caller_interrupted: bool = False
    nudged: bool = False
    score: float | None = None
    reason: str | None = None
    evidence: dict[str, Any] = {}


class Mark(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Describe what happened beside the words, from `start` to `end`, by the `caller` or the `agent`.

    Of `SOUNDS` a `lone` one was heard while the caller did not speak, and one `over` the agent while that did. An
    `interruption` is by the side that broke in; a `response` (or that there was none) is where the caller's turn ended.
    Who `gave_way` stopped for the other side, what is `truncated` was cut off by the agent's provider. In a `silence`
    neither side speaks; `NOISES` are of the line.

    `correct` shows whether the agent did as it should, `None` if nobody judges that; `seconds` is how long it took to
    answer or to yield, of the agent's interruptions how long both spoke.
    """

    kind: str
    start: float
    end: float
    by: str | None = None
    turn: int | None = None
    lone: bool = False
    over: bool = False
    correct: bool | None = None
    seconds: float | None = None
    text: str | None = None


class TraceEntry(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Describe a message with its labels, or a tool's call or response, in the order of the call.

    `kind` is `intended`, `transcribed`, `tool_call` or `tool_response`; `role` is `assistant` or `user`.
    """

    kind: str
    turn: int
    t: float | None = None
    role: str | None = None
    text: str | None = None
    tool: str | None = None
    value: Any = None


class Task(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Describe whether the task was done: `passed` is `None` if nobody knows; `diff` is how the database differs."""

    passed: bool | None = None
    source: str | None = None
    message: str | None = None
    diff: dict[str, Any] = {}
    mismatches: dict[str, Any] = {}


class Voice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Describe a voice call; `pipeline` is `cascade`, `audio_llm` or `s2s`.

    `unmeasured` gives, by the keys of metrics, why they are not measured. Sources with a record of who spoke when, tick
    by tick, have `marks`, in the order of time, the `conditions` of the call (its line, the noise behind it), and how
    many runs of the caller's speech in a row were `unanswered` at most.
    """

    pipeline: str = "cascade"
    language: str = "en"
    ended: str | None = None
    caller: list[Span] = []
    agent: list[Span] = []
    turns: list[VoiceTurn] = []
    trace: list[TraceEntry] = []
    task: Task = Task()
    turn_taking: float | None = None
    warnings: list[str] = []
    unmeasured: dict[str, str] = {}
    marks: list[Mark] = []
    conditions: list[str] = []
    unanswered: int | None = None


def voice_of(document: Mapping[str, Any] | None) -> Voice | None:
    """Return what a kept transcript has of voice; `None` if it has none, or none that can be understood."""
    found = document.get(KEY) if document else None
    if found is None:
        return None
    try:
        return msgspec.convert(found, Voice)
    except msgspec.ValidationError:
        return None
