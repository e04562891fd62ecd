"""Runs of EVA on their way into a store: which directories are conversations, and what becomes of each."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.eva_runs import CONFIG, RUN, ask, changed, files, kept, make_run, notes, take, with_metrics
from tests.support.facts import broken_rows, contents
from tests.surface.ingest import NO_DIRECTORY, NOTHING_LEFT, SET_ASIDE, RunInputs, claims, detect, find_inputs
from tests.surface.store import voice_of

CALLS = "SELECT r.name, c.name, c.trial, c.errored FROM conversation c JOIN run r ON r.id = c.run_id ORDER BY c.name"
COMPUTED = (
    "SELECT c.name, x.value FROM aspect_score x JOIN conversation c ON c.id = x.conversation_id"
    " JOIN aspect a ON a.id = x.aspect_id JOIN judge j ON j.id = x.judge_id"
    " WHERE j.name = '(computed)' AND a.name = '{}' ORDER BY c.name"
)
COMPUTED_METRICS = (
    "task_completion", "turn_taking", "response_speed", "tool_call_validity", "stt_wer", "authentication_success",
    "conversation_correctly_finished", "conversation_completed_on_time", "conversation_valid_end",
)  # fmt: skip
CORRECTNESS = COMPUTED.format("correctness")
DONE, FAILED = {"score": 1.0, "normalized_score": 1.0}, {"score": 0.0, "normalized_score": 0.0}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def dataset(path: Path, **given: Any) -> Path:
    database = json.loads(files()["final_scenario_db.json"])
    record = {"id": "1.1.2", "user_config": {"user_persona_id": 3}, "ground_truth": {"expected_scenario_db": database}}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([{**record, **given}]))
    return path


def test_a_run_gives_a_conversation_for_each_record_and_nothing_of_it_is_noise(tmp_path: Path, store: Path) -> None:
    run = make_run(tmp_path, {"1.1.2": files(), "1.2.1": files("1.2.1", 2)})
    (run / "results.csv").write_text("record_id\n")
    (run / "evaluation_summary.json").write_text("{}")
    summary = take(store, run)
    assert [(result.kind, result.status) for result in summary.results] == [("eva", "taken")] * 2
    assert ask(store, CALLS) == [(RUN, "1.1.2", 0, 0), (RUN, "1.2.1", 0, 0)]
    assert notes(store) == []
    assert broken_rows(store) == []


def test_what_a_conversation_says_is_stored(tmp_path: Path, store: Path) -> None:
    take(store, make_run(tmp_path, {"1.1.2": files()}))
    (found,) = ask(
        store,
        'SELECT f.name, a.name, r.label, r."commit", r.branch, c.origin, c.started_at, c.completed, l.name'
        " FROM conversation c JOIN flow f ON f.id = c.flow_id JOIN agent a ON a.id = c.agent_id"
        " JOIN run r ON r.id = c.run_id JOIN label l ON l.id = c.stop_reason_id",
    )
    assert found == (
        "airline", "ear + mind-2 + mouth", "airline_en_made", "dacb181", "main", "derived", 1_780_000_000_500_000, 1,
        "terminal",
    )  # fmt: skip
    states = ask(store, "SELECT s.name, g.name FROM state_score x JOIN state s ON s.id = x.state_id"
                        " JOIN segment g ON g.id = x.segment_id ORDER BY s.name")  # fmt: skip
    assert states == [
        ("closing", "closing"), ("get_reservation", "read"), ("opening", "opening"), ("verify_caller", "auth"),
    ]  # fmt: skip
    document = kept(store)
    voice = voice_of(document)
    assert voice is not None
    assert (voice.ended, len(voice.turns), voice.caller[0].turn) == ("goodbye", 5, 1)
    assert 0 < voice.agent[0].start < voice.agent[0].end < 60
    assert document["turns"][0]["role"] == "agent"
    assert ask(store, COMPUTED.format("turn_count")) == [("1.1.2", 5.0)]
    assert 0 <= ask(store, COMPUTED.format("turn_taking"))[0][1] <= 1


def test_every_metric_without_a_judge_is_an_aspect_of_its_call(shared_data: Path, store: Path) -> None:
    take(store, shared_data / "eva" / "run-real")
    found = {name: ask(store, COMPUTED.format(name)) for name in COMPUTED_METRICS}
    assert {name: rows[0][1] for name, rows in found.items() if rows} == {
        "turn_taking": 0.2696,
        "response_speed": 5.616,
        "tool_call_validity": 1.0,
        "stt_wer": 0.089,
        "conversation_correctly_finished": 1.0,
        "conversation_completed_on_time": 1.0,
        "conversation_valid_end": 1.0,
    }
    voice = voice_of(kept(store))
    assert voice is not None
    assert (voice.turn_taking, set(voice.unmeasured)) == (0.2696, {"task_completion", "authentication_success"})


def test_without_the_simulators_log_what_it_tells_is_no_zero(tmp_path: Path, store: Path) -> None:
    record = {name: content for name, content in files().items() if "user_simulator" not in name}
    assert len(record) == len(files()) - 1
    stored = {"stt_wer": {"score": 0.25, "normalized_score": 0.75}, "response_speed": {"score": 1.5}}
    take(store, make_run(tmp_path, {"1.1.2": record, "1.2.1": with_metrics(record, **stored)}))
    assert ask(store, COMPUTED.format("turn_taking")) == ask(store, COMPUTED.format("conversation_valid_end")) == []
    assert ask(store, COMPUTED.format("stt_wer")) == [("1.2.1", 0.25)], "EVA knew it"
    assert ask(store, COMPUTED.format("response_speed")) == [("1.2.1", 1.5)]
    assert [value for _, value in ask(store, COMPUTED.format("tool_call_validity"))] == [1.0, 1.0]


def test_a_judges_turn_taking_of_old_is_not_the_computed_one(tmp_path: Path, store: Path) -> None:
    old = {"score": 0.1, "normalized_score": 0.55, "details": {"per_turn_judge_timing_ratings": {"1": 0}}}
    take(store, make_run(tmp_path, {"1.1.2": with_metrics(files(), turn_taking=old, conciseness=DONE)}))
    computed = ask(store, COMPUTED.format("turn_taking"))[0][1]
    judged = ask(
        store,
        "SELECT j.name, a.name, x.value FROM aspect_score x JOIN judge j ON j.id = x.judge_id"
        " JOIN aspect a ON a.id = x.aspect_id WHERE j.name != '(computed)' ORDER BY j.name",
    )
    assert judged == [("conciseness", "conciseness", 10.0), ("turn_taking", "turn_taking", 5.5)]
    assert 0 <= computed <= 1


@pytest.mark.parametrize(
    "part", ["", "output", f"output/{RUN}", f"output/{RUN}/records", f"output/{RUN}/records/1.1.2"]
)
def test_any_level_can_be_named(tmp_path: Path, store: Path, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path / "all" / "output", {"1.1.2": files()})
    take(store, tmp_path / "all" / part)
    assert ask(store, CALLS) == [(RUN, "1.1.2", 0, 0)]
    monkeypatch.chdir(tmp_path / "all" / part)
    assert take(store, Path()).count("unchanged") == 1


def test_each_trial_is_a_conversation_and_attempts_that_were_put_aside_are_none(tmp_path: Path, store: Path) -> None:
    run = make_run(
        tmp_path,
        {
            "1.1.2/trial_0": files(),
            "1.1.2/trial_10": files(seed=2),
            "1.1.2/trial_0_failed_attempt_1": files(seed=3),
            "1.2.1": files("1.2.1"),
            "1.2.1_extra_2": files("1.2.1"),
            "1.3.1_attempt_1/trial_0": files("1.3.1"),
        },
    )
    (run / "records" / "1.1.2" / "audit_log.json").write_text("{}")
    summary = take(store, run)
    assert ask(store, CALLS) == [(RUN, "1.1.2/trial_0", 0, 0), (RUN, "1.1.2/trial_10", 10, 0), (RUN, "1.2.1", 0, 0)]
    assert notes(store) == [("defect", SET_ASIDE)] * 3
    assert summary.skipped == 0
    assert find_inputs([run / "records" / "1.2.1_extra_2"]).set_aside == [
        (str(run / "records" / "1.2.1_extra_2"), SET_ASIDE)
    ]


def test_a_directory_of_others_is_walked_however_it_is_called(tmp_path: Path) -> None:
    for name in ("second_attempt_2", "records", "trial_0", "records/1.1.2"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "result.json").write_text('{"score": 3}')
        (folder / "flow-transcripts-a.jsonl").write_text("")
        assert not claims(folder)
    assert len(find_inputs([tmp_path]).files) == 4


def test_names_that_are_hostile_name_nothing_else(tmp_path: Path, store: Path) -> None:
    record = changed(files(), "result.json", record_id="../../x", pipecat_logs_path="../../../etc/framework_logs.jsonl")
    take(store, make_run(tmp_path, {"=cmd|' [/red]": record, "1\n2": files()}))
    assert [row[1] for row in ask(store, CALLS)] == ["1\n2", "=cmd|' [/red]"]
    assert ask(store, "SELECT name FROM scenario ORDER BY name") == [("../../x",), ("1.1.2",)]


def test_packed_files_say_the_same(tmp_path: Path, store: Path) -> None:
    packed = {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in files().items()}
    take(store, make_run(tmp_path / "a", {"1.1.2": files()}))
    plain, before = kept(store), contents(store)["aspect"]
    take(tmp_path / "packed.db", make_run(tmp_path / "b", {"1.1.2": packed}))
    assert kept(tmp_path / "packed.db") == plain
    assert contents(tmp_path / "packed.db")["aspect"] == before
    assert notes(tmp_path / "packed.db") == []


@pytest.mark.parametrize("missing", [*files()])
def test_each_file_may_be_missing_and_the_call_is_stored_with_a_word_on_it(
    tmp_path: Path, store: Path, missing: str
) -> None:
    run = make_run(tmp_path, {"1.1.2": {name: content for name, content in files().items() if name != missing}})
    take(store, run)
    assert ask(store, CALLS) == [(RUN, "1.1.2", 0, int(missing == "result.json"))]
    kind = {"framework_logs.jsonl": "framework_log", "user_simulator_events.jsonl": "simulator_log"}.get(missing)
    (note,) = notes(store)
    assert note[0] == "defect"
    assert note[1].startswith(f"{kind or missing.removesuffix('.json')}_missing: ")
    assert len(kept(store)["turns"]) >= 8


def test_an_unfinished_call_and_one_that_left_nothing_are_stored_and_do_not_count(tmp_path: Path, store: Path) -> None:
    unfinished = {name: content for name, content in files().items() if name != "result.json"}
    run = make_run(tmp_path, {"1.1.2": unfinished, "1.2.1": {}, "1.3.1": {"logs.log": b"Traceback"}})
    take(store, run)
    assert [row[3] for row in ask(store, CALLS)] == [1, 1, 1]
    assert notes(store).count(("defect", NOTHING_LEFT)) == 2
    assert {row[0] for row in ask(store, "SELECT error FROM conversation")} == {
        "result.json is missing or broken, so the conversation was never finished"
    }
    assert ask(store, COMPUTED.format("turn_count"))[0] == ("1.1.2", 5.0)


def test_correctness_is_known_from_a_stored_score_or_not_at_all(tmp_path: Path, store: Path) -> None:
    run = make_run(
        tmp_path,
        {
            "1.1.1": with_metrics(files("1.1.1"), task_completion=DONE),
            "1.1.2": with_metrics(files(), task_completion=FAILED),
            "1.1.3": with_metrics(files("1.1.3"), task_completion={**FAILED, "error": "no database"}),
            "1.1.4": files("1.1.4"),
        },
    )
    take(store, run)
    assert ask(store, CORRECTNESS) == [("1.1.1", 10.0), ("1.1.2", 0.0)]


def test_correctness_is_recomputed_from_the_dataset_and_a_difference_is_told(tmp_path: Path, store: Path) -> None:
    run = make_run(
        tmp_path / "output",
        {"1.1.2": with_metrics(files(), task_completion=FAILED)},
        {**CONFIG, "dataset_path": "data/airline_dataset.json"},
    )
    path = dataset(tmp_path / "data" / "airline_dataset.json")
    summary = take(store, run)
    assert dict(summary.run_inputs) == {str(path): 1}
    assert ask(store, CORRECTNESS) == [("1.1.2", 10.0)]
    assert ask(store, COMPUTED.format("task_completion")) == [("1.1.2", 1.0)]
    assert notes(store) == [("mismatch", "task_completion stored as failed, recomputed as passed")]
    assert ask(store, "SELECT name FROM persona") == [("3",)]

    other = dataset(tmp_path / "other.json", ground_truth={"expected_scenario_db": {"seats": {}}})
    assert take(store, run, run_inputs=RunInputs(str(other))).count("changed") == 1
    assert ask(store, CORRECTNESS) == [("1.1.2", 0.0)]
    voice = voice_of(kept(store))
    assert voice is not None
    assert voice.task.diff["tables_added"] == ["reservations"]


def test_an_agents_file_says_what_its_tools_do_and_steps_are_held_against_the_expected_trace(
    tmp_path: Path, store: Path
) -> None:
    truth = {"expected_trace": [{"tool_name": "verify_caller", "parameters": {}}, {"tool_name": "book_seat"}]}
    path = dataset(tmp_path / "data.json", ground_truth=truth)
    agent = tmp_path / "agent.yaml"
    agent.write_text("tools:\n- {name: verify_caller, tool_type: write}\n")
    take(store, make_run(tmp_path, {"1.1.2": files()}), run_inputs=RunInputs(str(path), str(agent)))
    segments = "SELECT g.name FROM state_score x JOIN segment g ON g.id = x.segment_id ORDER BY g.name"
    assert ("write",) in ask(store, segments)
    steps = "SELECT s.name, x.called, x.matched FROM expected_step x JOIN state s ON s.id = x.state_id ORDER BY s.name"
    assert ask(store, steps) == [("book_seat", 0, None), ("verify_caller", 1, 0)]


def test_a_transfer_that_the_task_does_not_ask_for_is_an_escalation(tmp_path: Path, store: Path) -> None:
    record = {**files(), "audit_log.json": files()["audit_log.json"].replace(b"verify_caller", b"transfer_to_agent")}
    outcomes = "SELECT name, outcome FROM state WHERE outcome IS NOT NULL"
    run = make_run(tmp_path, {"1.1.2": record})
    take(store, run)
    assert ask(store, outcomes) == [("transfer_to_agent", "escalation")]
    asked = dataset(tmp_path / "data.json", ground_truth={"expected_trace": [{"tool_name": "transfer_to_agent"}]})
    take(tmp_path / "asked.db", run, run_inputs=RunInputs(str(asked)))
    assert ask(tmp_path / "asked.db", outcomes) == []


def test_verdicts_stand_by_their_names_and_none_of_them_is_humanness(tmp_path: Path, store: Path) -> None:
    scores = {"faithfulness": {"normalized_score": 0.5}, "conciseness": {"normalized_score": None, "score": None}}
    take(store, make_run(tmp_path, {"1.1.2": with_metrics(files(), **scores)}))
    judged = "SELECT j.name, a.name, s.score FROM judged_score s JOIN judge j ON j.id = s.judge_id"
    assert ask(store, f"{judged} JOIN aspect a ON a.id = s.aspect_id ORDER BY j.name") == [
        ("conciseness", "conciseness", None),
        ("faithfulness", "faithfulness", 5.0),
    ]


def test_unchanged_records_are_not_read_again_and_a_changed_one_is(tmp_path: Path, store: Path) -> None:
    run = make_run(tmp_path, {"1.1.2": files(), "1.2.1": with_metrics(files("1.2.1"), task_completion=FAILED)})
    take(store, run)
    before = store.read_bytes()
    (run / "records" / "1.1.2" / "audio_user.wav").write_bytes(b"RIFF")
    assert take(store, run).count("unchanged") == 2
    assert store.read_bytes() == before

    metrics = with_metrics({}, task_completion=DONE)["metrics.json"]
    (run / "records" / "1.2.1" / "metrics.json").write_bytes(metrics)
    summary = take(store, run)
    assert (summary.count("unchanged"), summary.count("changed")) == (1, 1)
    assert ask(store, CORRECTNESS) == [("1.2.1", 10.0)]

    (run / "config.json").write_text(json.dumps({**CONFIG, "domain": "itsm"}))
    assert take(store, run).count("changed") == 2
    assert ask(store, "SELECT DISTINCT f.name FROM conversation c JOIN flow f ON f.id = c.flow_id") == [("itsm",)]

    fresh = tmp_path / "fresh.db"
    take(fresh, run)
    assert contents(fresh) == contents(store)


def test_the_number_of_processes_and_the_order_of_paths_change_nothing(tmp_path: Path, store: Path) -> None:
    run = make_run(tmp_path, {f"1.{number}.1": files(f"1.{number}.1", number) for number in range(4)})
    records = sorted((run / "records").iterdir())
    take(store, run)
    take(tmp_path / "two.db", *reversed(records), jobs=2)
    assert contents(tmp_path / "two.db") == contents(store)


def test_without_text_no_word_is_kept(tmp_path: Path, store: Path) -> None:
    take(store, make_run(tmp_path, {"1.1.2": files()}), with_text=False)
    assert ask(store, "SELECT count(*) FROM transcript") == [(0,)]
    assert ask(store, COMPUTED.format("turn_count")) == [("1.1.2", 5.0)]


def test_an_old_configuration_names_the_agent_too(tmp_path: Path, store: Path) -> None:
    old = {
        "pipeline": {"stt_model": "ear", "stt_params": {"model": "ear-2"}, "llm_model": "mind", "tts_model": "mouth"}
    }
    take(store, make_run(tmp_path, {"1.1.2": files()}, old, name="mine"))
    assert ask(store, "SELECT name FROM agent") == [("ear-2 + mind + mouth",)]
    assert ask(store, 'SELECT name, label, "commit" FROM run') == [("mine", None, None)]


def test_a_file_taken_for_eva_and_a_directory_taken_for_something_else_are_skipped(tmp_path: Path, store: Path) -> None:
    run = make_run(tmp_path, {"1.1.2": files()})
    take(store, run / "config.json", kind="eva")
    take(store, run, kind="humanness")
    assert notes(store) == [("skipped", "a directory is not an input of this kind"), ("skipped", NO_DIRECTORY)]
    take(store, run, kind="eva")
    assert len(ask(store, CALLS)) == 1
    assert detect(run / "records" / "1.1.2") == ("eva", "it is a directory of eva")


def test_links_in_a_conversation_are_not_followed(tmp_path: Path, store: Path) -> None:
    run = make_run(tmp_path, {"1.1.2": files()})
    log = run / "records" / "1.1.2" / "audit_log.json"
    shutil.move(log, tmp_path / "elsewhere.json")
    log.symlink_to(tmp_path / "elsewhere.json")
    elsewhere = make_run(tmp_path / "elsewhere", {"1.2.1": files("1.2.1")})
    (run / "records" / "1.2.1").symlink_to(elsewhere / "records" / "1.2.1")
    take(store, run)
    assert notes(store) == [
        ("defect", "audit_log_missing: audit_log.json is a link, and links are not followed"),
        ("skipped", "a link below the directory is not followed"),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_record_that_may_not_be_read_is_told(tmp_path: Path, store: Path) -> None:
    run = make_run(tmp_path, {"1.1.2": files()})
    (run / "records" / "1.1.2").chmod(0)
    try:
        take(store, run)
    finally:
        (run / "records" / "1.1.2").chmod(0o700)
    assert notes(store) == [("skipped", "file cannot be read: permission denied")]


def test_the_real_run_is_taken_without_a_word(shared_data: Path, store: Path) -> None:
    take(store, shared_data / "eva" / "run-real")
    assert notes(store) == []
    document = kept(store)
    assert len(document["tool_calls"]) == 5
    voice = voice_of(document)
    assert voice is not None
    assert [turn.turn for turn in voice.turns if turn.agent_interrupted] == [3]
    assert ask(store, COMPUTED.format("turn_count")) == [("1.1.2", 10.0)]
    assert ask(store, CORRECTNESS) == []
    latencies = [event["latency_ms"] for event in document["events"] if event["type"] == "turn_complete"]
    assert latencies.count(None) == 2
