"""What the benchmarks rest on: jobs that take turns, goals judged right, and the same load every time."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from benchmarks.grow import grown
from benchmarks.load import JUDGES, Load, nightly_files
from benchmarks.ours import ingest_file
from benchmarks.pages import PERFORMANCE, SCALE, with_part
from benchmarks.processes import take
from benchmarks.ratio import Goal, Ratio, in_turns
from benchmarks.report import markdown, part, parts_of, table, table_row
from benchmarks.scale.measure import Measured
from benchmarks.scale.question import Question, differences
from benchmarks.scale.reads import kinds
from benchmarks.scale.tables import beside_peer, growth
from benchmarks.tau_load import write_results, write_voice_run
from riff_ingest import read_source
from riff_store import ask, open_store
from tests.surface.tui import run


def test_jobs_take_turns_and_their_medians_count() -> None:
    order: list[str] = []
    seconds = {"a": iter([3.0, 1.0, 2.0]), "b": iter([10.0, 30.0, 20.0])}

    def job(name: str) -> float:
        order.append(name)
        return next(seconds[name])

    assert in_turns(lambda: job("a"), lambda: job("b"), rounds=3) == [2.0, 20.0]
    assert order == ["a", "b", "a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("goal", "met", "missed"),
    [(Goal("<=", 1.8), 1.8, 1.81), (Goal(">=", 8), 8.0, 7.9), (Goal("<=", 1 / 50), 0.01, 0.03)],
)
def test_a_goal_is_met_up_to_its_bound(goal: Goal, met: float, missed: float) -> None:
    assert goal.met(met)
    assert not goal.met(missed)


def test_a_missed_goal_stands_out() -> None:
    row = table_row(Ratio("ingest ÷ floor", 3.0, 1.5, "s", Goal("<=", 1.8), "10 calls"))
    assert row == "| ingest ÷ floor (10 calls) | 3.00 s | 1.50 s | 2.00 | ≤ 1.8 | **no** |"


def test_small_ratios_read_as_fractions() -> None:
    row = table_row(Ratio("rollups ÷ join", 0.002, 0.2, "s", Goal("<=", 1 / 50)))
    assert row == "| rollups ÷ join | 2.0 ms | 200.0 ms | 1/100 | ≤ 1/50 | yes |"


def test_the_results_say_what_they_were_measured_on_and_when() -> None:
    parts = {"dump": part(table([Ratio("a ÷ b", 1.0, 2.0, "s")]), "2026-11-20", "conversations: 10")}
    text = markdown(parts, [("cores", "2"), ("SQLite", "3.40.1")])
    assert "- cores: 2\n- SQLite: 3.40.1\n\n## dump\n\nMeasured 2026-11-20; conversations: 10.\n" in text
    assert text.endswith("| a ÷ b | 1.00 s | 2.00 s | 0.50 |  |  |\n")


def test_one_part_is_measured_anew_and_the_others_stay() -> None:
    parts = {name: part(table([Ratio(name, 1.0, 2.0, "s")]), "2026-11-20", "few") for name in ("ingest", "dump")}
    assert parts_of(markdown(parts, [("cores", "2")])) == parts


def test_the_load_is_the_same_for_the_same_seed() -> None:
    assert list(Load(7).lines(20)) == list(islice(Load(7).lines(500), 20))
    assert list(Load(7).lines(20)) != list(Load(8).lines(20))


def test_the_load_looks_like_real_calls() -> None:
    lines = list(Load(1).lines(300))
    assert 6000 < sum(map(len, lines)) / len(lines) < 8000
    calls = [json.loads(line) for line in lines]
    assert {call["stop_reason"] for call in calls} >= {"terminal", "max_turns", "error"}
    assert {call["final_state"] for call in calls} >= {"booked", "escalated", "greet"}
    assert len({call["conversation_id"] for call in calls}) == len(calls)


@pytest.mark.nightly
def test_a_night_plays_every_task_once_with_each_agent_in_each_flow() -> None:
    calls = [json.loads(line) for line in Load(1, night=3).lines(96 * 95)]
    tasks = {(call["flow"], call["agent_model"], call["scenario"], call["persona"]) for call in calls}
    assert len(tasks) == len(calls)
    assert {call["run_id"] for call in calls} == {"nightly-003"}
    assert {call["started_at"][:10] for call in calls} == {"2026-03-05"}


def test_nights_are_files_with_scores_that_are_read_as_those_of_their_calls(tmp_path: Path) -> None:
    nights = nightly_files(tmp_path, 2, 30)
    store = tmp_path / "nights.db"
    ingest_file(nights, store, with_text=True)
    with open_store(store) as opened:
        judged = {row["judge"]: row for row in ask(opened, "judges")}
        counted = sum(row["n"] for row in ask(opened, "runs"))
    assert [path.name for path in sorted(nights.iterdir())] == ["nightly-000", "nightly-001"]
    assert judged.keys() == set(JUDGES)
    assert {row["n"] + row["unscored"] for row in judged.values()} == {counted}


def test_a_store_grows_by_runs_with_all_that_came_with_them(tmp_path: Path) -> None:
    small, large = tmp_path / "small.db", tmp_path / "large.db"
    ingest_file(nightly_files(tmp_path, 1, 96), small, with_text=True)
    grown(small, large, 3)
    assert run(["doctor", "--store", str(large)]) == 0
    with open_store(small) as one, open_store(large) as three:
        (*copies, night), (alone,) = (
            [{key: value for key, value in row.items() if key != "drill"} for row in ask(store, "runs")]
            for store in (three, one)
        )
        assert night == alone
        assert [row["run"] for row in copies] == ["nightly-000-002", "nightly-000-001"]
        assert [row["started_at"][:10] for row in (night, *copies)] == ["2026-03-02", "2026-03-04", "2026-03-03"]
        for view in ("flows", "states", "judges", "failure-matrix"):
            before, after = (sum(row["n"] for row in ask(store, view)) for store in (one, three))
            assert after == 3 * before > 0, view


def test_an_answer_differs_where_a_figure_is_another_or_is_missing_on_one_side() -> None:
    asked = Question("runs", (), ("run",), "", ordered=True)
    ours = {"rows": [{"run": "a", "n": 3, "quality": {"ann": 4.0}}, {"run": "b", "n": 5, "quality": {}}], "matched": 2}
    same = [("a", "n", 3), ("a", "quality.ann", 4.0), ("a", "place", 0), ("b", "n", 5), ("b", "place", 1)]
    assert differences(asked, ours, [*same, (None, "matched", 2)]) == []
    assert differences(asked, ours, [*same, (None, "matched", 3)]) == ["(None, 'matched'): 2.0, not 3.0"]
    assert differences(asked, ours, [*same[:1], *same[2:], ("b", "quality.ann", 1.0)]) == [
        "('a', 'quality.ann'): 4.0, not None",
        "('b', 'quality.ann'): None, not 1.0",
    ]
    assert differences(asked, ours, [*same[:-1], ("b", "place", 0)]) == ["('b', 'place'): 1.0, not 0.0"]


def asked(filter: str = "", **figures: Any) -> Measured:
    question = Question("flows", (), ("flow",), "", filter, "persona=ann" if filter else "")
    found: dict[str, Any] = {
        "ours": 1.0,
        "cpu": 0.9,
        "peak": 50 << 20,
        "peer": 0.8,
        "peer_on_one": 1.6,
        "query": 0.4,
        "reads": "sums",
    }
    return Measured(question, 1_000, **(found | figures))


@pytest.mark.parametrize(
    ("measured", "row"),
    [
        (asked(), "| flows | 1.00 s | 900.0 ms | 50.0 MiB | 800.0 ms | 1.60 s | 400.0 ms | 1.25 | yes |"),
        (asked(ours=2.1), "| flows | 2.10 s | 900.0 ms | 50.0 MiB | 800.0 ms | 1.60 s | 400.0 ms | 2.62 | **no** |"),
        (
            asked(peak=301 << 20),
            "| flows | 1.00 s | 900.0 ms | 301.0 MiB | 800.0 ms | 1.60 s | 400.0 ms | 1.25 | **no** |",
        ),
        (
            asked("persona"),
            "| flows, `persona=ann` (persona) | 1.00 s | 900.0 ms | 50.0 MiB | 800.0 ms | 1.60 s | 400.0 ms | 1.25 |"
            " **no** |",
        ),
        (
            asked("persona", peer=1.0),
            "| flows, `persona=ann` (persona) | 1.00 s | 900.0 ms | 50.0 MiB | 1.00 s | 1.60 s | 400.0 ms | 1.00 |"
            " yes |",
        ),
    ],
)
def test_a_budget_that_is_broken_stands_out_and_so_does_a_filter_that_is_slower_than_the_peer(
    measured: Measured, row: str
) -> None:
    assert beside_peer([measured]).splitlines()[-1] == row


def test_growth_stands_in_a_row_for_each_question() -> None:
    sizes = [[asked(cpu=0.2)], [asked(cpu=0.3, peak=60 << 20, reads="sums, column chunks")]]
    assert growth(sizes).splitlines()[-1] == "| flows | 200.0 ms | 300.0 ms | 60.0 MiB | sums, column chunks |"


@pytest.mark.parametrize(("page", "name"), [(PERFORMANCE, "growth"), (SCALE, "sizes"), (SCALE, "server")])
def test_only_what_the_benchmark_wrote_of_a_page_is_written_anew(page: Path, name: str) -> None:
    text = page.read_text(encoding="utf-8")
    once = with_part(text, name, "| a | table |\n")
    assert "| a | table |\n" in once
    assert with_part(once, name, "another\n") == with_part(text, name, "another\n")
    before, after = text.split(f"<!-- {name}")[0], text.split(f"end of {name} -->")[1]
    assert once.startswith(before)
    assert once.endswith(after)


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([("SCAN", "aspect_rollup"), ("SEARCH", "flow")], ["sums"]),
        ([("SEARCH", "column_chunk"), ("SEARCH", "conversation")], ["column chunks", "some calls"]),
        ([("SCAN", "conversation"), ("SEARCH", "aspect_score"), ("SCAN", "call_rollup")], ["sums", "every call"]),
        ([("SEARCH", "conversation")], ["some calls"]),
    ],
)
def test_what_is_read_is_told_by_the_plans(steps: list[tuple[str, str]], told: list[str]) -> None:
    assert kinds(steps) == told


def test_what_a_process_took_is_its_own() -> None:
    taken = take([sys.executable, "-c", "held = bytearray(200 << 20); print(input())"], "said\n")
    assert taken.output == "said\n"
    assert 200 << 20 < taken.peak < 260 << 20
    assert taken.cpu > 0
    assert taken.seconds > 0


def test_made_results_are_read_as_real_ones_are_and_are_the_same_each_time(tmp_path: Path) -> None:
    made, again = (write_results(tmp_path / name, 200_000) for name in ("results-1.json", "results-2.json"))
    assert made.read_bytes() == again.read_bytes()
    assert 200_000 <= made.stat().st_size < 300_000
    found = read_source(made)
    calls = list(found)
    assert found.skipped == []
    assert {call.origin for call in calls} == {"derived"}
    assert all(call.turns and call.tool_calls and call.expected_steps for call in calls)


def test_made_voice_calls_are_read_with_turns_and_events(tmp_path: Path) -> None:
    calls = list(read_source(write_voice_run(tmp_path / "voice", 2, 300)))
    assert all(call.voice is not None and len(call.voice.turns) == 5 for call in calls)
    assert all(call.interaction is not None and call.interaction.response == 5 for call in calls)
    assert any(call.voice is not None and call.voice.marks for call in calls)
