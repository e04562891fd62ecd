"""The gate as a build runs it: simulate, ingest, decide; exit code, words, annotations and files."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from scipy import stats

from tests.support.facts import call, fresh, put
from tests.support.hostile import HOSTILE
from tests.surface.ingest import ingest
from tests.surface.runner import custom_run
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import Writer, encodable, open_store, significance
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]
RUNS: dict[str, tuple[int, dict[str, float]]] = {
    "main": (1, {}),
    "same": (2, {}),
    "worse": (3, {"generic_inquiry": 0.5}),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of 480 calls: one of them as good as the first, one with a regression in one flow."""
    folder = tmp_path_factory.mktemp("gate")
    for name, (seed, weaken) in RUNS.items():
        simulate(folder / "runs", conversations=480, seed=seed, run=custom_run(name, seed, weaken))
    with open_store(folder / "gate.db", write=True, create=True) as opened:
        ingest([folder / "runs"], Writer(opened), with_text=False)
    return folder / "gate.db"


def gate(store: Path, candidate: str, *options: str, baseline: str = "main") -> int:
    return run(["gate", "--store", str(store), "--baseline", baseline, "--candidate", candidate, *options])


def printed(capsys: Captured, store: Path, candidate: str, *options: str) -> Any:
    gate(store, candidate, "--format", "json", *options)
    return json.loads(capsys.readouterr().out)


# the decision


def test_a_regression_of_one_flow_exits_3_and_names_this_flow_only(store: Path, capsys: Captured) -> None:
    assert gate(store, "worse") == ExitCode.GATE_FAILED
    found = capsys.readouterr()
    assert re.fullmatch(r"riff-tui: error: gate failed: generic_inquiry \(.+\); worse against main\n", found.err)
    flows = {row["flow"] for row in printed(capsys, store, "same")["rows"]}
    assert [flow for flow in flows if flow in found.err] == ["generic_inquiry"]
    assert found.err.count("\n") == 1
    failed = [line for line in found.out.splitlines() if line.startswith("! ")]
    assert {line.split()[1] for line in failed} == {"generic_inquiry"}
    assert all("FAILED" in line for line in failed)


def test_a_run_as_good_as_the_other_passes_in_one_line(store: Path, capsys: Captured) -> None:
    assert gate(store, "same") == ExitCode.OK
    found = capsys.readouterr()
    assert found.err == "gate passed: same against main; 31 checks of 8 flows\n"
    assert found.out.startswith("Gate passed: same against main\n")


def test_figures_are_those_that_pandas_and_scipy_find(store: Path, capsys: Captured) -> None:
    every = pd.DataFrame(printed(capsys, store, "worse", "--max-drop", "latency_p95=0.1")["rows"])
    rows = every[every["check"] == "aspect"]
    assert run(["export", "--store", str(store)]) == ExitCode.OK
    scores = pd.read_csv(io.StringIO(capsys.readouterr().out), dtype={"errored": str})
    assert run(["dump", "conversations", "--format", "csv", "--store", str(store)]) == ExitCode.OK
    calls = pd.read_csv(io.StringIO(capsys.readouterr().out))[["run", "conversation", "scenario", "trial"]]
    scores = scores[(scores["errored"] == "false") & (scores["judge"] == "(computed)")].merge(calls)
    task = ["flow", "agent", "persona", "scenario", "trial"]
    tests: dict[tuple[str, str], float] = {}
    for aspect, source in [(name, name) for name in ("completion", "errors", "latency_p95")] + [
        ("success_rate", "correctness")
    ]:
        table = scores[scores["aspect"] == source].pivot_table(index=task, columns="run", values="value").dropna(
            subset=["main", "worse"]
        )  # fmt: skip
        if aspect == "success_rate":
            table = (table == 10).astype(float)
        for flow, pairs in table.groupby("flow"):
            (shown,) = rows[(rows["flow"] == flow) & (rows["aspect"] == aspect)].to_dict("records")
            assert shown["n_baseline"] == shown["n_candidate"] == shown["pairs"] == len(pairs)
            assert shown["baseline"] == pytest.approx(pairs["main"].mean())
            assert shown["candidate"] == pytest.approx(pairs["worse"].mean())
            assert shown["change"] == pytest.approx((pairs["worse"] - pairs["main"]).mean(), abs=1e-9)
            changes = (pairs["worse"] - pairs["main"]).to_numpy()
            if aspect in ("success_rate", "completion"):
                up, down = int((changes > 0).sum()), int((changes < 0).sum())
                p = stats.binomtest(up, up + down).pvalue if up + down else 1.0
            else:
                beyond = 0.1 if aspect == "latency_p95" and changes.mean() > 0.1 else 0.0
                p = significance.paired_means(changes, beyond)
            tests[str(flow), aspect] = p
            assert shown["p"] == pytest.approx(p)
    adjusted = dict(zip(tests, stats.false_discovery_control(list(tests.values())), strict=True))
    assert len(tests) == len(rows) == 32
    for shown in rows.to_dict("records"):
        p = adjusted[shown["flow"], shown["aspect"]]
        assert shown["p_adjusted"] == pytest.approx(p)
        sign = 1 if shown["better"] == "lower" else -1
        worse = sign * shown["change"] > shown["allowed"] and p <= 0.05
        assert (shown["standing"] == "failed") == worse


