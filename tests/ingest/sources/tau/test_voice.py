"""Voice calls of tau3-bench: turns, lanes, marks and tools, from ticks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riff_ingest import Conversation, read_source
from tests.support.examples import examples
from tests.support.hostile import HOSTILE
from tests.support.tau_runs import results, tool, write_results, write_run
from tests.support.tau_ticks import info, simulation, ticks
from tests.surface.ingest import TurnComplete
from tests.surface.store import Mark, Voice, panel


def read(path: Path, *simulations: dict[str, Any], **audio: Any) -> list[Conversation]:
    run = write_results(path / "nightly.json", results(list(simulations), info=info(**audio)))
    return list(read_source(run))


def whole(value: float | None) -> float | None:
    """A time without the dust that sums of ticks leave."""
    return None if value is None else round(value, 9)


def voice_of(path: Path, *, info: dict[str, Any] | None = None, **call: Any) -> Voice:
    (found,) = read(path, simulation("v", **call), **(info or {}))
    assert found.voice is not None
    return found.voice


def marks(voice: Voice, kind: str) -> list[Mark]:
    return [mark for mark in voice.marks if mark.kind == kind]


def test_a_call_becomes_turns_lanes_and_sums(tmp_path: Path) -> None:
    (call,) = read(tmp_path, simulation("v", "..ccc......b.....cc..", "......aaaaaaaaaaa....a"))
    assert [(turn.role, whole(turn.t), whole(turn.latency_ms)) for turn in call.turns] == [
        ("caller", 0.4, None),
        ("agent", 1.2, 200.0),
        ("caller", 2.2, None),
        ("caller", 3.4, None),
        ("agent", 4.2, 400.0),
    ]
    assert whole(call.duration_s) == 4.6  # the signal to hang up is of the call, and nobody's speech
    assert call.voice is not None
    assert [(span.turn, whole(span.start), whole(span.end)) for span in call.voice.caller] == [
        (1, 0.4, 1.0),
        (1, 2.2, 2.4),
        (2, 3.4, 3.8),
    ]
    assert [span.turn for span in call.voice.agent] == [1, 2]
    assert (call.voice.pipeline, call.voice.ended) == ("s2s", "user_stop")
    assert sum(isinstance(event, TurnComplete) for event in call.events) == 2
    figures = panel(call.interaction)
    assert figures is not None
    assert (figures["response_rate"], figures["selectivity_backchannel"]) == (1.0, 1.0)


def test_a_greeting_without_a_sound_is_shown_and_neither_drawn_nor_a_turn(tmp_path: Path) -> None:
    call = simulation("v", ".cc....", ".....aa")
    call["ticks"][0]["agent_chunk"] = {"content": "Hi! How can I help?", "contains_speech": False}
    (read_call,) = read(tmp_path, call)
    assert (read_call.turns[0].role, read_call.turns[0].text) == ("agent", "Hi! How can I help?")
    assert read_call.voice is not None
    assert [whole(span.start) for span in read_call.voice.agent] == [1.0]
    assert sum(isinstance(event, TurnComplete) for event in read_call.events) == 1


def test_tools_stand_in_their_tick_behind_what_was_said_and_the_callers_come_first(tmp_path: Path) -> None:
    call = simulation("v", "cc.......", "....aa...")
    call["ticks"][4] |= {
        "agent_tool_calls": [tool("get_order", id="1", order="#1"), tool("cancel_order", id="2")],
        "agent_tool_results": [
            {"role": "tool", "id": "2", "content": "too late", "error": True},
            {"role": "tool", "id": "1", "content": "sent", "error": False},
        ],
        "user_tool_calls": [tool("look_up", by="user", id="3")],
        "user_tool_results": [{"role": "tool", "id": "3", "content": "here"}],
    }
    (read_call,) = read(tmp_path, call)
    called = [(each.name, each.by, whole(each.t), each.result, each.error) for each in read_call.tool_calls]
    assert called == [
        ("look_up", "caller", 0.8, "here", None),
        ("get_order", "agent", 0.8, "sent", None),
        ("cancel_order", "agent", 0.8, None, "too late"),
    ]
    assert read_call.turns[1].state == "opening"
    assert read_call.final_state == "cancel_order"
    assert read_call.voice is not None
    told = [(entry.kind, entry.tool, entry.value) for entry in read_call.voice.trace if entry.tool]
    assert told[-2:] == [("tool_call", "cancel_order", {}), ("tool_response", "cancel_order", {"error": "too late"})]
    assert {entry.turn for entry in read_call.voice.trace} == {1}


def test_a_tool_that_is_called_as_the_caller_hangs_up_is_taken(tmp_path: Path) -> None:
    call = simulation("v", "cc.......", "....aa...")
    call["ticks"][-1]["agent_tool_calls"] = [tool("cancel_order")]
    (read_call,) = read(tmp_path, call)
    assert [each.name for each in read_call.tool_calls] == ["cancel_order"]
    assert len(read_call.turns) == 2


def test_marks_tell_what_the_agent_made_of_each_sound(tmp_path: Path) -> None:
    voice = voice_of(tmp_path, caller="cc.......ccc....bb.........T...", agent="....aaaaaaaa..aaaaaaaaaaaa....a")
    (broke_in,) = marks(voice, "interruption")
    assert (broke_in.by, broke_in.turn, broke_in.correct, whole(broke_in.seconds)) == (
        "caller", 2, True, 0.6,
    )  # fmt: skip
    (listens,) = marks(voice, "backchannel")
    assert (listens.over, listens.correct, listens.lone) == (True, True, False)
    (cough,) = marks(voice, "vocal_tic")
    assert (cough.lone, cough.over, cough.correct, cough.text) == (True, False, False, "[cough]")
    assert [mark.correct for mark in marks(voice, "response")] == [True, True]


def test_who_gave_way_and_whose_audio_was_cut_is_marked(tmp_path: Path) -> None:
    call = simulation("v", "cccc......", "...aaaaa..")
    call["ticks"][4]["user_chunk"]["turn_taking_action"] = {"action": "stop_talking"}
    call["ticks"][7]["agent_chunk"]["raw_data"] = {"was_truncated": True, "vad_events": []}
    (read_call,) = read(tmp_path, call)
    assert read_call.voice is not None
    (gave_way,), (cut,) = marks(read_call.voice, "gave_way"), marks(read_call.voice, "truncated")
    assert (whole(gave_way.start), gave_way.by, whole(cut.end), cut.by) == (
        0.8, "caller", 1.6, "agent",
    )  # fmt: skip
    (broke_in,) = marks(read_call.voice, "interruption")
    assert (broke_in.by, whole(broke_in.seconds)) == ("agent", 0.2)


def test_a_silence_of_both_is_marked_from_four_seconds_on(tmp_path: Path) -> None:
    voice = voice_of(tmp_path, caller="cc" + "." * 19 + "cc" + "." * 20, agent="")
    (silence,) = marks(voice, "silence")
    assert (whole(silence.start), whole(silence.end)) == (4.6, 8.6)


def test_noises_are_those_of_the_timeline_else_of_the_ticks_and_name_no_folders(tmp_path: Path) -> None:
    call = simulation("v", "cccccc", "", speech_environment={
        "telephony_enabled": True, "background_noise_file": "/home/ada@example.org/noise/people.wav",
    }, effect_timeline={"events": [
        {"effect_type": "frame_drop", "start_ms": 400, "duration_ms": 200, "participant": "user"},
        {"effect_type": "frame_drop", "start_ms": 1200, "end_ms": 9e12, "participant": "user"},
        {"effect_type": "frame_drop", "start_ms": 5e6, "participant": "user"},
        {"effect_type": "telephony", "start_ms": 0},
        {"effect_type": "out_of_turn_speech", "start_ms": -1},
        7,
    ]})  # fmt: skip
    for tick, name in zip(call["ticks"], ("horn.wav", "horn.wav", "dog.wav"), strict=False):
        tick["user_chunk"]["source_effects"] = {"burst_noise_file": f"/home/ada@example.org/{name}"}
        tick["user_chunk"]["channel_effects"] = {"frame_drops_enabled": True}
    (read_call,) = read(tmp_path, call)
    voice = read_call.voice
    assert voice is not None
    assert [(mark.start, whole(mark.end), mark.text) for mark in marks(voice, "burst_noise")] == [
        (0.0, 0.4, "horn.wav"),
        (0.4, 0.6, "dog.wav"),
    ]
    assert [(mark.start, whole(mark.end), mark.by) for mark in marks(voice, "frame_drop")] == [
        (0.4, 0.6, "caller"),
        (1.2, 1.4, "caller"),
    ]
    assert not marks(voice, "out_of_turn_speech")
    assert voice.conditions == ["telephony", "background people.wav"]
    assert b"example.org" not in json.dumps([str(mark) for mark in voice.marks]).encode()


def test_an_utterance_with_a_gap_is_one_turn_of_the_transcript_and_two_stretches(tmp_path: Path) -> None:
    call = simulation("v", "cc.cc......", "")
    for tick in call["ticks"][:5]:
        tick["user_chunk"]["utterance_ids"] = ["u1"] if tick["user_chunk"]["contains_speech"] else None
    (read_call,) = read(tmp_path, call)
    assert [turn.text for turn in read_call.turns] == ["cccc"]
    assert read_call.voice is not None
    assert len(read_call.voice.caller) == 2


def test_a_length_of_a_tick_that_nobody_told_is_said_to_be_assumed(tmp_path: Path) -> None:
    call = simulation("v", "..cc", "")
    assert voice_of(tmp_path, caller="..cc", agent="").warnings == []
    (read_call,) = read(tmp_path, call, tick_duration_seconds=0)
    assert read_call.voice is not None
    assert read_call.voice.warnings == ["tick duration assumed: 0.2 s, the run does not contain it"]
    assert read_call.defects == {"tick duration assumed": 1}
    assert whole(read_call.voice.caller[0].start) == 0.4


def test_a_cascade_is_told_from_speech_to_speech(tmp_path: Path) -> None:
    assert voice_of(tmp_path, caller="cc", agent="", info={"provider": "livekit"}).pipeline == "cascade"


def test_both_layouts_give_the_same_call(tmp_path: Path) -> None:
    call = simulation("v", ".ccT..W.b", "....aaaaaa")
    (single,) = read(tmp_path, call)
    (of_folder,) = read_source(write_run(tmp_path / "nightly", [call], info=info()))
    assert (single.voice, single.turns, single.interaction) == (of_folder.voice, of_folder.turns, of_folder.interaction)


@pytest.mark.parametrize("given", [None, [], {}, "x", [None], [{}], [[]], [{"user_chunk": {"contains_speech": 1}}]])
def test_ticks_that_are_none_make_no_call_of_voice_and_break_none(tmp_path: Path, given: Any) -> None:
    found = read(tmp_path, simulation("v", "", "", ticks=given), simulation("w", "cc", ""))
    assert [call.conversation_id for call in found] == ["v", "w"]
    assert found[0].voice is None or (found[0].voice.caller, found[0].voice.agent) == ([], [])


def test_hostile_texts_come_through_as_they_are(tmp_path: Path) -> None:
    call = simulation("v", "c" * len(HOSTILE), "")
    for tick, text in zip(call["ticks"], HOSTILE.values(), strict=False):
        tick["user_chunk"] |= {"content": text, "source_effects": {"speech_insert": {"text": text, "type": text}}}
    (read_call,) = read(tmp_path, call)
    assert len(read_call.turns) == 1
    assert read_call.voice is not None


JSON = st.none() | st.booleans() | st.integers(-3, 3) | st.text("a#", max_size=2) | st.lists(st.integers(), max_size=1)
PLACES = st.sampled_from(["user_chunk", "agent_chunk", "agent_tool_calls", "agent_tool_results", "user_tool_calls"])
PARTS = st.sampled_from(["content", "contains_speech", "utterance_ids", "turn_taking_action", "source_effects"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(20), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), PLACES, PARTS, JSON), max_size=6))
def test_wrong_parts_of_ticks_cost_no_call(tmp_path: Path, wrongs: list[tuple[int, str, str, Any]]) -> None:
    told = ticks("..cc.b...", "....aaaaa")
    for at, place, part, value in wrongs:
        chunk = told[at].get(place)
        if isinstance(chunk, dict):
            chunk[part] = value
        else:
            told[at][place] = [value]
    (call,) = read(tmp_path, simulation("v", "", "", ticks=told))
    assert call.voice is not None
    assert whole(call.duration_s) == whole(len(told) * 0.2)
    spoken = [turn for turn in call.turns if not (turn.role == "agent" and turn.t == 0)]  # but for a greeting
    assert len(call.voice.caller) + len(call.voice.agent) >= len(spoken)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(20), deadline=None)
@given(st.floats(0, 1, exclude_max=True))
def test_a_call_whose_file_was_cut_is_left_out_with_a_reason_and_costs_no_other(tmp_path: Path, share: float) -> None:
    whole_call, cut_call = simulation("a", "cc...", "...aa"), simulation("b", "..cc.T.", "aa....a")
    folder = write_run(tmp_path / "nightly", [whole_call, cut_call], info=info())
    file = folder / "simulations" / "b.json"
    data = file.read_bytes().rstrip()
    file.write_bytes(data[: int(share * len(data))])
    found = read_source(folder)
    assert [call.conversation_id for call in found] == ["a"]
    assert [part.note.reason for part in found.skipped] != []
