"""What a context tells of a record beside its turns: where it lies, how it ended, when sounds began."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from riff_ingest.eva import MetricContext, process_history, read_record
from tests.support.eva_calls import call
from tests.support.eva_events import START
from tests.support.eva_records import SIMULATOR, goodbye, lines, write_record


def test_a_context_names_its_directory_and_how_the_call_ended(shared_data: Path) -> None:
    directory = shared_data / "eva" / "run-real" / "records" / "1.1.2"
    found = read_record(directory)
    assert found.output_dir == str(directory)
    assert found.conversation_finished is True
    assert found.logs == ["audit_log", "pipecat", "user_simulator"]
    told = found.to_dict()
    assert (told["output_dir"], told["conversation_finished"]) == (str(directory), True)


@pytest.mark.parametrize(
    ("log", "finished"),
    [
        (SIMULATOR, True),
        ([*SIMULATOR[:-1], goodbye(6, "timeout")], False),
        ([*SIMULATOR, {"timestamp": 1, "type": "timeout"}], False),
        ([*SIMULATOR, ""], False),
        ([*SIMULATOR, '{"type": "connection_st'], False),
        (None, False),
    ],
)
def test_only_a_goodbye_on_the_last_line_finishes_a_call(tmp_path: Path, log: list[Any] | None, finished: bool) -> None:
    found = read_record(write_record(tmp_path / "r", simulator=log))
    assert found.conversation_finished is finished
    assert ("user_simulator" in (found.logs or ())) == (log is not None)


def test_a_history_ends_as_the_last_event_of_its_simulator_does() -> None:
    def event(source: str, line: dict[str, Any]) -> dict[str, Any]:
        rest = {key: value for key, value in line.items() if key not in ("timestamp", "type")}
        return {"timestamp_ms": line["timestamp"], "source": source, "event_type": line.get("type"), "data": rest}

    ended = event("elevenlabs", goodbye(6))
    late = {"timestamp_ms": ended["timestamp_ms"] + 9, "source": "audit_log", "event_type": "user", "data": "Bye"}
    assert process_history([ended, late]).conversation_finished
    assert not process_history([ended, event("elevenlabs", goodbye(7, "timeout"))]).conversation_finished
    assert not process_history([late]).conversation_finished
    assert (process_history([late]).logs, process_history([]).logs) == (["audit_log"], [])


def test_sounds_are_timed_from_the_start_of_the_call_as_well(tmp_path: Path) -> None:
    found = read_record(write_record(tmp_path / "r"))
    assert found.audio_timestamps_user_turns == {1: [(START + 2, START + 3)]}
    assert found.audio_offsets_user_turns == {1: [(2.0, 3.0)]}
    assert found.audio_offsets_assistant_turns == {0: [(0.2, 1.2)], 1: [(4.0, 5.0)]}
    told = json.loads(json.dumps(found.to_dict()))
    assert told["audio_offsets_assistant_turns"] == {"0": [[0.2, 1.2]], "1": [[4.0, 5.0]]}
    assert MetricContext.from_dict(told) == found


def test_without_a_time_of_the_logs_a_call_starts_with_its_first_sound() -> None:
    found = call({1: [(7.5, 8.0)], 2: None}, {0: [(5.0, 6.25)]})
    assert found.audio_offsets_user_turns == {1: [(2.5, 3.0)], 2: None}
    assert found.audio_offsets_assistant_turns == {0: [(0.0, 1.25)]}
    assert call().audio_offsets_user_turns == {}


def test_a_log_that_is_packed_tells_its_end_too(tmp_path: Path) -> None:
    record = write_record(tmp_path / "r", simulator=None)
    (record / "elevenlabs_events.jsonl.gz").write_bytes(gzip.compress(lines(SIMULATOR).encode()))
    assert read_record(record).conversation_finished