def test_a_fall_of_quality_shows_in_the_gate_and_in_the_comparison_alike(store: Path, capsys: Captured) -> None:
    assert gate(store, "worse", "--max-drop", "quality=0.5") == ExitCode.GATE_FAILED
    capsys.readouterr()
    checks = {row["flow"]: row for row in printed(capsys, store, "worse", "--max-drop", "quality=0.5")["rows"]
              if row["aspect"] == "quality"}  # fmt: skip
    assert run(["compare", "main", "worse", "--store", str(store), "--format", "json"]) == ExitCode.OK
    compared = json.loads(capsys.readouterr().out)
    rows = {row["flow"]: row for row in compared["rows"] if row["aspect"] == "quality"}
    assert [flow for flow, check in checks.items() if check["standing"] == "failed"] == ["generic_inquiry"]
    assert [flow for flow, row in rows.items() if row["verdict"] == "worse"] == ["generic_inquiry"]
    for flow, row in rows.items():
        assert (row["a"], row["b"]) == (checks[flow]["baseline"], checks[flow]["candidate"])
        # By more than it may, it is tested whether that is surely more.
        assert row["p"] == checks[flow]["p"] or (row["effect"] < -0.5 and row["p"] < checks[flow]["p"])
    newly = [(row["flow"], row["aspect"]) for row in compared["rows"] if row["newly"] == "broken"]
    assert newly == [("generic_inquiry", "success_rate")]
    assert checks["generic_inquiry"]["change"] < -0.5


def test_what_is_allowed_decides(store: Path, capsys: Captured) -> None:
    generous = ("--max-drop", "success_rate=90%", "--max-drop", "completion=9", "--max-drop", "errors=9")
    assert gate(store, "worse", *generous) == ExitCode.OK
    capsys.readouterr()
    rows = printed(capsys, store, "worse", *generous)["rows"]
    assert rows[0]["flow"] == "generic_inquiry"
    assert rows[0]["standing"] == "allowed"
    assert gate(store, "worse", *generous, "--max-drop", "correctness=1") == ExitCode.GATE_FAILED


def test_judges_are_checked_apart(store: Path, capsys: Captured) -> None:
    rows = printed(capsys, store, "worse", "--max-drop", "humanness=0.2")["rows"]
    judged = {row["judge"] for row in rows if row["aspect"] == "humanness"}
    assert judged == {"sim-warm", "sim-strict", "sim-wavering"}
    one = printed(capsys, store, "worse", "--max-drop", "humanness:sim-warm=0.2")["rows"]
    assert {row["judge"] for row in one if row["aspect"] == "humanness"} == {"sim-warm"}


def test_a_filter_narrows_the_calls(store: Path, capsys: Captured) -> None:
    assert gate(store, "worse", "--where", "!flow=generic_inquiry") == ExitCode.OK
    assert gate(store, "worse", "--where", "flow=generic_inquiry") == ExitCode.GATE_FAILED
    assert gate(store, "worse", "--where", "blend>3") == ExitCode.USAGE
    capsys.readouterr()


def test_a_gate_of_too_few_calls_fails_nothing_and_says_so(store: Path, capsys: Captured) -> None:
    assert gate(store, "worse", "--min-n", "1000") == ExitCode.OK
    found = capsys.readouterr()
    assert "none of which could be decided with fewer than 1000 calls on a side" in found.err
    assert "Nothing could be decided: 32 checks" in found.out
    assert gate(store, "worse", "--min-n", "1000", "--strict") == ExitCode.GATE_FAILED


def test_a_flow_that_the_candidate_did_not_call_is_said(tmp_path: Path, capsys: Captured) -> None:
    with fresh(tmp_path / "gone.db") as opened:
        calls = [call(f"a{number}", run="a", flow=flow) for number, flow in enumerate(["x"] * 9 + ["gone"] * 9)]
        calls += [call(f"b{number}", run="b", flow=flow) for number, flow in enumerate(["x"] * 9 + ["new"] * 9)]
        calls.append(call("b99", run="b", flow="gone", errored=True))
        put(opened, "calls.jsonl", calls)
    assert gate(tmp_path / "gone.db", "b", baseline="a") == ExitCode.OK
    out = capsys.readouterr().out
    assert "Not called in b, so it is not checked (--strict fails then): gone (all 1 call of it errored)." in out
    assert "New in b, with nothing to compare it to: new." in out
    assert gate(tmp_path / "gone.db", "b", "--strict", baseline="a") == ExitCode.GATE_FAILED
    assert "gate failed: gone (not called); b against a" in capsys.readouterr().err


