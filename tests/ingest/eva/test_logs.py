"""The three logs as files: which are read, what is passed over, and what is said of it (R5.1 to R5.4, 12)."""

from __future__ import annotations

import gzip
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from riff_ingest.eva import MetricContext, read_record
from tests.support.eva_events import told
from tests.support.eva_records import (
    AUDIT,
    FRAMEWORK,
    FRAMEWORK_LOG,
    SIMULATOR,
    SIMULATOR_LOG,
    audio,
    goodbye,
    lines,
    ms,
    said,
    speech,
    word,
    write_record,
)
from tests.support.limits import limited
from tests.surface.ingest import HistoryEvent, Warnings, framework_events, simulator_events

CSO = "[speaker likely cut itself off]"
TOLD = [
    ("assistant", 0, "Bakery, good morning."),
    ("user", 1, "Rolls"),
    ("assistant", 1, f"How many rolls would you like? {CSO}"),
]


def kinds(context: MetricContext) -> list[str]:
    return [line.partition(":")[0] for line in context.warnings]


def framework(tmp_path: Path, *records: Any) -> list[tuple[str, str]]:
    """The types and texts that come of the lines of a framework's log."""
    (tmp_path / FRAMEWORK_LOG).write_text(lines(records))
    return [(event.event_type, event.data["frame"]) for event in framework_events(tmp_path, FRAMEWORK_LOG, Warnings())]


def simulator(tmp_path: Path, *records: Any) -> list[HistoryEvent]:
    (tmp_path / SIMULATOR_LOG).write_text(lines(records))
    return simulator_events(tmp_path, None, Warnings())


def test_a_record_is_read_without_a_warning(tmp_path: Path) -> None:
    found = read_record(write_record(tmp_path))
    assert found.warnings == []
    assert told(found) == TOLD
    assert found.latency_assistant_turns == {1: 1.0}


def test_logs_in_gzip_are_the_same(tmp_path: Path) -> None:
    wanted = read_record(write_record(tmp_path)).to_dict()
    for path in list(tmp_path.iterdir()):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert read_record(tmp_path).to_dict() == wanted


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"transcript": {}}', '{"transcript": []}', "null"])
def test_without_an_audit_log_the_other_two_make_a_context(tmp_path: Path, content: str | None) -> None:
    write_record(tmp_path)
    if content is None:
        (tmp_path / "audit_log.json").unlink()
    else:
        (tmp_path / "audit_log.json").write_text(content)
    found = read_record(tmp_path)
    assert kinds(found) == ["audit_log_missing"]
    assert found.intended_user_turns == {1: "Rolls."}
    assert found.intended_assistant_turns[0] == "Bakery, good morning."


def test_entries_without_a_time_or_a_tool_are_left_out_and_counted(tmp_path: Path) -> None:
    bad = [
        {"value": "x", "message_type": "user"},
        {**said(1, "x"), "timestamp": "1.5"},
        "text",
        said(9, {}, "tool_call"),
    ]
    found = read_record(write_record(tmp_path, audit=[*AUDIT, *bad]))
    assert told(found) == TOLD
    assert set(kinds(found)) == {"audit_entry_unusable", "audit_log_event_unusable"}


def test_audit_entries_are_put_in_order(tmp_path: Path) -> None:
    found = read_record(write_record(tmp_path, audit=AUDIT[::-1]))
    assert (told(found), kinds(found)) == (TOLD, ["audit_out_of_order"])


def test_at_one_time_the_audit_log_comes_first_and_the_simulators_last(tmp_path: Path) -> None:
    """R5.4: the text opens the turn before the audio starts, so both are in it."""
    events = [audio(3.1, "audio_start", "simulated_user"), speech(3.1, "user_speech", "Rolls.")]
    found = read_record(write_record(tmp_path, simulator=[*SIMULATOR[:3], *events]))
    assert found.intended_user_turns == {1: "Rolls."}


def test_words_become_one_event_and_turns_split_them(tmp_path: Path) -> None:
    """R5.2 a and e."""
    log = [
        word(1, "Good"), word(1.1, "other lines", "transcript"), word(1.2, "morning."), word(2, "X", "turn_end"),
        word(3, "How"), word(3.1, "many?"),
    ]  # fmt: skip
    assert framework(tmp_path, *log) == [("tts_text", "Good morning."), ("turn_end", "X"), ("tts_text", "How many?")]


def test_an_event_has_the_time_of_its_first_line(tmp_path: Path) -> None:
    (tmp_path / FRAMEWORK_LOG).write_text(lines([word(3, "How"), word(2, "many?"), {"type": "turn_end", "data": {}}]))
    events = framework_events(tmp_path, FRAMEWORK_LOG, Warnings())
    assert [event.timestamp_ms for event in events] == [ms(3), 0]


