"""Summaries of judges: what an entry gives, which run it is of, and why one is left out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.strategies import JSON
from tests.support.tau_runs import info, results, simulation
from tests.surface.ingest import TAU_VERDICTS_SOURCE as SOURCE
from tests.surface.ingest import (
    BrokenInput,
    IngestSummary,
    ReadContext,
    detect,
    ingest,
    run_at,
    run_judged,
    score_of,
    tau_verdicts_read,
)
from tests.surface.store import JudgedScore, Skipped, Writer, open_store

ENTRY: dict[str, Any] = {
    "simulation_id": "s-1",
    "judge_verdict": "Satisfied",
    "judge_model": "gpt-9",
    "judge_prompt_name": "policy",
    "judge_justification": "It asked first.",
}


def read(path: Path) -> Iterator[JudgedScore | Skipped]:
    return tau_verdicts_read(path, ReadContext())


def summary(folder: Path, *entries: Any, name: str = "night.summary_policy.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"entries": list(entries)}, indent=1))
    return path


def test_an_entry_becomes_a_verdict_of_the_model_with_its_prompt(tmp_path: Path) -> None:
    unsure = ENTRY | {"judge_verdict": "Unsure", "judge_prompt_name": None}
    assert list(read(summary(tmp_path, ENTRY, unsure))) == [
        JudgedScore("night", "s-1", "gpt-9 policy", 10.0, None, "policy", "It asked first.", model="gpt-9", line=1),
        JudgedScore("night", "s-1", "gpt-9", None, None, "verdict", "Unsure: It asked first.", model="gpt-9", line=2),
    ]


@pytest.mark.parametrize(
    ("word", "score"),
    [
        *((word, 10.0) for word in ("pass", "SATISFIED", " satisfactory ", "Compliant.", "correct")),
        *((word, 0.0) for word in ("FAIL", "failure", "unsatisfied", "Unsatisfactory", "incorrect")),
        *((word, 5.0) for word in ("partially satisfied", "PARTIALLY_SATISFIED", "Partially-Satisfied")),
        *((word, None) for word in ("", "maybe", "not satisfied", "pass fail", "non-compliant")),
    ],
)
def test_words_of_judges_are_scores_and_others_are_unscored(word: str, score: float | None) -> None:
    assert score_of(word) == score


def test_the_run_is_that_of_the_results_beside_it(tmp_path: Path) -> None:
    path = summary(tmp_path, ENTRY)
    before = SOURCE.digest(path)
    assert run_judged(path) == "night"
    content = json.dumps(results([simulation("s-1")]))
    beside = tmp_path / "night.json"
    beside.write_text(content)
    known = run_at(beside)
    assert known is not None
    assert run_judged(path) == known.id
    assert SOURCE.digest(path) != before  # so that it is read again
    beside.unlink()
    (tmp_path / "night.json.gz").write_bytes(gzip.compress(content.encode()))
    assert run_judged(path) == known.id
    (tmp_path / "night.json.gz").unlink()
    (tmp_path / "night").mkdir()
    (tmp_path / "night" / "results.json").write_text(content)
    assert run_judged(path) == known.id


def test_an_entry_that_cannot_be_taken_costs_no_other(tmp_path: Path) -> None:
    nobody = ENTRY | {"judge_model": None, "judge_prompt_name": ""}
    path = summary(tmp_path, "?", {**ENTRY, "simulation_id": None}, nobody, ENTRY | {"judge_verdict": 1.5})
    *left_out, score = read(path)
    assert left_out == [
        Skipped("skipped", 1, "entry 1: simulation_id is missing"),
        Skipped("skipped", 2, "entry 2: simulation_id is missing"),
        Skipped("skipped", 3, "entry 3: it names no judge", "s-1"),
        Skipped("defect", 4, "entry 4: judge_verdict is not text and is left out", "s-1"),
    ]
    assert isinstance(score, JudgedScore)
    assert (score.score, score.line) == (None, 4)


def test_a_summary_is_known_by_what_it_holds(tmp_path: Path) -> None:
    assert detect(summary(tmp_path, ENTRY, name="any.json")).kind == "tau-verdicts"
    assert detect(summary(tmp_path)).kind == "tau-verdicts"
    assert detect(summary(tmp_path, {"title": "news"}, name="feed.json")).kind is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30))
@given(st.dictionaries(st.sampled_from(sorted(ENTRY)), JSON), st.integers(0, 250))
def test_whatever_an_entry_holds_and_wherever_it_is_cut_nothing_is_raised_but_a_reason(
    tmp_path: Path, change: dict[str, Any], cut: int
) -> None:
    path = summary(tmp_path, ENTRY | change, change)
    for end in (None, cut):
        path.write_bytes(path.read_bytes()[:end])
        try:
            found = list(read(path))
        except BrokenInput:
            continue
        assert all(each.score in (None, 0.0, 5.0, 10.0) for each in found if isinstance(each, JudgedScore))


# Join verdicts to calls that stand elsewhere.
QUICK = {"judge_model": "m", "judge_prompt_name": "quick"}


def entry(call: str, verdict: str, file: str | None = None, label: str | None = None) -> dict[str, Any]:
    return {"file": file, "label": label, "simulation_id": call, "judge_verdict": verdict} | QUICK


def night(folder: Path, name: str, *calls: str, seed: int) -> Path:
    """The results of a run, in a folder of its own."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results([simulation(call) for call in calls], info=info(seed=seed))))
    return path


