"""The events, sums and turns of the made voice calls are those that the benchmark's own code gives."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from riff_ingest import read_source
from tests.surface.ingest import (
    SpokenTicks,
    Stretch,
    Tick,
    TurnComplete,
    agent_interruptions,
    interaction_of,
    longest_unanswered,
    read_ticks,
    spoken_ticks,
    turns_of,
    without_stop_signal,
)
from tests.surface.ingest import interaction_events_of as events_of
from tests.surface.store import Interaction, panel

CLOSE = 1e-9


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    sets = json.loads((shared_data / "tau3" / "expected.json").read_text())["sets"]
    found: dict[str, Any] = sets["dev/retail_voice"]
    return found


@pytest.fixture(scope="module")
def recorded(shared_data: Path, expected: dict[str, Any]) -> list[tuple[dict[str, Any], list[Tick]]]:
    return list(_recorded(shared_data / "tau3" / "voice" / "retail_voice" / "simulations", expected))


def _recorded(folder: Path, expected: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[Tick]]]:
    for name, call in expected["calls"].items():
        document = msgspec.json.decode((folder / f"{name}.json").read_bytes(), type=dict[str, msgspec.Raw])
        if call["ticks"]:
            yield call, read_ticks(document["ticks"], Counter())


def spoken(ticks: list[Tick]) -> SpokenTicks:
    return spoken_ticks(without_stop_signal(ticks), 0.2)


def test_stretches_are_those_of_the_benchmark(recorded: list[tuple[dict[str, Any], list[Tick]]]) -> None:
    for call, ticks in recorded:
        heard = spoken(ticks)
        for stretches, key in ((heard.caller, "user_segments"), (heard.agent, "agent_segments")):
            found = [_segment(heard, each, key == "user_segments") for each in stretches]
            assert found == [{name: segment[name] for name in _segment_names(key)} for segment in call[key]]


def test_events_are_those_of_the_benchmark(recorded: list[tuple[dict[str, Any], list[Tick]]]) -> None:
    for call, ticks in recorded:
        heard = spoken(ticks)
        found, wanted = events_of(heard), call["events"]
        assert [(each.name, each.error, each.tick) for each in found] == [
            (each["type"], each["is_error"], each["tick"]) for each in wanted
        ]
        for event, each in zip(found, wanted, strict=True):
            assert event.t == pytest.approx(each["time_s"], abs=CLOSE)
            assert event.latency == pytest.approx(each["latency_s"], abs=CLOSE)
        assert [each.start for each in agent_interruptions(heard)] == [
            each["tick"] for each in call["agent_interruptions"]
        ]


def test_the_panel_of_every_call_and_of_all_is_that_of_the_benchmark(
    expected: dict[str, Any], recorded: list[tuple[dict[str, Any], list[Tick]]]
) -> None:
    together = Interaction()
    for call, ticks in recorded:
        heard = spoken(ticks)
        sums = interaction_of(events_of(heard), len(agent_interruptions(heard)))
        together += sums
        assert _same(panel(sums), call["panel"])
    assert _same(panel(together), expected["panel"])


def test_who_answered_is_as_the_benchmark_counted(recorded: list[tuple[dict[str, Any], list[Tick]]]) -> None:
    for call, ticks in recorded:
        assert longest_unanswered(ticks) == call["responsiveness"]["max_unresponded_user_turns"]


def test_turns_are_as_described(recorded: list[tuple[dict[str, Any], list[Tick]]]) -> None:
    for call, ticks in recorded:
        heard = spoken(ticks)
        turns = turns_of(heard)
        assert [each.number for each in turns] == [each["turn"] for each in call["riff"]["turns"]]
        for turn, wanted in zip(turns, call["riff"]["turns"], strict=True):
            assert turn.latency(heard) == pytest.approx(wanted["latency"], abs=CLOSE)
            assert (turn.agent_interrupted, turn.caller_interrupted) == (
                wanted["agent_interrupted"],
                wanted["caller_interrupted"],
            )
            for stretches, key in ((turn.heard, "caller"), (turn.agent, "agent")):
                times = [[heard.starts(each), heard.ends(each)] for each in stretches]
                assert times == [pytest.approx(each, abs=CLOSE) for each in wanted[key]]
                assert " ".join(each.text for each in stretches) == wanted[f"{key}_said"]


@pytest.mark.parametrize("layout", ["retail_voice", "retail_voice.json"])
def test_both_layouts_give_the_turns_and_lanes_as_described(
    shared_data: Path, expected: dict[str, Any], layout: str
) -> None:
    calls = {call.conversation_id: call for call in read_source(shared_data / "tau3" / "voice" / layout)}
    assert calls.keys() == expected["calls"].keys()
    for name, known in expected["calls"].items():
        call, wanted = calls[name], known["riff"]["turns"]
        assert (call.voice is None) == (known["ticks"] is None)
        if call.voice is None:
            continue
        assert call.duration_s == pytest.approx(known["ticks"] * expected["tick_duration_s"], abs=CLOSE)
        assert _same(panel(call.interaction), known["panel"])
        told = [(turn.agent_interrupted, turn.caller_interrupted) for turn in call.voice.turns]
        assert told == [(each["agent_interrupted"], each["caller_interrupted"]) for each in wanted]
        assert [turn.latency for turn in call.voice.turns] == [_close(each["latency"]) for each in wanted]
        assert [turn.agent_heard or "" for turn in call.voice.turns] == [each["agent_said"] for each in wanted]
        assert [turn.caller_meant for turn in call.voice.turns] == [each["caller_said"] for each in wanted]
        positive = [each["latency"] * 1000 for each in wanted if each["latency"] is not None and each["latency"] >= 0]
        measured = [event.latency_ms for event in call.events if isinstance(event, TurnComplete)]
        assert [each for each in measured if each is not None] == [_close(each) for each in positive]


def _close(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, abs=CLOSE)


def _segment(heard: SpokenTicks, each: Stretch, caller: bool) -> dict[str, Any]:
    found = {
        "start_tick": each.start,
        "end_tick": each.end,
        "start_s": pytest.approx(heard.starts(each), abs=CLOSE),
        "end_s": pytest.approx(heard.ends(each), abs=CLOSE),
        "transcript": each.text,
        "other_speaking_at_start": each.over,
        "other_speaking_at_end": each.followed,
    }
    if caller:
        found |= {
            "action": each.action,
            "is_backchannel": each.backchannel,
            "has_vocal_tic": each.tic,
            "has_non_directed_speech": each.non_directed,
        }
    return found


def _segment_names(key: str) -> list[str]:
    shared = "start_tick end_tick start_s end_s transcript other_speaking_at_start other_speaking_at_end"
    mine = "action is_backchannel has_vocal_tic has_non_directed_speech" if key == "user_segments" else ""
    return [*shared.split(), *mine.split()]


def _same(found: dict[str, Any] | None, wanted: dict[str, Any]) -> bool:
    assert found is not None
    assert found["counts"] == wanted["counts"]
    figures = {key: value for key, value in wanted.items() if key != "counts"}
    return {key: found[key] for key in figures} == {
        key: value if value is None else pytest.approx(value, abs=CLOSE) for key, value in figures.items()
    }