def test_what_the_model_wrote_stands_in_only_where_the_voice_said_nothing(tmp_path: Path) -> None:
    """R5.2 b: its pieces have blanks of their own."""
    pieces = [word(1, "How m", "llm_response"), word(1.1, "any?", "llm_response")]
    assert framework(tmp_path, *pieces) == [("llm_response", "How many?")]
    assert framework(tmp_path, *pieces, word(2, "Hm.")) == [("tts_text", "Hm.")]


def test_a_sentence_is_a_preview_where_other_words_have_its_time(tmp_path: Path) -> None:
    """R5.2 c: a single word at that time stays."""
    log = [word(1, "How many rolls?"), word(1, "How"), word(2, "many"), word(3, "rolls?")]
    assert framework(tmp_path, *log) == [("tts_text", "How many rolls?")]
    assert framework(tmp_path, word(1, "How many?"), word(1, "What else?")) == []


def test_a_sentence_is_a_preview_where_its_words_follow(tmp_path: Path) -> None:
    """R5.2 d."""
    log = [word(1, "How many?"), word(2, "How"), word(3, "many?")]
    assert framework(tmp_path, *log) == [("tts_text", "How many?")]
    log = [word(1, "How many?"), word(2, "How"), word(2.5, "", "turn_end"), word(3, "many?")]
    assert framework(tmp_path, *log)[0] == ("tts_text", "How many? How")
    assert framework(tmp_path, word(1, "How  many?"), word(2, "How"), word(3, "many?")) == [
        ("tts_text", "How  many? How many?")
    ]


def test_no_framework_log_at_all_leaves_what_was_written_unchecked(tmp_path: Path) -> None:
    found = read_record(write_record(tmp_path, framework=None))
    assert told(found)[0] == TOLD[0]
    assert kinds(found) == ["framework_log_missing"]


def test_a_framework_log_that_was_not_recorded_leaves_nothing_spoken(tmp_path: Path) -> None:
    found = read_record(write_record(tmp_path, result={"pipecat_logs_path": None}))
    assert [role for role, *_ in told(found)] == ["assistant", "user"]
    assert told(found)[0] == ("assistant", 0, "Bakery good morning"), "as the caller's side understood it"
    assert kinds(found) == ["framework_log_not_recorded"]


def test_a_model_that_speaks_itself_has_no_framework_log(tmp_path: Path) -> None:
    found = read_record(write_record(tmp_path, framework=None), pipeline_type="s2s")
    assert found.warnings == []
    assert found.intended_assistant_turns == {0: "", 1: ""}


def test_old_names_of_logs_and_sides_are_known(tmp_path: Path) -> None:
    wanted = read_record(write_record(tmp_path / "new"))
    names = {"simulated_user": "elevenlabs_user", "assistant": "framework_agent"}
    old = [{**line, "user": names[line["user"]]} if "user" in line else line for line in SIMULATOR]
    paths = {
        "pipecat_logs_path": "a\\b\\pipecat_logs.jsonl",
        "user_simulator_logs_path": None,
        "elevenlabs_logs_path": "x/elevenlabs_events.jsonl",
    }
    record = write_record(tmp_path / "old", result=paths, framework=None, simulator=None)
    (record / "elevenlabs_events.jsonl").write_text(lines(old))
    (record / "pipecat_logs.jsonl").write_text(lines(FRAMEWORK))
    assert read_record(record).to_dict() == {**wanted.to_dict(), "output_dir": str(record)}


def test_the_log_that_the_result_names_comes_before_the_usual_ones(tmp_path: Path) -> None:
    record = write_record(tmp_path, result={"user_simulator_logs_path": "x/other.jsonl"})
    (record / "other.jsonl").write_text(lines([*SIMULATOR[:3], goodbye(2)]))
    assert read_record(record).intended_user_turns == {1: ""}
    (record / "other.jsonl").unlink()
    assert read_record(record).intended_user_turns == {1: "Rolls."}


def test_without_a_simulators_log_there_is_no_audio(tmp_path: Path) -> None:
    found = read_record(write_record(tmp_path, simulator=None))
    assert kinds(found) == ["simulator_log_missing"]
    assert found.transcribed_user_turns == {1: "Rolls"}
    assert found.latency_assistant_turns == {}


def outside(path: Path) -> dict[str, str]:
    """What a record's result says that was copied without its logs."""
    return {"pipecat_logs_path": str(path), "user_simulator_logs_path": str(path)}