# what cannot be decided


@pytest.mark.parametrize(
    ("baseline", "candidate", "reason"),
    [
        ("main", "wors", "--candidate wors: there is no run of that name; a gate takes whole names, worse"),
        ("mai", "worse", "--baseline mai: there is no run of that name"),
        ("main", "nightly", "there is no run nightly"),
        ("main", "main", "both sides are the run main"),
        ("main", "agent:sim-swift", "compare two runs or two agents"),
        ("main", "", "there is no run"),
    ],
)
def test_a_run_that_is_not_there_is_an_error(
    store: Path, capsys: Captured, baseline: str, candidate: str, reason: str
) -> None:
    assert gate(store, candidate, baseline=baseline) == ExitCode.USAGE
    found = capsys.readouterr()
    assert reason in found.err
    assert not found.out


def test_runs_can_be_named_by_their_time(store: Path, capsys: Captured) -> None:
    assert gate(store, "latest", baseline="previous") == ExitCode.GATE_FAILED
    assert "worse against same" in capsys.readouterr().err


def test_nothing_to_compare_is_an_error(store: Path, tmp_path: Path, capsys: Captured) -> None:
    assert gate(store, "worse", "--where", "flow=nothing") == ExitCode.USAGE
    said = "nothing to compare in main and worse: the options leave no call that counts of the run main"
    assert said in capsys.readouterr().err
    with open_store(tmp_path / "none.db", write=True, create=True):
        pass
    assert gate(tmp_path / "none.db", "worse") == ExitCode.USAGE
    assert "the store has no calls" in capsys.readouterr().err
    assert gate(tmp_path / "missing.db", "worse") == ExitCode.STORE
    assert not (tmp_path / "missing.db").exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--max-drop", "speed=1"], "--max-drop speed: no aspect of that name"),
        (["--max-drop", "humanness:codex=1"], "humanness:codex: not measured in any flow that both called"),
        (["--min-n", "0"], "--min-n"),
        (["--json", "--format", "csv"], "--json and --format csv are two formats"),
        (["--github", "--json"], "--json needs -o FILE with --github"),
        (["--github", "--format", "json"], "--format needs -o FILE with --github"),
        (["-o", "gate.dot"], "gate.dot: a gate has no graph"),
    ],
)
def test_options_that_make_no_sense_are_refused(store: Path, capsys: Captured, options: list[str], reason: str) -> None:
    assert gate(store, "worse", *options) == ExitCode.USAGE
    assert reason in capsys.readouterr().err


# reports


