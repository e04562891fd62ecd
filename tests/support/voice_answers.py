"""A voice call written by hand: a clinic's agent that breaks in, answers late, mishears, and books the wrong day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tests.surface.store import Mark, Span, Task, TraceEntry, Voice, VoiceTurn

SECRET = "Abernathy"

VOICE = Voice(
    pipeline="cascade",
    language="en",
    ended="goodbye",
    caller=[
        Span(1, 3.2, 7.0),
        Span(2, 14.5, 24.0),
        Span(3, 34.1, 37.5),
        Span(4, 52.0, 55.0),
    ],
    agent=[
        Span(0, 0.0, 2.8),
        Span(1, 8.1, 13.9),
        Span(2, 19.0, 22.5),
        Span(2, 25.5, 33.4),
        Span(3, 43.5, 53.0),
        Span(4, 58.2, 60.0),
    ],
    turns=[
        VoiceTurn(0, agent_meant="Good morning, the dental clinic.", agent_heard="Good morning the dental clinic"),
        VoiceTurn(
            1,
            caller_meant="I want to move my appointment.",
            caller_heard="I want to move my appointment",
            agent_meant="Sure. What is your last name?",
            agent_heard="Sure, what is your last name?",
            latency=1.1,
            score=1.0,
            reason="latency",
            evidence={"has_tool_call": False, "latency_ms": 1100.0, "latency_score": 1.0},
        ),
        VoiceTurn(
            2,
            caller_meant=f"It is {SECRET}, spelled A B E R, and Tuesday at nine suits me.",
            caller_heard="It is Aber Nathy, spelled A B E R, and Thursday at nine suits me.",
            agent_meant="[assistant interrupts] Thank you. Thursday at nine, then?",
            agent_heard="[assistant interrupts] Thank you. Thursday at nine, then?",
            latency=-5.0,
            agent_interrupted=True,
            score=0.0,
            reason="agent_interrupt",
            evidence={"has_tool_call": True, "overlap_ms": 3500.0, "overlap_score": 0.0, "note": f"over {SECRET}"},
        ),
        VoiceTurn(
            3,
            caller_meant="Yes, book it.",
            caller_heard="Yes, book it.",
            agent_meant="One moment. [likely cut off by user] It is booked for Thursday.",
            agent_heard="One moment. It is booked for Thursday.",
            latency=6.0,
            score=0.0,
            reason="latency",
            evidence={"has_tool_call": True, "latency_ms": 6000.0, "latency_score": 0.0},
        ),
        VoiceTurn(
            4,
            caller_meant="[user interrupts] Tuesday, I said!",
            caller_heard="[user interrupts] Tuesday I said",
            agent_meant="Goodbye.",
            agent_heard="Good bye.",
            latency=3.2,
            caller_interrupted=True,
            score=0.5,
            reason="user_interrupt",
            evidence={"has_tool_call": False, "yield_ms": 1000.0, "yield_score": 0.5},
        ),
    ],
    trace=[
        TraceEntry("intended", 0, 0.0, "assistant", "Good morning, the dental clinic."),
        TraceEntry("transcribed", 1, 7.1, "user", "I want to move my appointment"),
        TraceEntry("intended", 1, 8.0, "assistant", "Sure. What is your last name?"),
        TraceEntry("transcribed", 2, 18.0, "user", "It is Aber Nathy, spelled A B E R, and Thursday at nine suits me."),
        TraceEntry("tool_call", 2, 18.4, tool="find_slot", value={"day": "Thursday", "name": SECRET}),
        TraceEntry("tool_response", 2, 18.6, tool="find_slot", value={"status": "success", "slots": ["09:00"]}),
        TraceEntry("intended", 2, 18.9, "assistant", "[assistant interrupts] Thank you. Thursday at nine, then?"),
        TraceEntry("transcribed", 3, 37.6, "user", "Yes, book it."),
        TraceEntry("tool_call", 3, 38.0, tool="book", value={"slot": "09:00"}),
        TraceEntry("tool_response", 3, 42.0, tool="book", value={"status": "error", "message": "try again"}),
        TraceEntry("tool_call", 3, 42.2, tool="book", value={"slot": "09:00"}),
        TraceEntry("tool_response", 3, 43.0, tool="book", value={"status": "success"}),
        TraceEntry("intended", 3, 43.2, "assistant", "One moment. [likely cut off by user] It is booked for Thursday."),
        TraceEntry("transcribed", 4, 55.1, "user", "[user interrupts] Tuesday I said"),
        TraceEntry("intended", 4, 58.0, "assistant", "Goodbye."),
    ],
    task=Task(
        passed=False,
        source="computed",
        message="1 table modified",
        diff={
            "tables_added": [],
            "tables_removed": [],
            "tables_modified": {
                "bookings": {
                    "records_added": ["B-2"],
                    "records_removed": ["B-1"],
                    "records_modified": {
                        SECRET: {
                            "fields_added": [],
                            "fields_removed": ["phone"],
                            "fields_modified": {
                                "day": {"type": "value_mismatch", "expected": "Tuesday", "actual": "Thursday"},
                                "reminders": {
                                    "type": "list_differences",
                                    "differences": [
                                        {
                                            "index": 1,
                                            "diff": {"type": "value_mismatch", "expected": "sms", "actual": None},
                                        }
                                    ],
                                },
                            },
                        }
                    },
                }
            },
        },
        mismatches={"member_id": {"expected": "m-7", "actual": None}},
    ),
    turn_taking=0.375,
    unmeasured={"stt_wer": "no turn has both texts of the caller"},
    warnings=["audit_log: 1 line is not JSON"],
)


MARKED = Voice(
    pipeline="s2s",
    ended="user_stop",
    caller=[
        Span(1, 1.0, 4.0),
        Span(1, 7.0, 7.6),
        Span(2, 11.0, 13.0),
        Span(2, 16.0, 18.5),
        Span(3, 26.0, 27.0),
        Span(4, 31.4, 33.0),
        Span(4, 40.0, 41.0),
    ],
    agent=[Span(1, 5.2, 11.6), Span(2, 17.5, 22.0), Span(2, 22.4, 24.0), Span(3, 28.0, 33.4)],
    turns=[
        VoiceTurn(1, caller_meant="I want to return a kettle.", agent_heard="Which order is it from?", latency=1.2),
        VoiceTurn(
            2,
            caller_meant="From W five, I think it was.",
            agent_heard="I have that one here. It was delivered on Mon",
            latency=-1.0,
            agent_interrupted=True,
            caller_interrupted=True,
        ),
        VoiceTurn(3, caller_meant="Yes.", agent_heard="Shall I send the money back to your card?", latency=1.0),
        VoiceTurn(4, caller_meant="Hello?", caller_interrupted=True),
    ],
    trace=[
        TraceEntry("transcribed", 0, 0.0, "assistant", "Hi! How can I help you?"),
        TraceEntry("transcribed", 1, 1.0, "user", "I want to return a kettle."),
        TraceEntry("transcribed", 1, 5.2, "assistant", "Which order is it from?"),
        TraceEntry("transcribed", 1, 7.0, "user", "mm-hmm"),
        TraceEntry("transcribed", 2, 11.0, "user", "From W five,"),
        TraceEntry("transcribed", 2, 16.0, "user", "I think"),
        TraceEntry("transcribed", 2, 17.5, "assistant", "I have that one here. It was delivered on Mon"),
        TraceEntry("transcribed", 3, 26.0, "user", "Yes."),
        TraceEntry("tool_call", 3, 27.4, tool="return_order", value={"order_id": "W5"}),
        TraceEntry("tool_response", 3, 27.6, tool="return_order", value="ok"),
        TraceEntry("transcribed", 3, 28.0, "assistant", "Shall I send the money back to your card?"),
        TraceEntry("transcribed", 4, 31.4, "user", "Anything else?"),
        TraceEntry("transcribed", 4, 40.0, "user", "Hello?"),
    ],
    marks=[
        Mark("vocal_tic", 1.0, 4.0, "caller", 1, correct=False),
        Mark("backchannel", 7.0, 7.6, "caller", 1, over=True, correct=True),
        Mark("interruption", 11.0, 13.0, "caller", 2, over=True, correct=True, seconds=0.6),
        Mark("burst_noise", 14.0, 15.0, "caller", 2, text="car_horn.wav"),
        Mark("interruption", 17.5, 22.0, "agent", 2, over=True, seconds=1.0),
        Mark("gave_way", 18.5, 18.5, "caller", 2),
        Mark("non_directed", 21.0, 21.6, "caller", 2, lone=True, over=True, correct=False, text="Not now."),
        Mark("truncated", 23.8, 24.0, "agent", 2),
        Mark("vocal_tic", 29.0, 29.6, "caller", 3, lone=True, over=True, text=".[cough]"),
        Mark("interruption", 31.4, 33.0, "caller", 4, over=True, correct=False),
        Mark("response", 33.0, 33.0, "agent", 4, correct=False),
        Mark("silence", 33.4, 40.0, None, 4),
    ],
    conditions=["telephony", "indoor", "background people_talking.wav"],
    unanswered=3,
)
"""A call with a record of who spoke when: a cough taken for a turn, noise, an agent that goes dead."""


def document(voice: Voice | Mapping[str, Any] = VOICE) -> dict[str, object]:
    """A kept transcript that has a voice call."""
    return {"turns": [], "events": [], "tool_calls": [], "voice": msgspec.to_builtins(voice)}
