"""Ordinary faults in runs that are otherwise alike: the gate fails where it should, and says why everywhere."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.facts import call, fresh, put, verdict
from tests.surface.store import ConversationFacts, EventColumns, JudgedScore, percentile, spell
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]
GOOD = {"correctness": 10.0, "completion": 10.0, "errors": 10.0}


def calls(side: str, seconds: Sequence[float | None], **given: Any) -> list[ConversationFacts]:
    """A good call for each latency, of a task of its own; one without a latency errored."""
    return [
        call(
            f"{side}-{n}", run=side, scenario=f"task-{n}", line=n, errored=latency is None,
            aspects={} if latency is None else {**GOOD, "latency_p95": latency}, **given,
        )
        for n, latency in enumerate(seconds, 1)
    ]  # fmt: skip


def stored(path: Path, *of: Sequence[ConversationFacts], scores: Sequence[JudgedScore] = ()) -> str:
    with fresh(path / "planted.db") as opened:
        for number, each in enumerate(of):
            put(opened, f"{number}.jsonl", list(each))
        put(opened, "scores.jsonl", list(scores))
    return str(path / "planted.db")


def gated(store: str, *options: str) -> int:
    return run(["gate", "--store", store, "--baseline", "a", "--candidate", "b", *options])


def steady(seed: int, n: int = 80) -> list[float]:
    chance = random.Random(seed)
    return [chance.uniform(1.0, 2.0) for _ in range(n)]


@pytest.mark.parametrize(
    ("slower", "fails"),
    [
        ([3.0, 0.0] * 40, True),
        ([0.2] * 80, False),
        ([3.0, *[0.0] * 9] * 8, False),
        ([2.4, 0.0, 0.0, 0.0] * 20, False),
        ([-1.0] * 80, False),
    ],
    ids=["every second call", "all by a little", "every tenth call", "perhaps by more than allowed", "all faster"],
)
def test_a_latency_fails_where_its_interval_lies_beyond_what_is_allowed(
    slower: list[float], fails: bool, tmp_path: Path, capsys: Captured
) -> None:
    before, noise = steady(1), random.Random(2)
    after = [one + more + noise.gauss(0, 0.05) for one, more in zip(before, slower, strict=True)]
    store = stored(tmp_path, calls("a", before), calls("b", after))
    assert gated(store, "--max-drop", "latency_p95=0.5") == (ExitCode.GATE_FAILED if fails else ExitCode.OK)
    capsys.readouterr()
    gated(store, "--max-drop", "latency_p95=0.5", "--json")
    rows = json.loads(capsys.readouterr().out)["rows"]
    (row,) = [row for row in rows if row["aspect"] == "latency_p95"]
    assert (row["standing"] == "failed") == (row["interval"][0] > 0.5) == fails
    assert row["change"] == pytest.approx(sum(slower) / 80, abs=0.02)


def spoken(side: str, turns: Sequence[Sequence[float]]) -> list[ConversationFacts]:
    """A good call for each list of latencies of turns, in seconds, with its transcript."""
    found = calls(side, [max(each) for each in turns])
    for facts, each in zip(found, turns, strict=True):
        said = ((), (), [seconds * 1000 for seconds in each], (), ())
        facts.transcript = spell([], EventColumns("t" * len(each), [None] * len(each), said), {})
    return found


def turns(seed: int, slow: float) -> list[list[float]]:
    """Eight turns for each of eighty calls, of which a share of the last ones takes eight seconds."""
    chance = random.Random(seed)
    return [[*(chance.uniform(0.5, 2.0) for _ in range(7)), 8.0 if chance.random() < slow else 1.0] for _ in range(80)]


@pytest.mark.parametrize(("slow", "fails"), [(0.9, True), (0.1, False), (0.0, False)])
def test_a_tail_of_all_turns_fails_where_its_interval_lies_beyond_what_is_allowed(
    slow: float, fails: bool, tmp_path: Path, capsys: Captured
) -> None:
    store = stored(tmp_path, spoken("a", turns(1, 0.0)), spoken("b", turns(2, slow)))
    assert gated(store, "--max-drop", "latency_tail=0.5") == (ExitCode.GATE_FAILED if fails else ExitCode.OK)
    capsys.readouterr()
    gated(store, "--max-drop", "latency_tail=0.5", "--json")
    found = json.loads(capsys.readouterr().out)
    (row,) = [row for row in found["rows"] if row["aspect"] == "latency_tail"]
    every = sorted(second for each in turns(2, slow) for second in each)
    assert row["candidate"] == pytest.approx(percentile(every, 0.95), abs=1e-6)
    assert (row["standing"] == "failed") == (row["interval"][0] > 0.5) == fails
    if fails:
        (because,) = found["because"]
        assert "--sort -latency_p95" in because["command"]


def test_a_tail_without_transcripts_is_not_measured(tmp_path: Path, capsys: Captured) -> None:
    store = stored(tmp_path, calls("a", [1.5] * 40), calls("b", [8.0] * 40))
    assert gated(store, "--max-drop", "latency_tail=0.5") == ExitCode.USAGE
    assert "latency_tail: not measured in any flow" in capsys.readouterr().err


def test_calls_that_errored_fail_a_gate_that_is_not_strict_and_are_counted_everywhere(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = [None if n < 30 else 1.5 for n in range(80)]
    store = stored(tmp_path, calls("a", [1.5] * 80), calls("b", after))
    summary, message, junit = tmp_path / "step.md", tmp_path / "message.md", tmp_path / "gate.xml"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert gated(store, "--github", "--junit", str(junit), "--summary-md", str(message)) == ExitCode.GATE_FAILED
    said = capsys.readouterr()
    moved = "errored 0 of 80 → 30 of 80"
    assert f"::error title=riff-tui gate%3A viewing::{moved} (+37.5 pp, allowed 5 pp; n 80 and 80;" in said.out
    assert f"viewing ({moved})" in said.err
    assert "| FAILED" in summary.read_text(encoding="utf-8")
    assert "30 of 80" in summary.read_text(encoding="utf-8")
    assert moved in message.read_text(encoding="utf-8")
    (failure,) = ElementTree.parse(junit).iter("failure")
    assert moved in failure.get("message", "")
    assert gated(store, "--json") == ExitCode.GATE_FAILED
    (because,) = json.loads(capsys.readouterr().out)["because"]
    assert (because["aspect"], because["check"], because["before"], because["after"], because["n"]) == (
        "errored", "errored", 0.0, 0.375, 30,
    )  # fmt: skip
    assert "errored=true" in because["command"]
    assert (because["argv"][:3], because["open"][:3]) == (
        ["riff-tui", "dump", "conversations"],
        ["riff-tui", "ui", "conversations"],
    )
    assert run(because["argv"][1:]) == ExitCode.OK
    assert len(json.loads(capsys.readouterr().out)["rows"]) == because["n"]
    assert gated(store, "--max-errored", "40%") == ExitCode.OK
    assert gated(store, "--max-errored", "nothing") == ExitCode.USAGE


def test_kept_calls_that_a_mended_agent_takes_another_way_are_in_no_check_if_that_is_said(
    tmp_path: Path, capsys: Captured
) -> None:
    before = calls("a", [1.5] * 80)
    frozen, others = calls("b", [None] * 30, stop_reason="diverged"), calls("b", [None] * 30 + [1.5] * 50)[30:]
    store = stored(tmp_path, before, [*frozen, *others])
    assert gated(store) == gated(store, "--diverged", "fail") == ExitCode.GATE_FAILED
    assert "errored 0 of 80 → 30 of 80" in capsys.readouterr().err
    assert gated(store, "--diverged", "ok") == ExitCode.OK
    assert "errored" not in capsys.readouterr().err
    (tmp_path / "other").mkdir()
    broken = stored(tmp_path / "other", before, [*frozen, *calls("b", [None] * 80)[30:]])
    assert gated(broken, "--diverged", "ok") == ExitCode.GATE_FAILED
    assert "errored 0 of 80 → 50 of 50" in capsys.readouterr().err


def test_a_candidate_of_which_no_call_is_left_fails(tmp_path: Path, capsys: Captured) -> None:
    store = stored(tmp_path, calls("a", [1.5] * 40), calls("b", [None] * 40))
    assert gated(store) == ExitCode.GATE_FAILED
    assert gated(store, "--where", "flow=viewing") == ExitCode.GATE_FAILED
    assert "errored 0 of 40 → 40 of 40" in capsys.readouterr().err


def test_a_few_calls_that_errored_by_chance_pass(tmp_path: Path, capsys: Captured) -> None:
    few = [None if n < 3 else 1.5 for n in range(80)]
    assert gated(stored(tmp_path, calls("a", [1.5] * 80), calls("b", few))) == ExitCode.OK
    assert re.search(r"errored +noise +0 of 80 +3 of 80", capsys.readouterr().out)


def test_what_was_measured_of_fewer_calls_fails(tmp_path: Path, capsys: Captured) -> None:
    after = calls("b", [1.5] * 6)
    after += [call(f"b-{n}", run="b", scenario=f"task-{n}", line=n, aspects={"latency_p95": 1.5}) for n in range(7, 41)]
    store = stored(tmp_path, calls("a", [1.5] * 40), after)
    assert gated(store) == ExitCode.GATE_FAILED
    said = capsys.readouterr()
    assert "success_rate not measured of 34 of 40" in said.err
    assert gated(store, "--json") == ExitCode.GATE_FAILED
    because = {each["aspect"]: each for each in json.loads(capsys.readouterr().out)["because"]}
    assert because.keys() == {"success_rate", "completion", "errors"}
    assert (because["success_rate"]["check"], because["success_rate"]["n"]) == ("measured", 34)
    assert "success=none" in because["success_rate"]["command"]


def test_a_judge_who_scored_fewer_calls_fails_where_he_is_asked_for(tmp_path: Path, capsys: Captured) -> None:
    scores = [verdict(f"a-{n}", 7.0, run="a", line=n) for n in range(1, 41)]
    scores += [verdict(f"b-{n}", 7.0, run="b", line=n + 40) for n in range(1, 7)]
    store = stored(tmp_path, calls("a", [1.5] * 40), calls("b", [1.5] * 40), scores=scores)
    assert gated(store) == ExitCode.OK
    assert gated(store, "--max-drop", "humanness:codex=1") == ExitCode.GATE_FAILED
    assert "humanness:codex not measured of 34 of 40" in capsys.readouterr().err


def test_a_gate_says_which_fall_it_could_not_have_seen(tmp_path: Path, capsys: Captured) -> None:
    store = stored(tmp_path, calls("a", steady(1)), calls("b", steady(3)))
    assert gated(store) == ExitCode.OK
    said = capsys.readouterr().out
    assert "A fall of success_rate of less than 12 points with 80 pairs could not be distinguished from chance" in said


def test_two_dumps_of_the_same_store_are_the_same(tmp_path: Path, capsys: Captured) -> None:
    store = stored(tmp_path, calls("a", steady(1, 60)), calls("b", steady(3, 45), agent="another"))
    found = []
    for _ in range(2):
        gated(store, "--max-drop", "latency_p95=0.1", "--json")
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]