def test_a_log_is_read_from_where_it_was_made_and_that_is_said(tmp_path: Path) -> None:
    wanted = read_record(write_record(tmp_path / "made"))
    paths = {"pipecat_logs_path": FRAMEWORK_LOG, "user_simulator_logs_path": SIMULATOR_LOG}
    there = {key: str(tmp_path / "made" / name) for key, name in paths.items()}
    found = read_record(write_record(tmp_path / "copied", result=there, framework=None, simulator=None))
    assert told(found) == told(wanted)
    assert kinds(found) == ["framework_log_elsewhere", "simulator_log_elsewhere"]
    assert "outside the record" in found.warnings[0]


@pytest.mark.parametrize("what", ["fifo", "directory", "device", "loop"])
def test_what_is_no_file_where_a_log_should_be_holds_nothing_up(tmp_path: Path, what: str) -> None:
    path = Path("/dev/zero") if what == "device" else tmp_path / what
    if what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    elif what == "loop":
        path.symlink_to(path)
    found = read_record(write_record(tmp_path / "r", result=outside(path), framework=None, simulator=None))
    wanted = ["framework_log_elsewhere", "framework_log_missing", "simulator_log_elsewhere", "simulator_log_missing"]
    assert kinds(found) == wanted
    assert "is not a file" in found.warnings[0]


def test_a_log_without_end_is_left_soon(tmp_path: Path) -> None:
    with (huge := tmp_path / "huge").open("wb") as file:
        file.write(lines(FRAMEWORK).encode())
        file.truncate(1 << 40)
    found = read_record(write_record(tmp_path / "r", result=outside(huge), framework=None, simulator=None))
    assert told(found)[0] == TOLD[0]
    assert "framework_log_broken_line" in kinds(found)


def test_a_log_of_too_many_lines_is_read_as_far_as_it_may_be(tmp_path: Path) -> None:
    written = write_record(tmp_path, simulator=[*SIMULATOR, *[audio(9, "audio_start", "assistant")] * 99])
    with limited(log_lines=len(SIMULATOR)):
        found = read_record(written)
    reason = "log has more than 10 lines (limits.log_lines); the rest was not read"
    assert found.warnings == [f"simulator_log_broken_line: {reason}"]
    assert told(found) == TOLD


@pytest.mark.parametrize("text", ["", "  ", "...", " ...... ", ".", ",", "?", "!", None])
def test_noise_that_was_taken_for_speech_is_dropped(tmp_path: Path, text: str | None) -> None:
    noise = {"timestamp": 5, "type": "user_speech", "data": {"text": text}}
    assert simulator(tmp_path, noise, speech(1, "assistant_speech", "...")) != []
    assert [event.event_type for event in simulator(tmp_path, noise)] == []


def test_a_line_of_the_simulators_log_keeps_all_but_its_time_and_its_type(tmp_path: Path) -> None:
    found = simulator(
        tmp_path,
        {"timestamp": "12", "sequence": 1, "type": "t", "event_type": "e", "user": "pipecat_agent", "data": {}},
        {"timestamp": 13, "event_type": "audio_start", "user": "somebody"},
        {"timestamp": 14},
        {"sequence": 4, "type": "no time"},
    )
    assert [tuple(event) for event in found] == [
        (12, "user_simulator", "t", {"sequence": 1, "user": "assistant", "data": {}}),
        (13, "user_simulator", "audio_start", {"user": "somebody"}),
        (14, "user_simulator", "unknown", {}),
    ]


def test_broken_blank_and_unknown_lines_cost_nothing_else(tmp_path: Path) -> None:
    broken = ["", "{", '"text"', audio(1, "audio_start", "neighbour"), {"timestamp": ms(1), "type": "odd"}]
    record = write_record(tmp_path, simulator=[*SIMULATOR[:2], *broken, *SIMULATOR[2:]])
    (record / FRAMEWORK_LOG).write_text(lines(FRAMEWORK) + '{"type": "tts_te')
    found = read_record(record)
    assert told(found) == TOLD
    assert set(kinds(found)) == {
        "framework_log_broken_line",
        "simulator_log_blank_line",
        "simulator_log_broken_line",
        "audio_of_unknown_side",
    }


def test_lines_that_lack_what_they_are_for_are_counted(tmp_path: Path) -> None:
    odd = [{"timestamp": "soon", "type": "x"}, {**audio(9, "audio_start", "assistant"), "audio_timestamp": None}]
    frameless = {"type": "tts_text", "timestamp": ms(3), "data": {}}
    record = write_record(tmp_path, framework=[*FRAMEWORK, frameless], simulator=[*SIMULATOR[:-1], *odd])
    (record / "final_scenario_db.json").write_text("[1]")
    found = read_record(record)
    assert told(found) == TOLD
    assert set(kinds(found)) == {
        "final_scenario_db_unreadable",
        "framework_log_line_unusable",
        "simulator_log_line_unusable",
        "user_simulator_event_unusable",
    }
    assert found.final_scenario_db is None


