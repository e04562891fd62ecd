"""A dump goes where it is sent, in the form that was asked for, with nobody's words in what is posted."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.support import hostile_store
from tests.support.commands import riff_tui
from tests.surface.tui import LIMITS, ExitCode, Format, run, views

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("form", [form.value for form in Format if form.is_graph])
def test_only_a_graph_is_printed_as_one(tiny: Path, tmp_path: Path, capsys: Captured, form: str) -> None:
    around = ["dump", "neighbors", "--where", "flow=viewing state=confirm", "--store", str(tiny)]
    assert run([*around, "--format", form]) == ExitCode.OK
    assert "confirm" in capsys.readouterr().out
    path = tmp_path / {"dot": "around.gv", "mermaid": "around.mmd"}[form]
    assert run([*around, "-o", str(path)]) == ExitCode.OK
    assert run([*around, "-o", str(path), "--format", form]) == ExitCode.OK
    assert path.read_text(encoding="utf-8").startswith({"dot": "digraph", "mermaid": "flowchart"}[form])
    assert run(["dump", "conversation", "--where", "c-0000", "--store", str(tiny), "--format", form]) == ExitCode.USAGE
    assert capsys.readouterr() == (
        "",
        f"riff-tui: error: --format {form}: there is no graph in conversation; "
        "it has text, markdown, json, jsonl, csv, svg\n",
    )


def test_a_picture_holds_no_words_of_callers_unless_asked(tiny: Path, capsys: Captured) -> None:
    def dumped(*options: str) -> str:
        arguments = ["dump", "conversation", "--where", "c-0000", "--store", str(tiny), "--format", "svg"]
        assert run([*arguments, *options]) == ExitCode.OK
        return capsys.readouterr().out

    assert "Tuesday" not in dumped()
    assert "Tuesday" in dumped("--text")
    assert "ann@example.com" not in dumped("--text")
    assert "ann@example.com" in dumped("--text", "--no-redact")


def test_a_dump_goes_into_a_file_in_the_form_that_its_name_asks_for(
    tiny: Path, tmp_path: Path, capsys: Captured
) -> None:
    for name in ("out.md", "out.csv", "out.json", "out.jsonl", "out.svg", "out.txt"):
        assert run(["dump", "flows", "--store", str(tiny), "-o", str(tmp_path / name)]) == ExitCode.OK
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "out.md").read_text(encoding="utf-8").startswith("# Evaluation matrix")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith("flow,agent,operability")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["view"] == "flows"
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 3
    assert (tmp_path / "out.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").startswith("Evaluation matrix")


def test_a_name_that_ends_like_another_form_is_remarked_on(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    flows = ["dump", "flows", "--store", str(tiny)]
    assert run([*flows, "--format", "svg", "-o", str(tmp_path / "x.md")]) == ExitCode.OK
    assert "x.md: ends like a file of markdown, and svg is written into it" in capsys.readouterr().err
    for name in ("x.svg", "x.txt", "x", "x.picture"):
        assert run([*flows, "--format", "svg", "-o", str(tmp_path / name)]) == ExitCode.OK
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("by", ["", "persona,", ",persona", "persona,,run"])
def test_rows_are_not_split_by_nothing(tiny: Path, capsys: Captured, by: str) -> None:
    assert run(["dump", "flows", "--store", str(tiny), "--by", by]) == ExitCode.USAGE
    assert "--by: rows cannot be split by ''; by one of flow, agent" in capsys.readouterr().err


def test_the_form_that_is_asked_for_wins_over_the_name(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.md"
    assert run(["dump", "flows", "--store", str(tiny), "--format", "json", "-o", str(path)]) == ExitCode.OK
    assert json.loads(path.read_text(encoding="utf-8"))["view"] == "flows"


def test_markdown_holds_no_words_of_callers_unless_asked_and_then_redacts_them(tiny: Path, capsys: Captured) -> None:
    def dumped(*options: str) -> str:
        assert run(["dump", "conversation", "--where", "c-0000", "--store", str(tiny), *options]) == ExitCode.OK
        return capsys.readouterr().out

    assert "Tuesday" not in dumped("--format", "markdown")
    assert "ann@example.com" not in dumped("--format", "markdown", "--text")
    assert "[email 1]" in dumped("--format", "markdown", "--text").replace("\\", "")
    assert LIMITS in dumped("--format", "markdown", "--text")
    assert "ann@" in dumped("--format", "markdown", "--text", "--no-redact").replace("&#8203;", "")
    assert "ann@example.com" in dumped("--format", "json")
    assert "ann@example.com" not in dumped("--format", "json", "--redact")


def test_sorting_downwards_and_several_keys_can_be_typed(tiny: Path, capsys: Captured) -> None:
    arguments = ["dump", "flows", "--store", str(tiny), "--sort", "-n", "--by", "run,persona", "--by", "agent"]
    assert run([*arguments, "--limit", "1", "--format", "json"]) == ExitCode.OK
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert {"run", "persona", "agent"} <= set(row)


def test_ascii_reaches_the_data_formats_only_when_asked_for(tiny: Path, capsys: Captured) -> None:
    around = ["--where", "flow=viewing state=collect_details"]
    for form in (form for form in Format if not form.is_of_one_view):
        arguments = ["dump", "neighbors", *around, "--store", str(tiny), "--format", form.value, "--ascii"]
        assert run(arguments) == ExitCode.OK
        assert capsys.readouterr().out.isascii()


@pytest.mark.parametrize(
    "words", [["dump", "worklist"], ["compare", "agent:sim-swift", "agent:sim-steady", "--failures"]], ids=" ".join
)
def test_the_command_that_leads_further_down_asks_the_same_store(
    words: list[str], demo: Path, capsys: Captured
) -> None:
    assert run([*words, "--where", "flow=dog_grooming persona=hurried", "--store", str(demo)]) == ExitCode.OK
    [drill] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Drill: riff-tui ")]
    assert run(shlex.split(drill)[2:]) == ExitCode.OK
    assert f" --store '{demo}'" in drill
    if "worklist" in words:
        assert "--where 'flow=dog_grooming persona=hurried'" in drill


def test_a_dump_without_text_holds_nothing_that_was_said(tmp_path: Path) -> None:
    said = "do what I say"
    store = hostile_store.build_wordy(tmp_path, said)
    named = {"neighbors": "flow=viewing state=greet", "conversation": "conversation=c-2-3"}
    for view in (spec.name for spec in views() if spec.listed and not spec.sides):
        for form in ("text", "json", "csv", "markdown"):
            where = named.get(view, "")
            found = riff_tui("dump", view, "--no-text", "--where", where, "--format", form, "--store", store)
            assert (found.returncode, said in found.stdout) == (0, False), (view, form)
    assert said in riff_tui("dump", "causes", "--store", store).stdout


def test_moments_around_what_is_blamed_are_shown_alone(demo: Path) -> None:
    call = ("dump", "conversation", "--where", "c-001933", "--format", "json", "--store", demo)
    whole, near = (json.loads(riff_tui(*call, *more).stdout) for more in ((), ("--around", "2")))
    at, place = (found["blame"]["moment"]["row"] for found in (whole, near))
    assert near["rows"] == whole["rows"][at - 2 : at + 3]
    assert near["rows"][place] == whole["rows"][at]
    assert (near["total"], near["hidden"]) == (len(whole["rows"]), len(whole["rows"]) - len(near["rows"]))
    assert [turn["t"] for turn in near["turns"]] == [row["t"] for row in near["rows"] if row["kind"] == "turn"]
    assert riff_tui("dump", "flows", "--around", "2", "--store", demo).returncode == 2
