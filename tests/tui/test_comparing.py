"""Two runs compared as one asks for it: the table, the calls behind it, in every form, and with hostile names."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import two_runs
from tests.support.facts import call, fresh, put
from tests.support.golden import assert_golden, printed
from tests.support.hostile import HOSTILE, LIVE
from tests.surface.store import Store, open_store
from tests.surface.tui import FORMATS, ExitCode, Request, Table, dump_command, run, show

Captured = pytest.CaptureFixture[str]
SIDES = ("night-1", "night-2")


@pytest.fixture(scope="session")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_runs.build(tmp_path_factory.mktemp("two") / "two.db")


@pytest.fixture
def store(location: Path) -> Iterator[Store]:
    with open_store(location) as opened:
        yield opened


def compared(store: Store, where: str = "", view: str = "compare") -> Table:
    return show(store, view, Request(where=where, sides=SIDES))


@pytest.mark.parametrize("view", ["compare", "failures"])
@pytest.mark.parametrize(("format", "suffix"), [("markdown", "md"), ("text", "txt")])
def test_a_comparison_reads_as_it_did(store: Store, view: str, format: str, suffix: str) -> None:
    assert_golden(printed(compared(store, view=view), format), f"dumps/{view}.{suffix}")


def test_what_is_planted_is_found_and_nothing_else(store: Store) -> None:
    found = [(row.record["flow"], row.record["aspect"], row.record["verdict"]) for row in compared(store).rows]
    assert [row for row in found if row[2] != "noise"] == [
        ("dental", "success_rate", "worse"),
        ("dental", "completion", "worse"),
        ("dental", "correctness", "worse"),
        ("dental", "quality", "worse"),
        ("weather", "latency_p95", "better"),
        ("weather", "quality", "better"),
    ]


def test_the_record_of_a_row_has_everything_unrounded(store: Store) -> None:
    document = json.loads(printed(compared(store), "json"))
    row = document["rows"][0]
    assert {key: row[key] for key in ("flow", "aspect", "judge", "verdict", "test", "unit", "better")} == {
        "flow": "dental", "aspect": "success_rate", "judge": None, "verdict": "worse",
        "test": "McNemar", "unit": "share", "better": "higher",
    }  # fmt: skip
    # Of 19 pairs (one call was errored) B alone failed tasks 2 to 12, A alone task 14, both task 13.
    assert (row["pairs"], row["only_a"], row["only_b"], row["both"], row["neither"]) == (19, 1, 11, 1, 6)
    assert row["p"] == pytest.approx(2 * (1 + 12) / 2**12)
    assert row["p_adjusted"] == pytest.approx(row["p"] * document["tested"] / 6)
    assert row["effect"] == pytest.approx(-10 / 19)
    assert row["low"] < row["effect"] < row["high"]
    assert (row["alone_a"], row["alone_b"]) == (2, 1)
    solved = {"more": "A", "a": 37, "b": 27, "n_a": 39, "n_b": 39}
    assert {key: document["solved"][key] for key in solved} == solved
    assert document["a"] == {"kind": "run", "name": "night-1", "n": 44, "excluded": 0}
    assert document["b"] == {"kind": "run", "name": "night-2", "n": 40, "excluded": 1}
    assert (document["only_in_a"], document["only_in_b"]) == ({"gone": 3}, {})
    assert document["flows"][0] == {
        "flow": "dental", "n_a": 21, "n_b": 20, "excluded_a": 0, "excluded_b": 1, "pairs": 19,
    }  # fmt: skip
    assert {column["key"]: column["better"] for column in document["columns"]}["effect"] is None


def test_a_filter_on_rows_leaves_the_correction_as_it_is(store: Store) -> None:
    every = {row.id: row.record["p_adjusted"] for row in compared(store).rows}
    for where in ("flow=dental", "flow:dent verdict=worse", "aspect=errors", "p<0.5", "dental"):
        table = compared(store, where)
        assert table.rows
        assert {row.id: row.record["p_adjusted"] for row in table.rows}.items() <= every.items()
        assert table.counts.hidden == len(every) - len(table.rows)
    both = compared(store, "flow=dental scenario:task")
    assert {row.record["flow"] for row in both.rows} == {"dental"}
    assert both.extras["tested"] == 15


def test_sides_are_counted_in_the_scope_that_is_named(store: Store) -> None:
    """The rows, the counts above them and the title are of one scope, in whatever form they are read."""
    table = compared(store, "flow=dental scenario:task verdict=worse")
    assert table.title == (
        "Compare: B night-2 against A night-1 where scenario:task flow=dental (newly failing and passing first)"
    )
    assert (table.extras["a"]["n"], table.extras["b"]["n"], table.extras["b"]["excluded"]) == (20, 19, 1)
    assert [flow["flow"] for flow in table.extras["flows"]] == ["dental"]
    assert table.extras["only_in_a"] == {}
    notes = list(table.notes)
    assert notes[:2] == ["Newly failing: dental. Newly passing: nothing.", "B is, in 8 rows: 4 worse, 4 noise."]
    assert any(note.startswith("A: run night-1, 20 calls; B: run night-2, 19 calls and 1 errored") for note in notes)
    assert any(": 19 pairs, tested" in note for note in notes)
    for format in ("text", "markdown"):
        assert "where scenario:task flow=dental" in printed(table, format)
    whole = compared(store)
    assert whole.extras["a"]["n"] == 44
    assert " where " not in whole.title


def test_judges_are_chosen_by_name(store: Store) -> None:
    assert [row.display["aspect"] for row in compared(store, "judge=codex aspect=humanness").rows] == ["hum:codex"]
    assert not [row for row in compared(store, "judge=nobody").rows if row.record["judge"]]


def test_what_failures_count_is_of_the_flow_that_is_looked_at(store: Store) -> None:
    table = compared(store, "flow=weather", view="failures")
    assert table.lead == (
        "Neither side solves more beyond chance: B 100%, A 100% of 20 pairs (p 1.000)."
        " Only A solved 0, only B 0; both 20, neither 0."
    )
    assert table.extras["a"]["n"] == 20
    assert table.lead == compared(store, "flow=weather").lead


def test_failures_are_three_lists_that_lead_to_the_calls(store: Store) -> None:
    table = compared(store, view="failures")
    assert [(section.title, len(section.row_ids)) for section in table.sections] == [
        ("Only A failed", 1),
        ("Only B failed", 11),
        ("Both failed", 1),
    ]
    assert table.lead == (
        "A solves more: 95% against 69% of 39 pairs, beyond chance (p 0.006)."
        " Only A solved 11, only B 1; both 26, neither 1."
    )
    assert (table.extras["passed"], table.extras["alone_a"], table.extras["alone_b"]) == (26, 1, 1)
    for row in table.rows:
        shown = show(store, "conversation", Request(where=row.where)).extras["call"]
        side = "a" if row.record["side"] == "a" else "b"
        assert shown["conversation"] == row.record[f"conversation_{side}"]
    assert len(compared(store, "side=b", "failures").rows) == 11


def test_lists_of_failures_are_cut_and_ordered_each_by_itself(store: Store) -> None:
    table = show(store, "failures", Request(sides=SIDES, sort="-scenario", limit=2))
    assert [row.record["conversation_b"] for row in table.rows] == [
        "night-2-dental-14", "night-2-dental-13", "night-2-dental-12", "night-2-dental-11",
    ]  # fmt: skip
    text = printed(table, "text")
    assert text.index("dental-12") < text.index("dental-11") < text.index("dental-13")


@pytest.mark.parametrize("format", sorted(form.value for form in FORMATS))
@pytest.mark.parametrize("options", [[], ["--failures"]])
def test_every_form_goes_to_stdout_and_into_a_file(
    location: Path, tmp_path: Path, capsys: Captured, format: str, options: list[str]
) -> None:
    command = ["compare", *SIDES, *options, "--store", str(location), "--format", format]
    assert run(command) == ExitCode.OK
    out = capsys.readouterr().out
    assert run([*command, "-o", str(tmp_path / "out")]) == ExitCode.OK
    assert (tmp_path / "out").read_bytes().decode("utf-8").replace("\r\n", "\n") == out.replace("\r\n", "\n")


def test_the_command_of_a_table_prints_that_table(location: Path, store: Store, capsys: Captured) -> None:
    for view, where in (("compare", ""), ("compare", "flow=dental verdict!=noise"), ("failures", "side=both")):
        request = Request(where=where, sort="-flow", limit=3, sides=SIDES, store=str(location))
        table = show(store, view, request)
        program, *arguments = shlex.split(table.dump)
        assert program == "riff-tui"
        assert run(arguments) == ExitCode.OK
        assert capsys.readouterr().out == printed(table, "text")


def test_in_ascii_no_sign_of_ours_is_an_escape(store: Store) -> None:
    for view in ("compare", "failures"):
        assert "\\u" not in printed(compared(store, view=view), "text", ascii_only=True)


def test_csv_has_a_column_for_each_key(location: Path, capsys: Captured) -> None:
    assert run(["compare", *SIDES, "--store", str(location), "--format", "csv"]) == ExitCode.OK
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0]["verdict"] == "worse"
    assert {"effect", "p", "p_adjusted", "pairs", "only_a", "unit"} <= rows[0].keys()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["night-1", "night-1"], "both sides are the run night-1"),
        (["night-1", "nihgt-2"], "there is no run nihgt-2; did you mean night-2"),
        (["night", "night-2"], "several runs begin with night: night-2, night-1"),
        (["previous", "latest", "--where", "flow=nothing"], "flow=nothing: no flow of that name"),
        (["night-1", "agent:gemini"], "compare two runs or two agents"),
        (["agent:gemini", "agent:qwen"], "there is no agent qwen; the only one is gemini"),
        (["night-1", "night-2", "--where", "stall>0.5 | verdict=worse"], "cannot tie them together"),
        (["night-1", "night-2", "--sort", "speed"], "there is no column speed"),
        (["night-1", "night-2", "--format", "dot"], "there is no graph in compare"),
        (["night-1"], "Missing argument 'B'"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(
    location: Path, capsys: Captured, arguments: list[str], said: str
) -> None:
    assert run(["compare", *arguments, "--store", str(location)]) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


@pytest.mark.parametrize(("view", "command"), [("compare", "compare A B,"), ("failures", "compare A B --failures,")])
def test_a_dump_without_sides_points_to_the_command(location: Path, capsys: Captured, view: str, command: str) -> None:
    assert run(["dump", view, "--store", str(location)]) == ExitCode.USAGE
    assert f"riff-tui {command}" in capsys.readouterr().err


def test_an_empty_store_says_how_to_fill_it(tmp_path: Path, capsys: Captured) -> None:
    fresh(tmp_path / "empty.db").close()
    assert run(["compare", "previous", "latest", "--store", str(tmp_path / "empty.db")]) == ExitCode.USAGE
    assert "riff-tui ingest" in capsys.readouterr().err


def test_runs_without_a_common_flow_are_told_apart(tmp_path: Path) -> None:
    with fresh(tmp_path / "s.db") as store:
        put(store, "calls.jsonl", [call("1", run="x", flow="f"), call("2", run="y", flow="g")])
        table = show(store, "compare", Request(sides=("x", "y")))
    text = printed(table, "text")
    assert "No flow has calls of both sides that count" in text
    assert "Called by A alone, so not compared: f 1." in text


def test_one_pair_is_no_pairs_and_an_end_that_nobody_knows_is_no_dot(tmp_path: Path) -> None:
    failed = {"correctness": 0.0, "completion": 0.0}
    with fresh(tmp_path / "s.db") as store:
        put(store, "calls.jsonl", [
            call("1", run="x", flow="f", scenario="task", stop_reason="hangup", final_state=None, aspects=failed),
            call("2", run="y", flow="f", scenario="task", stop_reason=None, final_state=None, aspects=failed),
        ])  # fmt: skip
        compare, failures = (show(store, view, Request(sides=("x", "y"))) for view in ("compare", "failures"))
    assert any("trial and agent: 1 pair, tested" in note for note in compare.notes)
    assert "A 1 hangup · B 2 ·\n" in printed(failures, "text")


def test_the_way_down_keeps_what_the_filter_says_of_calls(store: Store) -> None:
    def drill(where: str) -> list[str]:
        (said,) = [note for note in compared(store, where).notes if note.startswith("Drill: ")]
        return shlex.split(said)[2:]

    failures = ["compare", *SIDES, "--failures"]
    assert drill("") == drill("verdict=worse judge=codex") == failures
    assert drill("verdict=worse flow=dental persona=· p<0.5") == [*failures, "--where", "flow=dental persona=·"]
    assert drill("scenario:task-1") == [*failures, "--where", "scenario:task-1"]


def test_latest_and_previous_are_runs_in_time(store: Store) -> None:
    assert show(store, "compare", Request(sides=("previous", "latest"))).title == compared(store).title


def test_latest_and_previous_are_the_last_runs_of_the_scope(tmp_path: Path, capsys: Captured) -> None:
    runs = {"mon": "ab", "tue": "a", "wed": "ab", "thu": "a"}
    with fresh(tmp_path / "s.db") as store:
        put(store, "calls.jsonl", [
            call(f"{run}-{flow}", run=run, flow=flow, scenario="task", started_at=day * 86_400_000_000)
            for day, (run, flows) in enumerate(runs.items(), 1) for flow in flows
        ])  # fmt: skip
        sides = ("previous", "latest")
        for where, names in (("", ("wed", "thu")), ("flow=b", ("mon", "wed")), ("flow=a run!=thu", ("tue", "wed"))):
            for view in ("compare", "failures"):
                table = show(store, view, Request(where=where, sides=sides))
                assert (table.extras["a"]["name"], table.extras["b"]["name"]) == names, (where, view)
        (drill,) = [n for n in show(store, "compare", Request(where="flow=b", sides=sides)).notes if "Drill: " in n]
        assert drill == "Drill: riff-tui compare mon wed --failures --where 'flow=b'"
    compare = ["compare", *sides, "--store", str(tmp_path / "s.db"), "--where"]
    assert run([*compare, "run=tue"]) == ExitCode.USAGE
    assert "the filter leaves calls of one run alone, tue; use a filter that keeps more" in capsys.readouterr().err
    assert run([*compare, "flow=z"]) == ExitCode.USAGE
    assert "the filter leaves no call of any run" in capsys.readouterr().err


def test_what_is_newly_broken_and_mended_between_runs_comes_first(tmp_path: Path) -> None:
    with fresh(tmp_path / "s.db") as store:
        put(store, "calls.jsonl", [
            call(f"{run}-{flow}-{task}", run=run, flow=flow, agent=run, scenario=str(task), aspects={
                "correctness": 10.0 * (flow == "steady" or (flow == "fell") == (run == "one")),
                "latency_p95": 1.0 + (run == "two") * (flow == "steady"),
            })
            for run in ("one", "two") for flow in ("fell", "rose", "steady") for task in range(20)
        ])  # fmt: skip
        runs = show(store, "compare", Request(sides=("one", "two")))
        agents = show(store, "compare", Request(sides=("agent:one", "agent:two")))
    first = [(row.record["flow"], row.record["newly"], row.display["verdict"]) for row in runs.rows[:2]]
    assert first == [("fell", "broken", "newly failing"), ("rose", "mended", "newly passing")]
    assert {row.record["newly"] for row in runs.rows[2:]} == {None}
    assert runs.rows[2].record["verdict"] == "worse"
    assert runs.notes[0] == "Newly failing: fell. Newly passing: rose."
    assert {row.record["newly"] for row in agents.rows} == {None}
    assert agents.notes[0].startswith("B is, in")


@pytest.mark.parametrize("name", [name for name in HOSTILE.values() if name.strip()])
def test_no_name_acts_or_is_lost(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with fresh(tmp_path / "s.db") as store:
        calls = [
            call(f"{side} {number} {name}", run=f"{name}{side}", flow=name, agent=name, scenario=f"{name} {number}",
                 final_state=name, stop_reason=name, aspects={"correctness": 10.0 * (number % 2)}, line=number)
            for side in ("", " again") for number in range(4)
        ]  # fmt: skip
        put(store, "calls.jsonl", calls)
        kept, again = (row[0] for row in store.execute_sql("SELECT name FROM run ORDER BY length(name)"))
        sides = (f"run:{kept}" if kept.startswith("agent:") else kept, again)
        for view in ("compare", "failures"):
            table = show(store, view, Request(sides=sides))
            assert table.rows
            for format in FORMATS:
                assert not LIVE.search(printed(table, format).replace("\r\n", "\n"))
            for row in table.rows if view == "failures" else ():
                assert len(show(store, "conversations", Request(where=row.where)).rows) == 1
        arguments = shlex.split(dump_command("compare", Request(where="p<1", sides=sides)))[1:]
    if "\0" not in name and not any("\ud800" <= character <= "\udfff" for character in name):
        monkeypatch.setenv("RIFF_TUI_STORE", str(tmp_path / "s.db"))
        assert run(arguments) == ExitCode.OK, arguments
        assert not LIVE.search(capsys.readouterr().out)
