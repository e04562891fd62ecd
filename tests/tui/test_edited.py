"""A store that knows the edits of its flows: what each view, each form and each row says of them."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.edited_store import MADE, edits, microseconds, record
from tests.support.facts import call, fresh, put
from tests.support.golden import assert_golden, printed
from tests.support.hostile import HOSTILE
from tests.surface.store import FlowEdit, Store, open_store
from tests.surface.tui import FORMATS, NO_EDITS, NO_PROOF, NO_RUNS, TOGETHER, ExitCode, Request, run, show

Captured = pytest.CaptureFixture[str]
LIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def path(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(Path(shutil.copy(tiny, tmp_path_factory.mktemp("edited") / "edited.db")), edits())


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened


@pytest.mark.parametrize("view", ["edits", "timeline"])
@pytest.mark.parametrize(("format", "suffix"), [("markdown", "md"), ("json", "json"), ("text", "txt"), ("csv", "csv")])
def test_dumps_are_what_they_were(store: Store, view: str, format: str, suffix: str) -> None:
    name = "edits" if view == "edits" else f"{view}-with-edits"
    assert_golden(printed(show(store, view, Request()), format), f"dumps/{name}.{suffix}")


def test_rows_have_the_keys_of_the_data_interface(store: Store) -> None:
    first = show(store, "edits", Request()).rows[0].record
    assert {
        "flow",
        "commit",
        "time",
        "author",
        "subject",
        "next_run",
        "quality_before",
        "quality_after",
    } <= first.keys()
    run_edit = show(store, "timeline", Request()).rows[0].record["edit"]
    assert run_edit.keys() == {"flow", "commit", "time", "author", "subject", "basis"}
    cell = show(store, "flows", Request()).rows[0].record["last_edit"]
    assert cell.keys() == run_edit.keys()


def test_the_edit_that_moved_the_score_is_found(store: Store) -> None:
    table = show(store, "edits", Request(where="flow=viewing subject:confirm"))
    (row,) = table.rows
    assert (row.record["previous_run"], row.record["next_run"], row.record["together"]) == ("run-1", "run-2", 2)
    assert row.record["change"] is None, "no agent led the flow in both runs"
    assert TOGETHER in table.notes
    assert NO_PROOF in table.notes
    assert row.where == "flow=viewing run=run-2"
    below = show(store, "flows", Request(where=row.where))
    assert [cell.record["flow"] for cell in below.rows] == ["viewing"]


def test_an_edit_counts_for_a_run_that_starts_with_it_and_not_for_one_that_goes_on(store: Store) -> None:
    shown = {row.record["subject"]: row.record for row in show(store, "edits", Request(where="flow=weather")).rows}
    first, second = shown["Say where the forecast comes from"], shown["Made while the run went on"]
    assert (first["next_run"], first["runs"]) == ("run-1", 1)
    assert (second["previous_run"], second["next_run"], second["runs"]) == ("run-1", "run-2", 1)
    assert second["quality_before"] == second["quality_after"] == first["quality_after"]
    assert second["change"] == 0


def test_edits_are_filtered_sorted_and_counted_as_rows_are(store: Store) -> None:
    assert len(show(store, "edits", Request(where="author:grace")).rows) == 2
    assert show(store, "edits", Request(where="author:grace")).counts.hidden == len(MADE) - 2
    assert len(show(store, "edits", Request(where="time>2026-06-22")).rows) == 1
    assert len(show(store, "edits", Request(where="change=·")).rows) < len(MADE)
    assert show(store, "edits", Request(sort="time", limit=1)).rows[0].record["subject"] == "Write the flow down"
    narrowed = show(store, "edits", Request(where="agent=gemini flow=viewing")).rows
    assert [row.record["next_run"] for row in narrowed] == [None, None, None, "run-1"]


def test_without_edits_the_view_says_how_to_get_them_and_others_say_nothing(tiny: Path) -> None:
    with open_store(tiny) as store:
        table = show(store, "edits", Request())
        assert (list(table.rows), list(table.notes)) == ([], [NO_EDITS])
        assert show(store, "timeline", Request()).column("edit") is None
        assert show(store, "flows", Request()).column("last_edit") is None


def test_a_filter_is_not_taken_for_the_reason_that_there_are_no_edits(tiny: Path, store: Store) -> None:
    with open_store(tiny) as without:
        assert show(without, "edits", Request(where="agent:qwen")).notes == [NO_EDITS]
    assert NO_EDITS not in show(store, "edits", Request(where="agent:nobody")).notes


def test_the_last_edit_of_a_flow_is_hidden_until_it_is_chosen(store: Store) -> None:
    table = show(store, "flows", Request())
    column = table.column("last_edit")
    assert column is not None
    assert not column.shown
    assert {row.record["flow"]: row.display["last_edit"] for row in table.rows} == {
        "viewing": "2026-06-21 0303030? Confirm the date",
        "weather": "2026-06-21 0606060? Made while the run went on",
    }


def test_a_run_shows_which_flow_was_edited_last_before_it(store: Store) -> None:
    assert [row.display["edit"] for row in show(store, "timeline", Request()).rows] == [
        "2026-06-21 0505050? weather: Say where the forecast comes f…",
        "2026-06-21 0303030? viewing: Confirm the date",
    ]


def test_the_timeline_has_the_success_of_the_runs_up_to_each(store: Store) -> None:
    rows = [row.record for row in show(store, "timeline", Request()).rows]
    values = [row["success_rate"] for row in rows]
    assert [row["trend"] for row in rows] == [values[:1], values]


def test_the_export_joins_each_score_with_the_last_edit_before_its_run(path: Path, capsys: Captured) -> None:
    assert run(["export", "--store", str(path)]) == ExitCode.OK
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert run(["dump", "runs", "--format", "json", "--store", str(path)]) == ExitCode.OK
    begun = {row["run"]: row["started_at"] for row in json.loads(capsys.readouterr().out)["rows"]}
    for row in rows:
        known = [edit for edit in edits() if edit.flow == row["flow"] and edit.time <= microseconds(begun[row["run"]])]
        last = max(known, key=lambda edit: edit.time, default=None)
        assert (row["edit_commit"], row["edit_author"], row["edit_subject"]) == (
            (last.commit, last.author, last.subject) if last else ("", "", "")
        )
        assert row["edit_basis"] == ("time" if last else "")
        assert (microseconds(row["edit_time"]) if row["edit_time"] else None) == (last.time if last else None)
    assert {row["edit_commit"][:2] for row in rows} == {"01", "03", "05", "06"}


@pytest.fixture(scope="module")
def hostile(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = [
        FlowEdit(flow, text, microseconds("2026-06-02T00:00:00Z") + number, text, text, text)
        for number, text in enumerate(HOSTILE.values())
        for flow in ("viewing", text)
    ]
    return record(Path(shutil.copy(tiny, tmp_path_factory.mktemp("hostile") / "hostile.db")), found)


@pytest.mark.parametrize("format", sorted(FORMATS))
@pytest.mark.parametrize("view", ["edits", "timeline", "flows"])
def test_no_author_and_no_subject_acts(hostile: Path, view: str, format: str) -> None:
    with open_store(hostile) as store:
        text = printed(show(store, view, Request()), format)
    assert not LIVE.search(text.replace("\r\n", "\n"))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_no_author_acts_in_an_export(hostile: Path, form: str, capsys: Captured) -> None:
    assert run(["export", "--store", str(hostile), "--format", form, "--where", "flow=viewing"]) == ExitCode.OK
    text = capsys.readouterr().out
    assert not LIVE.search(text)
    assert not re.search(r"(^|,)[=+@]", text, re.MULTILINE)


def test_edits_without_any_run_in_time_say_why_nothing_stands_beside_them(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1", flow="viewing", started_at=None)])
    with open_store(record(tmp_path / "calls.db", edits())) as store:
        table = show(store, "edits", Request())
        assert {row.record["next_run"] for row in table.rows} == {None}
        assert NO_RUNS in table.notes


def test_edits_beside_a_run_need_no_such_word(store: Store) -> None:
    assert NO_RUNS not in show(store, "edits", Request()).notes
