"""Voice calls as they are kept."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.surface.store import Span, Task, TraceEntry, Voice, VoiceTurn, voice_of

CALL = Voice(
    ended="goodbye",
    caller=[Span(1, 3.0, 5.0)],
    agent=[Span(0, 0.5, 2.0), Span(1, 6.1, 9.0)],
    turns=[VoiceTurn(1, caller_meant="Hi", latency=1.1, score=1.0, reason="latency", evidence={"latency_ms": 1100.0})],
    trace=[TraceEntry("tool_call", 1, 5.5, tool="find_slot", value={"day": "Tuesday"})],
    task=Task(passed=False, diff={"tables_added": ["x"]}),
)


def test_a_call_is_read_as_it_was_kept() -> None:
    document = msgspec.json.decode(msgspec.json.encode({"turns": [], "voice": CALL}))
    assert voice_of(document) == CALL


@pytest.mark.parametrize("document", [None, {}, {"voice": 3}, {"voice": {"caller": [["x"]]}}, {"voice": None}])
def test_what_cannot_be_understood_is_no_voice(document: dict[str, Any] | None) -> None:
    assert voice_of(document) is None
