"""The files of a simulation: their names, their bytes, and that every line is what docs/formats/ says."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.conftest import ROOT
from tests.support.simulated_calls import generate
from tests.surface.ingest import SCHEMA, Conversation
from tests.surface.runner import cast_runs as runs
from tests.surface.runner import flow_names, planted
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import OutputError, UsageError


def digest(folder: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            whole.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return whole.hexdigest()


def lines_of(out: Path, pattern: str) -> list[bytes]:
    return [line for path in sorted(out.rglob(pattern)) for line in path.read_bytes().splitlines()]


def test_there_is_a_folder_for_each_run_and_a_file_for_each_flow_and_judge(tmp_path: Path) -> None:
    summary = simulate(tmp_path, conversations=320)
    judges = ("sim-strict", "sim-warm", "sim-wavering")
    names = [f"flow-transcripts-{flow}.jsonl" for flow in flow_names()] + [
        f"humanness-{judge}.jsonl" for judge in judges
    ]
    assert sorted(summary.files) == sorted(tmp_path / run.id / name for run in runs() for name in names)
    assert sorted(summary.files) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert summary.conversations == 320
    assert list(summary.planted) == planted()


def test_every_line_is_a_transcript_and_all_of_them_are_what_generate_yields(tmp_path: Path) -> None:
    simulate(tmp_path, conversations=320, seed=5)
    lines = lines_of(tmp_path, "flow-transcripts-*.jsonl")
    assert {json.loads(line)["schema"] for line in lines} == {SCHEMA}
    written = {call.conversation_id: call for call in (msgspec.json.decode(line, type=Conversation) for line in lines)}
    assert written == {call.conversation_id: call for call in generate(conversations=320, seed=5)}
    assert all(call.contract is not None for call in written.values())


def test_every_judge_says_something_of_every_call_and_calls_itself_simulated(tmp_path: Path) -> None:
    simulate(tmp_path, conversations=640)
    calls = [msgspec.json.decode(line, type=Conversation) for line in lines_of(tmp_path, "flow-transcripts-*.jsonl")]
    verdicts = [json.loads(line) for line in lines_of(tmp_path, "humanness-*.jsonl")]
    assert len(verdicts) == 3 * len(calls)
    assert {verdict["model"] for verdict in verdicts} == {"simulated"}
    assert len({(verdict["judge"], verdict["prompt_hash"]) for verdict in verdicts}) == 3
    scores = {(v["run_id"], v["conversation_id"], v["judge"]): v["score"] for v in verdicts}
    errored = {(call.run_id, call.conversation_id) for call in calls if call.errored}
    assert all(score is None for (*call, _), score in scores.items() if tuple(call) in errored)
    given = [score for score in scores.values() if score is not None]
    assert 0.9 < len(given) / len(scores) < 1.0
    assert all(0 <= score <= 10 for score in given)
    assert all(verdict["judged_at"] > "2026-06-10T08" for verdict in verdicts)


def test_judges_differ_and_prefer_calls_that_go_well(tmp_path: Path) -> None:
    simulate(tmp_path, conversations=640)
    calls = [msgspec.json.decode(line, type=Conversation) for line in lines_of(tmp_path, "flow-transcripts-*.jsonl")]
    completed = {call.conversation_id for call in calls if call.completed}
    means = {}
    for judge in ("warm", "strict", "wavering"):
        verdicts = [json.loads(line) for line in lines_of(tmp_path, f"humanness-sim-{judge}.jsonl")]
        scored = [verdict for verdict in verdicts if verdict["score"] is not None]
        good = [v["score"] for v in scored if v["conversation_id"] in completed]
        bad = [v["score"] for v in scored if v["conversation_id"] not in completed]
        assert sum(good) / len(good) > sum(bad) / len(bad) + 1
        means[judge] = sum(v["score"] for v in scored) / len(scored)
    assert means["warm"] > means["wavering"] > means["strict"]


def test_the_bytes_are_the_same_in_every_process(tmp_path: Path) -> None:
    simulate(tmp_path / "here", flows=["dog_grooming", "generic_inquiry"], conversations=200, seed=9)
    script = (
        "import sys; from pathlib import Path; from riff_runner.simulate.suite import simulate;"
        "simulate(Path(sys.argv[1]), flows=['generic_inquiry', 'dog_grooming'], conversations=200, seed=9)"
    )
    paths = os.pathsep.join(str(ROOT / part) for part in ("", "store", "ingest"))
    for hash_seed in ("1", "2"):
        there = tmp_path / hash_seed
        surroundings = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths, "TZ": "Asia/Kolkata", "LC_ALL": "C"}
        subprocess.run([sys.executable, "-c", script, str(there)], check=True, env=surroundings)
        assert digest(there) == digest(tmp_path / "here")


def test_a_second_simulation_takes_the_place_of_the_first(tmp_path: Path) -> None:
    simulate(tmp_path, conversations=100, seed=1)
    first = digest(tmp_path)
    simulate(tmp_path, conversations=100, seed=2)
    assert digest(tmp_path) != first
    simulate(tmp_path, conversations=100, seed=1)
    assert digest(tmp_path) == first


def test_few_calls_make_few_files(tmp_path: Path) -> None:
    summary = simulate(tmp_path, flows=["dog_grooming"], conversations=3)
    assert [path.name for path in summary.files] == [
        "flow-transcripts-dog_grooming.jsonl",
        "humanness-sim-warm.jsonl",
        "humanness-sim-strict.jsonl",
        "humanness-sim-wavering.jsonl",
    ]
    assert {weakness.flow for weakness in summary.planted} == {"dog_grooming"}


@pytest.mark.parametrize(("count", "told"), [(250, [100, 200, 250]), (200, [100, 200]), (7, [7])])
def test_progress_is_told_and_ends_with_all(tmp_path: Path, count: int, told: list[int]) -> None:
    steps: list[tuple[int, int]] = []
    simulate(tmp_path, conversations=count, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(done, count) for done in told]


def test_an_unknown_flow_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="dog_walking"):
        simulate(tmp_path / "out", flows=["dog_walking"], conversations=10)
    assert not (tmp_path / "out").exists()


def test_a_run_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    out.mkdir()
    (out / runs()[0].id).symlink_to(elsewhere)
    with pytest.raises(OutputError, match="is a link"):
        simulate(out, conversations=50)
    assert list(elsewhere.iterdir()) == []


def test_an_interrupted_simulation_leaves_no_unfinished_file(tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(tmp_path, conversations=4000, progress=interrupt)
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".part")]