def take(store: Path, *paths: Path) -> IngestSummary:
    with open_store(store, write=True, create=True) as opened:
        return ingest(paths, Writer(opened))


def joined(store: Path) -> dict[str, tuple[str | None, float | None]]:
    """The label of the run that the verdict on each call is joined in, with its score."""
    with open_store(store) as opened:
        rows = opened.execute_sql(
            "SELECT COALESCE(j.conversation_name, c.name), r.label, j.score FROM judged_score j"
            " LEFT JOIN conversation c ON c.id = j.conversation_id LEFT JOIN run r ON r.id = c.run_id"
        )
    return {name: (label, score) for name, label, score in rows}


def test_a_verdict_is_joined_by_the_label_of_the_run_wherever_its_results_are(tmp_path: Path) -> None:
    told = summary(
        tmp_path,
        entry("s1", "pass", "/x/run-a.json", "run-a"),
        entry("s9", "fail", "/x/run-b.json", "run-b"),
    )
    take(tmp_path / "s.db", night(tmp_path / "elsewhere", "run-a.json", "s1", "s2", seed=1), told)
    assert joined(tmp_path / "s.db") == {"s1": ("run-a", 10.0), "s9": (None, 0.0)}


@pytest.mark.parametrize("named", [("run-a", None), (None, "C:\\x\\run-a.json"), (None, "/x/run-a/results.json")])
def test_of_several_runs_with_the_call_the_one_that_is_named_counts(
    tmp_path: Path, named: tuple[str | None, str | None]
) -> None:
    told = summary(tmp_path, entry("s1", "pass", named[1], named[0]))
    runs = [night(tmp_path / name, f"{name}.json", "s1", seed=place) for place, name in enumerate(("run-a", "run-b"))]
    take(tmp_path / "s.db", told, *runs)
    assert joined(tmp_path / "s.db") == {"s1": ("run-a", 10.0)}


def test_of_several_runs_without_a_name_none_counts_and_one_alone_does(tmp_path: Path) -> None:
    told = summary(tmp_path, entry("s1", "pass", "/x/lost.json", "lost"))
    first, second = (night(tmp_path / name, f"{name}.json", "s1", seed=seed) for seed, name in enumerate("ab"))
    take(tmp_path / "s.db", told)
    assert joined(tmp_path / "s.db") == {"s1": (None, 10.0)}  # it waits, also for later ingests
    take(tmp_path / "s.db", first)
    assert joined(tmp_path / "s.db") == {"s1": ("a", 10.0)}
    take(tmp_path / "s.db", second)
    assert joined(tmp_path / "s.db") == {"s1": (None, 10.0)}
    with open_store(tmp_path / "s.db") as opened:
        noted = opened.execute_sql("SELECT reason FROM skipped_input WHERE kind = 'defect'")
    assert list(noted) == [("entry 1: its call is in 2 runs, so its verdict counts for none",)]
    assert take(tmp_path / "s.db", told, first, second).count("unchanged") == 3


def test_raw_answers_of_a_judge_say_where_the_verdicts_are(tmp_path: Path) -> None:
    path = tmp_path / "night_PROMPT.json"
    path.write_text("".join(json.dumps({"simulation_id": f"s{n}", "judge_response": "pass"}) + "\n" for n in range(2)))
    assert (detect(path).kind, detect(path).reason) == (
        None, "raw answers of a judge; the verdicts are in …summary_….json",
    )  # fmt: skip