def test_doubles_and_disorder_are_told_and_kept(tmp_path: Path) -> None:
    twice = {**SIMULATOR[1], "sequence": 2}
    log = [SIMULATOR[0], twice, twice, *SIMULATOR[2:]]
    found = read_record(
        write_record(
            tmp_path, simulator=[log[-1], *log[:-1]], framework=[*FRAMEWORK, FRAMEWORK[0]], audit=[*AUDIT, AUDIT[0]]
        )
    )
    assert set(kinds(found)) == {
        "audit_duplicate_entry",
        "audit_out_of_order",
        "framework_log_out_of_order",
        "simulator_log_duplicate_line",
        "simulator_log_out_of_order",
    }
    assert found.transcribed_assistant_turns[0] == "Bakery good morning [likely interruption] Bakery good morning"


def test_what_the_result_says_is_in_the_context(tmp_path: Path) -> None:
    (tmp_path / "user.wav").write_bytes(b"")
    record = write_record(
        tmp_path / "r",
        result={
            "num_turns": 3,
            "tools_called": ["bake"],
            "audio_user_path": str(tmp_path / "user.wav"),
            "audio_assistant_path": "gone/agent.wav",
            "final_scenario_db_hash": "abc",
        },
    )
    found = read_record(record)
    assert (found.record_id, found.num_turns, found.tools_called, found.duration_seconds) == ("r1", 3, ["bake"], 6.0)
    assert found.audio_user_path == str(tmp_path / "user.wav")
    assert found.audio_assistant_path == str(record / "agent.wav")
    assert found.audio_mixed_path is None
    assert found.final_scenario_db_hash == "abc"
    assert found.initial_scenario_db_hash == sha256(b'{"orders":{}}').hexdigest()


def test_without_a_result_and_a_framework_log_what_was_written_stands(tmp_path: Path) -> None:
    record = write_record(tmp_path, framework=None)
    (record / "result.json").unlink()
    found = read_record(record)
    assert kinds(found) == ["result_missing", "framework_log_missing"]
    assert ("assistant", 0, "Bakery, good morning.") in told(found)


def test_a_record_of_nothing_has_a_context_and_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "records" / "7.1" / "trial_2").mkdir(parents=True)
    found = read_record(tmp_path / "records" / "7.1" / "trial_2")
    assert found.record_id == "7.1"
    assert "result_missing" in kinds(found)
    assert found.conversation_trace == []
    with pytest.raises(NotADirectoryError):
        read_record(tmp_path / "none")


def test_the_runs_configuration_decides_on_the_pipeline(tmp_path: Path) -> None:
    record = write_record(tmp_path / "records" / "r1")
    (tmp_path / "config.json").write_text(json.dumps({"pipeline": {"realtime_model": "x"}, "language": "fr"}))
    found = read_record(record)
    assert (found.pipeline_type, found.language, kinds(found)) == ("s2s", "fr", ["old_model_key"])
    assert read_record(record, pipeline_type="cascade").pipeline_type == "cascade"
    (tmp_path / "config.json").write_text("{")
    found = read_record(record)
    assert (found.pipeline_type, kinds(found)) == ("cascade", ["config_unreadable"])


def test_lines_that_are_gone_are_told(tmp_path: Path) -> None:
    numbered = [{**line, "sequence": number} for number, line in enumerate(SIMULATOR, 1)]
    whole = read_record(write_record(tmp_path / "whole", simulator=numbered))
    assert kinds(whole) == []
    without = read_record(write_record(tmp_path / "without", simulator=[*numbered[:2], *numbered[4:]]))
    assert without.warnings == ["simulator_log_lines_missing: line number 3 of its count is not there (2 times)"]
    beyond = read_record(write_record(tmp_path / "beyond", simulator=[*numbered, {"sequence": 2**60, "type": "x"}]))
    assert kinds(beyond) == []


def test_texts_and_tool_calls_that_the_result_counts_and_the_log_lacks_are_told(tmp_path: Path) -> None:
    counted = {"num_turns": sum(entry["message_type"] == "user" for entry in AUDIT), "num_tool_calls": 0}
    assert kinds(read_record(write_record(tmp_path / "whole", result=counted))) == []
    found = read_record(write_record(tmp_path / "less", result={**counted, "num_turns": counted["num_turns"] + 2}))
    assert found.warnings == [
        f"audit_entries_missing: result.json counts {counted['num_turns'] + 2} of user, the log has"
        f" {counted['num_turns']}"
    ]
