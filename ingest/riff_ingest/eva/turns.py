"""Turn a history into turns in one pass, with a small memory of who is speaking (R6.1 to R6.14).

The history is taken in the given order. Each rule is a method; the names of its state are those of the
page's table, spelled out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from riff_ingest.eva.history import ASSISTANT, AUDIT, FRAMEWORK, ROLES, USER, HistoryEvent, Warnings, inner, seconds
from riff_ingest.eva.trace import (
    ASSISTANT_INTERRUPTS,
    CUT_ITSELF_OFF,
    CUT_OFF_BY_ASSISTANT,
    CUT_OFF_BY_USER,
    GENERIC_ERROR,
    LIKELY_INTERRUPTION,
    PAUSE,
    USER_INTERRUPTS,
    EntryType,
    LoggedEntry,
    Texts,
    annotate,
    append,
    prefixed,
    suffix,
)

PipelineType: TypeAlias = Literal["cascade", "audio_llm", "s2s"]
SpeakerTurn: TypeAlias = tuple[str, int]


@dataclass(slots=True)
class Turns:
    """Collect texts by turn, meant and heard, the trace, and when audio began and ended.

    `starts` and `ends` are seconds since the epoch by (side, turn) in the order in which they were logged,
    `pieces` what the agent's voice was given in each turn, piece by piece.
    """

    transcribed_user: Texts = field(default_factory=dict)
    intended_user: Texts = field(default_factory=dict)
    transcribed_assistant: Texts = field(default_factory=dict)
    intended_assistant: Texts = field(default_factory=dict)
    pieces: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    trace: list[LoggedEntry] = field(default_factory=list)
    assistant_interrupted: set[int] = field(default_factory=set)
    user_interrupted: set[int] = field(default_factory=set)
    nudged: set[int] = field(default_factory=set)
    starts: defaultdict[SpeakerTurn, list[float]] = field(default_factory=lambda: defaultdict(list))
    ends: defaultdict[SpeakerTurn, list[float]] = field(default_factory=lambda: defaultdict(list))
    session_end: float | None = None


def extract(history: Iterable[HistoryEvent], pipeline_type: PipelineType, warnings: Warnings) -> Turns:
    """Return the turns of a call; an event that shows nothing that can be used is left out and counted."""
    machine = _Machine(pipeline_type, warnings)
    for event in history:
        machine.take(event)
    return machine.turns


class _Machine:
    def __init__(self, pipeline_type: PipelineType, warnings: Warnings) -> None:
        self.turns = Turns()
        self._pipeline = pipeline_type
        self._warnings = warnings
        self._turn = 0
        self._agent_spoke = False
        self._user_audio_in_turn = False
        self._tools_in_turn = False
        self._hold = False
        self._user_open = False
        self._agent_open = False
        self._agent_audio_turn = 0
        self._user_audio_turn = 0
        self._answered = False
        self._speech_in_session = False
        self._parked: list[tuple[str, int]] = []
        self._parked_texts: set[str] = set()
        self._rollback = False
        self._rollback_taken_by_stt = False
        self._label_next_user = False
        self._nudge_next = False
        self._last_side: dict[str, SpeakerTurn] = {}

    def take(self, event: HistoryEvent) -> None:
        """Take the next event of the history; types that no rule names are ignored (R6.5)."""
        if event.source == AUDIT:
            self._audit(event)
        elif event.source == FRAMEWORK:
            if event.event_type in ("tts_text", "llm_response"):
                self._voice(event)
        else:
            self._simulator(event)

    def _audit(self, event: HistoryEvent) -> None:
        match event.event_type:
            case "user" | "assistant":
                text = event.data
                if not isinstance(text, str):
                    # An empty object is what an entry without a value is read as.
                    self._unusable(event, "its value is not text")
                elif event.event_type == "user":
                    self._user_was_heard(text, event.timestamp_ms)
                else:
                    self._assistant_wrote(text, event.timestamp_ms)
            case "turn_fallback":
                self.turns.nudged.add(self._turn)
                self._nudge_next = True
            case "tool_call" | "tool_response":
                self._tool(event)

    def _simulator(self, event: HistoryEvent) -> None:
        match event.event_type:
            case "audio_start" | "audio_end":
                self._audio(event)
            case "user_speech" | "assistant_speech":
                text = inner(event.data, "text")
                if not isinstance(text, str):
                    self._unusable(event, "it has no text")
                elif event.event_type == "user_speech":
                    self._user_speech(text, event.timestamp_ms)
                else:
                    self._assistant_speech(text, event.timestamp_ms)
            case "connection_state" if inner(event.data, "state") == "session_ended":
                self.turns.session_end = event.timestamp_ms / 1000

    def _audio(self, event: HistoryEvent) -> None:
        data = event.data if isinstance(event.data, Mapping) else {}
        name = data.get("user")
        role = ROLES.get(name) if isinstance(name, str) else None
        if role is None:
            self._warnings.add(
                "audio_of_unknown_side", f"{event.event_type} of a side that is neither caller nor agent"
            )
            return
        at = seconds(data.get("audio_timestamp"))
        if at is None:
            self._unusable(event, "it has no audio_timestamp")
        if event.event_type == "audio_end":
            self._audio_ends(role, at)
        elif role == USER:
            self._user_audio_starts(at)
        else:
            self._assistant_audio_starts(at)

    def _unusable(self, event: HistoryEvent, why: str) -> None:
        self._warnings.add(f"{event.source}_event_unusable", f"{event.event_type}: {why}")

    def _advance(self, *, from_audio: bool, ignore_hold: bool) -> None:
        if self._hold and not ignore_hold:
            self._hold = False
            if not from_audio:
                self._agent_spoke = False
                return
        if self._agent_spoke:
            self._turn += 1
            self._agent_spoke = self._user_audio_in_turn = self._tools_in_turn = False

    # What the audit log reports

    def _user_was_heard(self, text: str, at: int) -> None:
        """Take a piece of what the caller said, as the agent's recogniser delivered it (R6.1)."""
        turns = self.turns
        if self._rollback:
            self._agent_spoke, self._rollback, self._rollback_taken_by_stt = True, False, True
        if self._user_open:
            # The caller still talks, so a piece of text opens no turn.
            self._agent_spoke = False
        self._advance(from_audio=False, ignore_hold=self._pipeline == "s2s")
        turn = self._turn
        if self._label_next_user or (turns.transcribed_user.get(turn) and turn in turns.user_interrupted):
            text, self._label_next_user = prefixed(USER_INTERRUPTS, text), False
        if self._pipeline == "cascade":
            turns.trace.append(LoggedEntry("transcribed", turn, at, role="user", content=text))
        interrupted = turn in turns.assistant_interrupted
        append(turns.transcribed_user, turn, text, ASSISTANT_INTERRUPTS if interrupted else None)

    def _assistant_wrote(self, text: str, at: int) -> None:
        """Take the text that the agent's model wrote, spoken or not (R6.2)."""
        if self._pipeline == "s2s":
            return
        turns, turn = self.turns, self._turn
        if turn in turns.assistant_interrupted and not any(
            entry.role == "assistant" and entry.turn_id == turn for entry in self.turns.trace
        ):
            text = prefixed(ASSISTANT_INTERRUPTS, text)
            shown: EntryType = "transcribed" if self._pipeline == "cascade" else "intended"
            annotate(turns.trace, turn, "user", shown, CUT_OFF_BY_ASSISTANT)
        nudge, self._nudge_next = self._nudge_next, False
        turns.trace.append(
            LoggedEntry("intended", turn, at, role="assistant", content=text, needs_check=True, nudge=nudge)
        )

    def _tool(self, event: HistoryEvent) -> None:
        """Take a tool's call or answer (R6.4)."""
        data = event.data
        if not isinstance(data, Mapping) or "tool" not in data:
            self._unusable(event, "it names no tool")
        elif event.event_type == "tool_response":
            self._tools_in_turn = True
            self.turns.trace.append(
                LoggedEntry(
                    "tool_response",
                    self._turn,
                    event.timestamp_ms,
                    tool_name=data["tool"],
                    tool_response=data.get("response"),
                )
            )
        elif "parameters" not in data:
            self._unusable(event, "it has no parameters")
        else:
            self._tools_in_turn = True
            self.turns.trace.append(
                LoggedEntry(
                    "tool_call",
                    self._turn,
                    event.timestamp_ms,
                    tool_name=data["tool"],
                    parameters=data["parameters"],
                )
            )

    # What the framework's log reports

    def _voice(self, event: HistoryEvent) -> None:
        """Take text that was given to the agent's voice (R6.6)."""
        text = event.data.get("frame") if isinstance(event.data, Mapping) else None
        if not isinstance(text, str):
            self._unusable(event, "it has no frame")
            return
        turns, turn = self.turns, self._turn
        self._agent_spoke = True
        if turns.intended_assistant.get(turn):
            if turn in turns.user_interrupted:
                annotate(turns.trace, turn, "assistant", "intended", CUT_OFF_BY_USER)
            elif turn in turns.assistant_interrupted:
                annotate(turns.trace, turn, "assistant", "intended", CUT_ITSELF_OFF)
        elif turn in turns.assistant_interrupted:
            text = prefixed(ASSISTANT_INTERRUPTS, text)
        if turn in turns.user_interrupted:
            between = CUT_OFF_BY_USER
        else:
            between = PAUSE if self._tools_in_turn else CUT_ITSELF_OFF
        append(turns.intended_assistant, turn, text, between)
        turns.pieces[turn].append(text)
        if text == GENERIC_ERROR:
            turns.trace.append(LoggedEntry("intended", turn, role="assistant", content=text))

    # What the simulator's log reports

    def _user_audio_starts(self, at: float | None) -> None:
        """Begin the caller's audio, perhaps in the middle of the agent's (R6.7)."""
        turns = self.turns
        if self._agent_open:
            suffix(turns.intended_assistant, self._turn, CUT_OFF_BY_USER)
            suffix(turns.transcribed_assistant, self._turn, CUT_OFF_BY_USER)
            annotate(turns.trace, self._turn, "assistant", "intended", CUT_OFF_BY_USER)
            self._label_next_user = True
        self._speech_in_session = False
        if self._rollback_taken_by_stt and self._agent_open:
            # That utterance has its turn already.
            self._agent_spoke = False
        elif self._rollback:
            self._agent_spoke, self._rollback = True, False
        self._rollback_taken_by_stt = False
        self._advance(from_audio=True, ignore_hold=False)
        if self._label_next_user:
            turns.user_interrupted.add(self._turn)
        self._user_open = self._user_audio_in_turn = True
        self._user_audio_turn = self._turn
        self._answered = False
        parked, self._parked = self._parked, []
        for text, when in parked:
            self._user_said(text, when)
        self._record_start(USER, at)

    def _assistant_audio_starts(self, at: float | None) -> None:
        """Begin the agent's audio, perhaps in the middle of the caller's (R6.8)."""
        self._agent_open = True
        self._agent_audio_turn = self._turn
        if not self._user_open:
            self._answered = True
            if self._pipeline == "s2s":
                self._agent_spoke = True
        elif self._user_audio_in_turn:
            self.turns.assistant_interrupted.add(self._turn)
            if not self._tools_in_turn:
                self._hold = True
        self._record_start(ASSISTANT, at)

    def _record_start(self, role: str, at: float | None) -> None:
        """Assign the side's audio to this turn until its next start (R6.9)."""
        self._last_side[role] = (role, self._turn)
        if at is not None:
            self.turns.starts[role, self._turn].append(at)

    def _audio_ends(self, role: str, at: float | None) -> None:
        """End a side's audio; a session of the caller in which nothing was said is undone (R6.10)."""
        if at is not None and role in self._last_side:
            self.turns.ends[self._last_side[role]].append(at)
        if role == ASSISTANT:
            self._agent_open = False
            return
        self._user_open = False
        if not self._speech_in_session and self._user_audio_in_turn:
            # The counter goes down even if that session had not moved it up.
            self._turn -= 1
            self._user_audio_in_turn = False
            self._rollback = True

    def _user_speech(self, text: str, at: int) -> None:
        """Take what the simulator was given to say; it may arrive before its audio, and then twice (R6.12)."""
        if not self._user_open and self._answered:
            self._parked.append((text, at))
            self._parked_texts.add(text)
            self._speech_in_session = True
        elif text in self._parked_texts:
            self._parked_texts.remove(text)
        else:
            self._user_said(text, at)

    def _user_said(self, text: str, at: int) -> None:
        """Add the caller's text to the turn of the caller's latest audio (R6.11)."""
        turns, turn = self.turns, self._user_audio_turn
        before = turns.intended_user.get(turn)
        shown = prefixed(USER_INTERRUPTS, text) if not before and self._label_next_user else text
        append(turns.intended_user, turn, shown, CUT_ITSELF_OFF)
        self._speech_in_session = True
        if self._pipeline == "cascade":
            return
        content = shown
        if before and turn in turns.user_interrupted:
            content = prefixed(USER_INTERRUPTS, shown)
        elif self._label_next_user:
            # If the text has the label already, the entry shows it twice.
            content, self._label_next_user = prefixed(USER_INTERRUPTS, shown), False
        turns.trace.append(LoggedEntry("intended", turn, at, role="user", content=content))

    def _assistant_speech(self, text: str, at: int) -> None:
        """Add what the caller's side heard of the agent to the turn of the agent's latest audio (R6.13)."""
        turns, turn = self.turns, self._agent_audio_turn
        if turn == self._turn:
            self._agent_spoke = True
        if not turns.transcribed_assistant.get(turn) and turn in turns.assistant_interrupted:
            text = prefixed(ASSISTANT_INTERRUPTS, text)
        if turn in turns.user_interrupted:
            between = USER_INTERRUPTS
        elif turn in turns.assistant_interrupted:
            between = CUT_ITSELF_OFF
        else:
            between = LIKELY_INTERRUPTION
        append(turns.transcribed_assistant, turn, text, between)
        if self._pipeline == "s2s":
            turns.trace.append(LoggedEntry("transcribed", turn, at, role="assistant", content=text))
