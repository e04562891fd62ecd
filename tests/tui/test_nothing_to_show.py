"""Where there is nothing to show, a view says why and what to do next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.surface.ingest import ingest
from tests.surface.store import Writer, open_store
from tests.surface.tui import EMPTY_STORE, NO_CALL, NO_JUDGES, NO_REPEATS, NO_STATES, NONE_HERE, Request, Table, show

BROKEN: dict[str, Any] = {
    "conversation_id": "c-1",
    "flow": "viewing",
    "agent_model": "gemini",
    "errored": True,
    "events": [{"type": "state_entered", "state": "greet", "t": 0}],
}


def shown(folder: Path, view: str, calls: Sequence[dict[str, Any]], **asked: Any) -> Table:
    lines = folder / "flow-transcripts-few.jsonl"
    lines.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    with open_store(folder / "few.db", write=True, create=True) as store:
        ingest([lines], Writer(store))
        return show(store, view, Request(**asked))


@pytest.mark.parametrize(
    "view",
    [
        "flows",
        "segments",
        "states",
        "funnel",
        "routes",
        "coverage",
        "conversations",
        "runs",
        "judges",
        "archetypes",
        "timeline",
        "flow-table",
        "effects",
    ],
)
def test_an_empty_store_is_said_to_be_one(view: str, tmp_path: Path) -> None:
    assert list(shown(tmp_path, view, []).notes)[-1] == EMPTY_STORE


def test_the_worklist_of_an_empty_store_says_so_first(tmp_path: Path) -> None:
    table = shown(tmp_path, "worklist", [])
    assert (table.lead, list(table.notes)) == ("No calls yet.", [EMPTY_STORE])


@pytest.mark.parametrize("view", ["flows", "segments", "states", "funnel", "routes", "coverage", "runs"])
def test_a_filter_is_not_blamed_for_an_empty_store(view: str, tmp_path: Path) -> None:
    notes = list(shown(tmp_path, view, [], where="flow=viewing").notes)
    assert notes[0] == "flow=viewing: no flow of that name."
    assert notes[-1] == EMPTY_STORE


def test_where_nothing_was_skipped_that_is_said(tmp_path: Path) -> None:
    assert list(shown(tmp_path, "skipped", [WELL]).notes) == ["No input was skipped."]


@pytest.mark.parametrize("view", ["segments", "states", "funnel", "routes", "coverage"])
@pytest.mark.parametrize("asked", [{}, {"by": ("agent",)}, {"where": "flow=viewing"}, {"limit": 1}])
def test_where_every_call_was_errored_the_calls_are_counted(view: str, asked: dict[str, Any], tmp_path: Path) -> None:
    table = shown(tmp_path, view, [BROKEN, {**BROKEN, "conversation_id": "c-2"}], **asked)
    assert not table.rows
    assert "Excluded: 2 errored calls are not counted in averages." in table.notes
    assert EMPTY_STORE not in table.notes
    assert NO_STATES in table.notes


def test_errored_calls_of_a_family_without_a_name_are_counted_all_the_same(tmp_path: Path) -> None:
    notes = shown(tmp_path, "archetypes", [BROKEN]).notes
    assert "Excluded: 1 errored call is not counted in averages (· 1)." in notes


WELL: dict[str, Any] = {**BROKEN, "errored": False, "completed": True, "stop_reason": "terminal"}


def test_judges_of_a_store_without_any_are_no_empty_store(tmp_path: Path) -> None:
    assert shown(tmp_path, "judges", [WELL]).notes == [NO_JUDGES]


@pytest.mark.parametrize("view", ["effects", "disputes"])
def test_a_filter_that_leaves_nothing_is_what_is_blamed(view: str, tmp_path: Path) -> None:
    notes = shown(tmp_path, view, [WELL], where="flow=nothing").notes
    assert list(notes) == ["flow=nothing: no flow of that name.", NO_CALL if view == "effects" else NONE_HERE]


def test_where_quality_takes_what_is_not_measured_another_aspect_is_named(tmp_path: Path) -> None:
    table = shown(tmp_path, "effects", [WELL])
    assert list(table.notes) == [
        "Not measured: 1 call has no quality, which takes correctness; --aspect completion or another explains these."
    ]


def test_calls_that_cannot_be_told_to_pass_do_not_repeat(tmp_path: Path) -> None:
    twice = [{**WELL, "scenario": "s"}, {**WELL, "conversation_id": "c-2", "scenario": "s"}]
    assert shown(tmp_path, "repeats", twice).notes[0] == NO_REPEATS