def test_github_gets_annotations_and_the_table_in_the_summary(
    store: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary, junit = tmp_path / "summary.md", tmp_path / "gate.xml"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert gate(store, "worse", "--github", "--junit", str(junit)) == ExitCode.GATE_FAILED
    found = capsys.readouterr()
    assert re.fullmatch(r"::error title=riff-tui gate%3A generic_inquiry::.*success_rate.*\n", found.out)
    assert found.err.count("\n") == 1
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n\n# Gate FAILED: worse against main\n")
    assert gate(store, "worse", "--format", "markdown") == ExitCode.GATE_FAILED
    assert capsys.readouterr().out == text.removeprefix("before\n\n")
    (suite,) = ElementTree.parse(junit).getroot()
    failed = [case for case in suite.iter("testcase") if case.find("failure") is not None]
    assert {case.get("classname") for case in failed} == {"generic_inquiry"}
    assert (suite.get("tests"), suite.get("failures")) == ("32", str(len(failed)))


def test_json_tells_because_of_what_with_a_command_that_opens_it(store: Path, capsys: Captured) -> None:
    gate(store, "worse", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found == printed(capsys, store, "worse")
    failed = [row for row in found["rows"] if row["standing"] == "failed"]
    assert [(each["flow"], each["aspect"]) for each in found["because"]] == [
        (row["flow"], row["aspect"]) for row in failed
    ]
    for each, row in zip(found["because"], failed, strict=True):
        assert (each["before"], each["after"], each["interval"]) == (row["baseline"], row["candidate"], row["interval"])
        assert (each["since"], each["agent"]) == ("worse", None)
        words = shlex.split(each["command"])
        assert words[:3] == ["riff-tui", "ui", "conversations"]
        assert words[-2:] == ["--store", str(store)]
        assert run(["dump", *words[2:], "--format", "json"]) == ExitCode.OK
        assert each["n"] == json.loads(capsys.readouterr().out)["matched"] == row["n_candidate"]


def test_what_recovered_is_said_beside_what_got_worse(store: Path, capsys: Captured) -> None:
    assert gate(store, "main", baseline="worse") == ExitCode.OK
    assert "Recovered, as surely as a fall has to be: generic_inquiry" in capsys.readouterr().out
    assert gate(store, "main", "--json", baseline="worse") == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert {each["flow"] for each in found["recovered"]} == {"generic_inquiry"}
    assert found["because"] == []


def test_a_message_is_written_whole_or_added_to_the_summary_of_the_step(
    store: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    message, summary = tmp_path / "message.md", tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for path in (message, summary):
        path.write_text("before\n", encoding="utf-8")
        assert gate(store, "worse", "--summary-md", str(path)) == ExitCode.GATE_FAILED
    text = message.read_text(encoding="utf-8")
    assert text.startswith("Gate FAILED: worse against main; 32 checks of 8 flows\n\n- generic_inquiry ")
    assert "`riff-tui ui conversations --where 'run=worse flow=generic_inquiry" in text
    assert summary.read_text(encoding="utf-8") == f"before\n\n{text}"
    capsys.readouterr()


def test_a_step_without_a_summary_is_told_so(store: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert gate(store, "same", "--github") == ExitCode.OK
    found = capsys.readouterr()
    assert found.out.startswith("::notice title=riff-tui gate::gate passed")
    assert "$GITHUB_STEP_SUMMARY is not set" in found.err


def test_a_report_that_cannot_be_written_never_hides_that_the_gate_failed(
    store: Path, tmp_path: Path, capsys: Captured
) -> None:
    nowhere = str(tmp_path / "none" / "gate.xml")
    assert gate(store, "worse", "--junit", nowhere) == ExitCode.GATE_FAILED
    found = capsys.readouterr().err
    assert "its directory does not exist" in found
    assert "gate failed: generic_inquiry" in found
    assert gate(store, "same", "--junit", nowhere) == ExitCode.USAGE


@pytest.mark.parametrize(
    ("name", "looks"),
    [
        ("a.md", lambda text: text.startswith("# Gate FAILED")),
        ("a.json", lambda text: json.loads(text)["failing"] == ["generic_inquiry"]),
        ("a.jsonl", lambda text: len(text.splitlines()) == 32),
        ("a.csv", lambda text: text.startswith("flow,aspect,judge,check,standing,")),
        ("a.svg", lambda text: text.startswith("<svg")),
        ("a.txt", lambda text: text.startswith("Gate FAILED")),
    ],
)
def test_a_file_is_in_the_form_that_its_name_asks_for(
    store: Path, tmp_path: Path, capsys: Captured, name: str, looks: Callable[[str], bool]
) -> None:
    assert gate(store, "worse", "-o", str(tmp_path / name)) == ExitCode.GATE_FAILED
    assert capsys.readouterr().out == ""
    assert looks((tmp_path / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in HOSTILE.values() if name.strip()] + ["a\n::error::b", "##[error]x"])
def test_no_name_breaks_a_report_or_acts(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    name = encodable(name)
    store, summary, junit = tmp_path / "x.db", tmp_path / "summary.md", tmp_path / "x.xml"
    failed = {"correctness": 0.0, "completion": 0.0, "errors": 0.0}
    with fresh(store) as opened:
        calls = [call(f"a{number}", run=f"a{name}", flow=name) for number in range(30)]
        calls += [call(f"b{number}", run=f"b{name}", flow=name, aspects=failed) for number in range(30)]
        put(opened, "calls.jsonl", calls)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert gate(store, f"b{name}", "--github", "--junit", str(junit), baseline=f"a{name}") == ExitCode.GATE_FAILED
    found = capsys.readouterr()
    assert len(found.out.splitlines()) == len(found.err.splitlines()) == 1
    assert found.out.startswith("::error title=riff-tui gate%3A ")
    assert found.err.startswith("riff-tui: error: gate failed: ")
    assert "##[" not in found.err
    ElementTree.parse(junit)
    text = summary.read_text(encoding="utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text + found.out.replace("\n", "") + found.err.replace("\n", ""))
    assert sum(line.startswith("| ") for line in text.split("\n")) == 4


def test_a_baseline_that_solved_nothing_leaves_nothing_to_fall(tmp_path: Path) -> None:
    lost = {"correctness": 0.0, "completion": 0.0, "errors": 10.0, "latency_p95": 0.5}
    with fresh(tmp_path / "calls.db") as opened:
        for name in ("night-1", "night-2"):
            calls = [call(f"{name}-{task}", run=name, scenario=f"task-{task}", aspects=lost) for task in range(12)]
            put(opened, f"{name}.jsonl", calls)
    assert gate(tmp_path / "calls.db", "night-2", baseline="night-1") == ExitCode.OK
